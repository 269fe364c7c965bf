"""A measure with very many columns has a table that can be read."""

from __future__ import annotations

import numpy as np
import pytest

from evenrank import Lexicon, Run, Scores, evaluate, scan
from evenrank.measures import TermExposure
from evenrank.scores import ScoresBlock
from evenrank.scores.score_tables import ONE_MEANING, print_scores, query_table
from evenrank.stats.intervals import TOO_FEW

WORDS = [f"w{place:02d}" for place in range(40)]
LEFT_OUT = "the 20 largest columns; 5 smaller ones and 15 that are 0 are left out (tsv and jsonl have all)"


def scores_of(*runs: str) -> Scores:
    """25 of 40 columns have values, the largest last; the last query is undefined."""
    values = np.tile(np.maximum(np.arange(40.0) - 14, 0) / 100, (3, 1))
    values[2] = np.nan
    status = np.where(np.isnan(values), 2, 0).astype(np.int16)
    return Scores(
        tuple(
            ScoresBlock(
                run, TermExposure() @ 5, ("q1", "q2", "q3"), tuple(WORDS), values / (place + 1), status,
                ("ok", "infinite", "empty list"),
            )
            for place, run in enumerate(runs)
        )
    )  # fmt: skip


def test_the_largest_come_first_and_the_rest_is_counted() -> None:
    lines = scores_of("bm25").to_table().to_text(200).splitlines()
    assert [line.split()[0] for line in lines[1:21]] == [f"TermExposure@5[{word}]" for word in WORDS[:19:-1]]
    assert lines[21:] == [
        ONE_MEANING,
        "TermExposure@5: undefined for 1 of 3 queries: empty list (1)",
        f"TermExposure@5: {TOO_FEW}",
        f"TermExposure@5: {LEFT_OUT}",
    ]


@pytest.mark.parametrize("form", ["html", "markdown", "latex"])
def test_every_table_for_people(form: str) -> None:
    text = print_scores(scores_of("bm25", "dense"), form).replace("\\", "").replace("{", "").replace("}", "")
    assert text.count("w39") == 1
    assert "w19" not in text
    assert "5 smaller ones and 15 that are 0" in text


def test_per_query() -> None:
    lines = query_table(scores_of("bm25")).to_text(600).splitlines()
    assert lines[0].split() == ["query", *(f"TermExposure@5[{word}]" for word in WORDS[:19:-1])]
    assert lines[-1] == f"TermExposure@5: {LEFT_OUT}"
    assert len(lines) == 1 + 3 + 2


def test_rows_for_programs_have_all() -> None:
    scores = scores_of("bm25")
    assert len(print_scores(scores, "tsv").splitlines()) == 1 + 40
    assert len(print_scores(scores, "jsonl").splitlines()) == 40
    assert len(print_scores(scores, "tsv", per_query=True).splitlines()) == 1 + 3 * 40


def test_a_lexicon_in_a_table() -> None:
    lexicon = Lexicon.build("many", {"a": WORDS[:20], "b": WORDS[20:]})
    run = Run.build(["q", "q"], ["d", "e"], [2.0, 1.0], name="bm25")
    words = scan([("d", "w03 and w30"), ("e", "w30 too")], lexicon, terms=True)
    lines = repr(evaluate(run, "TermExposure@2", words=words)).splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["TermExposure@2[w30]", "TermExposure@2[w03]"]
    assert lines[5].startswith("TermExposure@2: the 2 largest columns; 38 that are 0 are left out")
