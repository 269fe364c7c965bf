"""Ratings as grades: fractions through every measure of graded relevance, against slow sums."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import evenrank as er
from evenrank import Attribute, Membership, Qrels, parse_measure
from evenrank.errors import DataError
from evenrank.io.ratings import read_ratings

RATED = {"a": 3.5, "b": 0.5, "c": 5.0, "d": 2.5, "e": 0.0, "f": 4.5}
ORDER = "badcfe"
RUN = {"u": {document: -float(place) for place, document in enumerate(ORDER)}}
TABLE = {"user": ["u"] * 6, "item": list(RATED), "rating": list(RATED.values())}
QRELS = read_ratings(TABLE)
SIDE = Membership.from_labels(Attribute("side", ("x", "y")), dict(zip("abcdef", "xxyyxy", strict=True)))
GRADES = [RATED[document] for document in ORDER]
IDEAL = sorted(RATED.values(), reverse=True)


def score(measure: str, **known: object) -> float:
    return er.evaluate(RUN, measure, qrels=QRELS, **known).mean(measure)


def dcg(grades: list[float], power: bool) -> float:
    return sum((2**g - 1 if power else g) / log2(1 + i) for i, g in enumerate(grades, 1))


def err(grades: list[float], most: float) -> float:
    left, total = 1.0, 0.0
    for i, g in enumerate(grades, 1):
        stop = (2 ** min(g, most) - 1) / 2**most
        total, left = total + left * stop / i, left * (1 - stop)
    return total


@pytest.mark.parametrize("cutoff", [1, 3, 6])
def test_graded_gain(cutoff: int) -> None:
    for name, power in (("log2", False), ("exp-log2", True)):
        expected = dcg(GRADES[:cutoff], power) / dcg(IDEAL[:cutoff], power)
        assert score(f"nDCG(dcg='{name}')@{cutoff}") == pytest.approx(expected)
    assert score(f"ERR@{cutoff}") == pytest.approx(err(GRADES[:cutoff], 5))
    assert score(f"ERR(max_grade=4.5)@{cutoff}") == pytest.approx(err(GRADES[:cutoff], 4.5))
    expected = 0.2 * sum(g / 5 * 0.8**i for i, g in enumerate(GRADES[:cutoff]))
    assert score(f"RBP@{cutoff}") == pytest.approx(expected)


def test_what_is_relevant_is_a_threshold_that_may_be_a_fraction() -> None:
    assert score("P(rel=2.5)@4") == 3 / 4
    assert score("P@4") == 3 / 4  # half a star is below 1
    assert score("RR(rel=3.5)") == 1 / 2
    assert score("R(rel=4.5)@4") == 1 / 2
    assert repr(parse_measure("P(rel=2.5)@4")) == "P(rel=2.5)@4"
    assert repr(parse_measure("P(rel=2)@4")) == "P(rel=2)@4"


def test_half_a_star_is_a_gain_and_no_reason_to_be_undefined() -> None:
    """The largest grade is below 1: nothing may be divided by 1 instead, and no query is left out."""
    poor = read_ratings({"user": ["u"] * 2, "item": ["a", "b"], "rating": [0.5, 0.25]})
    run = {"u": {"b": 2.0, "a": 1.0}}
    known = {"qrels": poor, "groups": SIDE}
    assert er.evaluate(run, "nDCG@1", **known).mean("nDCG@1") == pytest.approx(0.5)
    assert er.evaluate(run, "RBP@1", **known).mean("RBP@1") == pytest.approx(0.2 * 0.5)
    assert er.evaluate(run, "ERR@1", **known).mean("ERR@1") == pytest.approx((2**0.25 - 1) / 2**0.5)
    for name in ("FAIR(irm=RBP)@2", "FAIR(irm=nDCG)@2", "EE_L@2", "GF(decay=ERR)@2"):
        assert np.isfinite(er.evaluate(run, name, **known).mean(name)), name


def test_fair_has_the_same_parts() -> None:
    """Linear gain does not depend on the unit, so steps of a half have the same values; ERR by a slow sum."""
    whole = read_ratings(TABLE, step=0.5)
    for name in ("FAIR(irm=nDCG)@4", "FAIR(irm=RBP)@4", "AWRF@4"):
        halves = er.evaluate(RUN, name, qrels=whole, groups=SIDE).mean(name)
        assert score(name, groups=SIDE) == pytest.approx(halves), name
    utility = score("FAIR(irm=ERR, part=utility)@4", groups=SIDE)
    assert utility == pytest.approx(err(GRADES[:4], 5) / err(IDEAL[:4], 5))
    power = score("FAIR(irm=nDCG(dcg='exp-log2'), part=utility)@4", groups=SIDE)
    assert power == pytest.approx(dcg(GRADES[:4], True) / dcg(IDEAL[:4], True))


def test_judgements_stay_strict() -> None:
    with pytest.raises(DataError, match=r"grades must be whole numbers, got 3\.5"):
        Qrels.build(["q"], ["a"], [3.5])
    with pytest.raises(DataError, match="grades must be finite"):
        Qrels.build(["q"], ["a"], [float("nan")], fractions=True)
    with pytest.raises(DataError, match=r"4\.5"):
        score("Bpref")
