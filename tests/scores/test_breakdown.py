"""Scores by category of query: the same values in other rows, and how far apart categories are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawn import made

import evenrank as er
from evenrank.errors import DataError, InputTypeError

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
        alone = made({"run": {"AP": defined.tolist()}})
        assert split.interval("AP", name) == alone.interval("AP", "run")
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
    noted = made({"bm25": {"AP": VALUES}}, notes={"bm25": ["said"]})
    split = noted.by(dict.fromkeys(ids(scores), "law"))
    assert split.notes == {"law": ("said",)}
    old, new = noted.block("AP"), split.block("AP", "law")
    assert new.reasons == old.reasons
    np.testing.assert_array_equal(new.status, old.status)


def test_categories_that_cannot_be_used(scores: er.Scores) -> None:
    for wrong in ({}, ["law"], None):
        with pytest.raises(InputTypeError, match="categories must be a mapping"):
            scores.by(wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="none of the 1 queries with a category was scored"):
        scores.by({"other": "law"})


RUN = {q: {"a": 2.0, "b": 1.0} for q in ("q1", "q2", "q3", "q4")}
QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"b": 1}, "q4": {"a": 1}}
KINDS = {"q1": "short", "q2": "short", "q3": "long"}


def test_difference_and_ratio_between_categories() -> None:
    """RR is 1 and 1/2 for short queries, 1/2 for the long one; q4 has no category."""
    scores = er.evaluate(RUN, "RR", qrels=QRELS)
    (gap,) = scores.gaps(KINDS)
    assert (gap.lowest, gap.highest) == ("long", "short")
    assert (gap.low, gap.high, gap.difference) == pytest.approx((0.5, 0.75, 0.25))
    assert gap.ratio == pytest.approx(2 / 3)  # as fairlearn 0.15.0's MetricFrame has both: see below
    assert [note for notes in scores.by(KINDS).notes.values() for note in notes].count(str(gap)) == 1


def test_one_category_has_no_gap_and_nothing_to_divide_by_no_ratio() -> None:
    scores = er.evaluate(RUN, ["RR", "P@1"], qrels=QRELS)
    assert scores.gaps({"q1": "x", "q2": "x"}) == ()
    nothing = er.evaluate(RUN, "P@1", qrels={"q2": {"b": 1}, "q3": {"b": 1}})
    (gap,) = nothing.gaps({"q2": "x", "q3": "y"})
    assert gap.difference == 0
    assert math.isnan(gap.ratio)


@pytest.mark.needs("fairlearn")
def test_fairlearn_has_the_same_difference_and_ratio() -> None:
    from fairlearn import metrics

    block = er.evaluate(RUN, "RR", qrels=QRELS).block("RR")
    chosen = [row for row, query in enumerate(block.query_ids) if query in KINDS]
    values = block.values[chosen, 0]
    frame = metrics.MetricFrame(
        metrics=lambda _, given: given.mean(),
        y_true=values,
        y_pred=values,
        sensitive_features=[KINDS[block.query_ids[row]] for row in chosen],
    )
    (gap,) = er.evaluate(RUN, "RR", qrels=QRELS).gaps(KINDS)
    assert gap.difference == pytest.approx(frame.difference(method="between_groups"))
    assert gap.ratio == pytest.approx(frame.ratio(method="between_groups"))
