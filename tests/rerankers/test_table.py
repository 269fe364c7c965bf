"""The page with fairness and utility before and after every re-ranker says what the code gives."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evenrank.rerankers import all_rerankers

DOCS = Path(__file__).resolve().parents[2] / "docs"
VECTORS = {"VectorMMR"}  # an encoder makes them, and another one would give another table
WORDS = {"Neutral", "Penalty"}  # the passages of Touche have no texts here
STALE = "run python docs/build_reranker_table.py"

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::evenrank.errors.EvenrankWarning")]


@pytest.fixture(scope="module")
def builder() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "build_reranker_table.py"))


@pytest.fixture
def shown(builder: dict[str, Any]) -> list[list[str]]:
    found: list[list[str]] = builder["tables"](builder["PAGE"].read_text(encoding="utf-8"))
    return found


def methods(lines: Sequence[str]) -> set[str]:
    return {line.split("|")[1].strip().partition("(")[0] for line in lines[3:]}


def certain(lines: Sequence[str]) -> list[str]:
    """Without FOE: its programme has several best mixtures, and the machine decides which one is found."""
    return [line for line in lines if not line.startswith("| FOE(")]


def test_on_the_sample(builder: dict[str, Any], shown: list[list[str]]) -> None:
    assert certain(shown[0]) == certain(builder["rows_of"](builder["on_the_sample"]())), STALE
    assert methods(shown[0]) == set(all_rerankers()) - VECTORS


def test_on_touche(builder: dict[str, Any], shown: list[list[str]], shared: Path, tmp_path: Path) -> None:
    made = builder["rows_of"](builder["on_touche"](shared / "data/touche22_task2", tmp_path))
    assert certain(shown[1]) == certain(made), STALE
    assert methods(shown[1]) == set(all_rerankers()) - VECTORS - WORDS
