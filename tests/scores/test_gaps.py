"""How far apart categories of queries are, and which measure stands against the others most often."""

from __future__ import annotations

import math

import pytest

import evenrank as er
from evenrank.scores.agreement import disagreement_table, outlier_counts

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
    said = "RR: between categories it differs by 0.2500 (long 0.5000, short 0.7500), a ratio of 0.67"
    assert str(gap) == said
    assert [note for notes in scores.by(KINDS).notes.values() for note in notes].count(said) == 1


def test_one_category_has_no_gap_and_nothing_to_divide_by_no_ratio() -> None:
    scores = er.evaluate(RUN, ["RR", "P@1"], qrels=QRELS)
    assert scores.gaps({"q1": "x", "q2": "x"}) == ()
    nothing = er.evaluate(RUN, "P@1", qrels={"q2": {"b": 1}, "q3": {"b": 1}})
    (gap,) = nothing.gaps({"q2": "x", "q3": "y"})
    assert gap.difference == 0
    assert math.isnan(gap.ratio)
    assert "ratio" not in str(gap)


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


def test_outliers_are_counted() -> None:
    """In q one P@1 stands against RR and AP; two runs, b's list is better at the top only."""
    qrels = {q: {"x": 1, "y": 1, "z": 1} for q in ("q1", "q2")}
    one = er.read_run({q: {"x": 9.0, "n1": 8.0, "n2": 7.0, "n3": 6.0, "n4": 5.0} for q in qrels})
    two = er.read_run({q: {"n1": 9.0, "x": 8.0, "y": 7.0, "z": 6.0, "n4": 5.0} for q in qrels})
    scores = er.evaluate({"one": one, "two": two}, "P@1 P@4 R@4", qrels=qrels)
    found = scores.disagreements()
    assert outlier_counts(found) == {"P@1": 2}
    assert "by that measure: P@1 2" in str(disagreement_table(found))
