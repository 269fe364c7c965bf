"""Notes are grouped over runs and measures, and few unless somebody asks for all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evenrank import Scores, parse_measure
from evenrank.scores import ScoresBlock
from evenrank.scores.notes import grouped_notes


def scores_of(notes: dict[str, tuple[str, ...]], *measures: str) -> Scores:
    values, status = np.full((6, 1), 0.5), np.zeros((6, 1), np.int16)
    queries = tuple(f"q{place}" for place in range(6))
    return Scores(
        tuple(
            ScoresBlock(run, parse_measure(measure), queries, ("",), values, status)
            for run in notes
            for measure in measures or ("RR",)
        ),
        notes,
    )


def test_the_same_note_is_one_line_whatever_it_is_about() -> None:
    own = ("RR: ties", "AP: ties", "3 queries are missing")
    scores = scores_of({"a": own, "b": (*own, "no titles")}, "RR", "AP")
    assert grouped_notes(scores) == [
        "all runs: RR, AP: ties",
        "all runs: 3 queries are missing",
        "b: no titles",
    ]
    assert grouped_notes(scores_of({"a": ("x",)})) == ["a: x"]


def test_five_lines_and_how_many_more() -> None:
    scores = scores_of({"a": tuple(f"note {'x' * n}" for n in range(8)), "b": ()})
    lines = grouped_notes(scores)
    assert len(lines) == 6
    assert lines[-1] == "3 more notes: --notes"
    assert len(grouped_notes(scores, None)) == 8
    assert grouped_notes(scores, 7)[-1] == "1 more note: --notes"
    assert "3 more notes: see notes" in repr(scores)


def test_notes_that_differ_in_numbers_alone_are_one_line() -> None:
    notes = {f"run{n}": (f"{n + 2} of 1,00{n} documents have no words: left out",) for n in range(4)}
    scores = scores_of(notes)
    assert grouped_notes(scores) == [
        "run0: 2 of 1,000 documents have no words: left out (likewise, with other numbers, for 3 other runs)",
        "3 more notes: --notes",
    ]
    assert len(grouped_notes(scores, None)) == 4


def test_files_have_all_notes(tmp_path: Path) -> None:
    scores = scores_of({"a": tuple(f"note {'x' * n}." for n in range(8)), "b": ()})
    for suffix in ("md", "tex", "jsonl"):
        scores.write(tmp_path / f"s.{suffix}")
        text = (tmp_path / f"s.{suffix}").read_text()
        assert all(f"note {'x' * n}." in text for n in range(8))
