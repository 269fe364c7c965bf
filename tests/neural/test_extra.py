"""Without the extra: what is there, and the line that installs the rest."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import evenrank.neural
from evenrank import MissingExtraError
from evenrank.cli import main


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing of the extra were installed."""
    usual = importlib.util.find_spec
    hidden = {"torch", "transformers", "safetensors"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in hidden else usual(name))


@pytest.mark.usefixtures("bare")
def test_a_missing_extra_names_the_pip_line(tmp_path: Path, capfd: Any) -> None:
    with pytest.raises(MissingExtraError, match=r"evenrank\.neural\.train .*pip install '\.\[train\]'"):
        _ = evenrank.neural.train
    assert main(["debias", "train", "--set", "examples.triples=t.tsv", "-o", str(tmp_path / "x")]) == 1
    assert "pip install '.[train]'" in capfd.readouterr().err
    texts = ["--queries", "q.tsv", "--documents", "d.tsv"]
    assert main(["rerank", "r.trec", "--with", str(tmp_path), *texts]) == 1
    assert "pip install" in capfd.readouterr().err


@pytest.mark.usefixtures("bare")
def test_what_needs_no_extra() -> None:
    assert evenrank.neural.make_config({"examples": {"triples": "t.tsv"}}).examples.triples == "t.tsv"
    assert main(["debias", "keys"]) == 0


@pytest.mark.needs("torch", "transformers")
def test_every_name_is_there_and_no_other() -> None:
    assert all(callable(getattr(evenrank.neural, name)) for name in evenrank.neural.__all__)
    with pytest.raises(AttributeError, match="'nonsense'"):
        getattr(evenrank.neural, "nonsense")  # noqa: B009
