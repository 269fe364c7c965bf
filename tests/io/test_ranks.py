"""Ranks and scores that contradict each other: the scores decide, and it is said in how many places."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import evenrank as er
from evenrank.errors import EvenrankWarning

# by rank a b c and d e; by score b a c and e d
LINES = ["q Q0 a 1 0.5 t", "q Q0 b 2 0.9 t", "q Q0 c 3 0.1 t", "r Q0 d 1 1 t", "r Q0 e 2 2 t"]


@pytest.mark.parametrize("between", ["", "# a comment, so that the careful reader reads it\n"])
def test_a_trec_file(tmp_path: Path, between: str) -> None:
    path = tmp_path / "run.trec"
    path.write_text(between + "\n".join(LINES) + "\n", encoding="utf-8")
    with pytest.warns(EvenrankWarning, match="2 places"):
        run = er.read_run(path)
    assert (run.documents("q"), run.documents("r")) == (["b", "a", "c"], ["e", "d"])


def test_a_table(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    rows = [line.split() for line in LINES]
    path.write_text(
        "query,document,rank,score\n" + "\n".join(f"{q},{d},{r},{s}" for q, _, d, r, s, _ in rows) + "\n"
    )
    with pytest.warns(EvenrankWarning, match="2 places"):
        run = er.read_run(path)
    assert run.documents("q") == ["b", "a", "c"]


@pytest.mark.parametrize(
    "lines",
    [
        ["q Q0 a 0 0.9 t", "q Q0 b 1 0.9 t", "q Q0 c 2 0.1 t"],  # equal scores, from 0
        ["q Q0 c 3 0.1 t", "q Q0 b 2 0.9 t", "q Q0 a 1 0.95 t"],  # the lowest first
        ["q Q0 a 1 0.9 t", "r Q0 b 2 1.9 t"],  # of other queries
        ["q Q0 a 1 0.9 t", "q Q0 b 1 1.9 t"],  # a rank that says nothing
    ],
)
@pytest.mark.parametrize("between", ["", "# comment\n"])
def test_what_does_not_contradict(tmp_path: Path, lines: list[str], between: str) -> None:
    path = tmp_path / "run.trec"
    path.write_text(between + "\n".join(lines) + "\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        er.read_run(path)
