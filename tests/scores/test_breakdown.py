"""Scores by category of query: the same values, in other rows."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import made

import evenrank as er
from evenrank.errors import DataError, InputTypeError
from evenrank.stats.intervals import mean_interval

NAN = float("nan")
VALUES = [0.1, 0.2, 0.3, NAN, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 0.0, 0.4]


@pytest.fixture
def scores() -> er.Scores:
    return made({"bm25": {"AP": VALUES, "RR": VALUES[::-1]}})


def ids(scores: er.Scores) -> tuple[str, ...]:
    return scores.blocks[0].query_ids


def test_every_category_has_its_queries_their_mean_and_interval(scores: er.Scores) -> None:
    queries = ids(scores)
    categories = {query: "law" if place < 7 else "art" for place, query in enumerate(queries)}
    split = scores.by(categories)
    assert split.runs == ("law", "art")
    assert split.measures == scores.measures
    for name, part in (("law", VALUES[:7]), ("art", VALUES[7:])):
        defined = np.array([value for value in part if value == value])
        assert split.mean("AP", name) == pytest.approx(defined.mean())
        block = split.block("AP", name)
        assert split.interval("AP", name) == mean_interval(defined, block.measure.range())[:2]
        (row,) = [row for row in split.summary() if (row.run, row.measure) == (name, "AP")]
        assert (row.queries, row.defined) == (len(part), len(defined))
    assert scores.runs == ("bm25",)


def test_a_query_may_have_several_categories_or_none(scores: er.Scores) -> None:
    first, second, *others = ids(scores)
    split = scores.by({first: ["law", "art"], second: "art", "not scored": "sport"})
    assert split.runs == ("law", "art", "(no category)")
    assert split.block("AP", "law").query_ids == (first,)
    assert split.block("AP", "art").query_ids == (first, second)
    assert split.block("AP", "(no category)").query_ids == tuple(others)
    assert split.mean("AP", "art") == pytest.approx(0.15)


def test_several_runs_keep_their_names() -> None:
    both = made({"a": {"AP": VALUES}, "b": {"AP": VALUES[::-1]}})
    split = both.by(dict.fromkeys(ids(both), "law"))
    assert split.runs == ("a: law", "b: law")
    assert split.mean("AP", "b: law") == both.mean("AP", "b")


def test_reasons_and_notes_stay(scores: er.Scores) -> None:
    from dataclasses import replace

    noted = replace(scores, notes={"bm25": ("said",)})
    split = noted.by(dict.fromkeys(ids(scores), "law"))
    assert split.notes == {"law": ("said",)}
    old, new = scores.block("AP"), split.block("AP", "law")
    assert new.reasons == old.reasons
    np.testing.assert_array_equal(new.status, old.status)


def test_categories_that_cannot_be_used(scores: er.Scores) -> None:
    for wrong in ({}, ["law"], None):
        with pytest.raises(InputTypeError, match="categories must be a mapping"):
            scores.by(wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="none of the 1 queries with a category was scored"):
        scores.by({"other": "law"})
