"""Skews: what is infinite, in a list and over queries, and what has none."""

from __future__ import annotations

import numpy as np
import pytest

from evenrank import Attribute, Membership, Run, evaluate


def labelled(attribute: Attribute, labels: list[str]) -> Membership:
    return Membership.build(attribute, [f"d{place}" for place in range(len(labels))], labels)


def test_a_mean_of_skews_says_how_many_it_is_over() -> None:
    """The list without f has minus infinity, which no mean can hold."""
    run = Run.build(["q0", "q0", "q0", "q1"], ["d0", "d1", "d2", "d1"], [3.0, 2, 1, 1])
    groups = labelled(Attribute("gender", ("f", "m"), target=(0.25, 0.75)), ["f", "m", "m"])
    scores = evaluate(run, "MinSkew", groups=groups)
    assert scores.to_dict()["run"]["MinSkew"] == {"q0": pytest.approx(np.log(8 / 9)), "q1": -np.inf}
    (row,) = scores.summary()
    assert (row.queries, row.defined, row.infinite) == (2, 1, 1)
    assert row.value == pytest.approx(np.log(8 / 9))


def test_the_extreme_over_queries_is_infinite_where_one_query_is() -> None:
    run = Run.build(["q0", "q0", "q0", "q1"], ["d0", "d1", "d2", "d1"], [3.0, 2, 1, 1])
    groups = labelled(Attribute("gender", ("f", "m"), target=(0.25, 0.75)), ["f", "m", "m"])
    scores = evaluate(run, "MinSkew(over='extreme') MaxSkew(over='extreme')", groups=groups)
    least, most = scores.summary()
    assert least.value == -np.inf
    assert np.isnan([least.low, least.high]).all()  # no interval of the finite ones holds it
    assert most.value == pytest.approx(np.log(4 / 3))


def test_a_group_that_no_query_shows_has_the_worst_value_not_an_undefined_one() -> None:
    run = Run.build(["q0", "q1"], ["d1", "d1"], [1.0, 1.0])
    groups = labelled(Attribute("gender", ("f", "m"), target=(0.25, 0.75)), ["f", "m"])
    scores = evaluate(run, "Skew MinSkew", groups=groups)
    assert scores.mean("Skew", column="f") == -np.inf
    assert scores.mean("MinSkew") == -np.inf


def test_a_value_neither_there_nor_wanted_has_no_skew() -> None:
    run = Run.build(["q0", "q0", "q1"], ["d0", "d1", "d2"], [2.0, 1, 1])
    groups = labelled(Attribute("x", ("a", "b", "c"), target=(0.75, 0.25, 0)), ["a", "b", "c"])
    scores = evaluate(run, "Skew MinSkew MaxSkew", groups=groups)
    skew, least, most = (scores.block(measure) for measure in scores.measures)
    more, less = np.log(2), np.log(2 / 3)
    assert skew.values == pytest.approx(
        np.array([[less, more, np.nan], [-np.inf, -np.inf, np.inf]]), nan_ok=True
    )
    assert skew.reasons[skew.status[0, 2]] == "neither there nor wanted"
    assert least.values[:, 0] == pytest.approx([less, -np.inf])
    assert most.values[:, 0] == pytest.approx([more, np.inf])


@pytest.mark.parametrize("count", [7, 20])
def test_no_skew_is_0_and_not_below_or_above_it_by_rounding(count: int) -> None:
    """Seven equal shares of a seventh are a bit too small when added up, twenty of a twentieth too large."""
    values = [f"v{place:02}" for place in range(count)]
    even = labelled(Attribute("x", tuple(values), target=[1 / count] * count), values)
    scores = evaluate(
        {"q": {f"d{place}": -float(place) for place in range(count)}}, "Skew MinSkew MaxSkew", groups=even
    )
    skew, least, most = (scores.block(measure).values[0] for measure in scores.measures)
    assert (np.sign(skew) == {7: -1, 20: 1}[count]).all()  # else this tests nothing
    assert skew == pytest.approx(np.zeros(count), abs=1e-15)
    assert least.tolist() == [min(skew[0], 0.0)]
    assert most.tolist() == [max(skew[0], 0.0)]
