"""What a rule of a gate may be, and its floors and ceilings: held against the bounds of a value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from drawn import made

from evenrank import ParameterError, Scores, parse_measure
from evenrank.comparison.gate import Gate, GateRule, apply_gate

HIGHER, SIGNED = "nDCG@10", "ARaB@10"
SHARE = "GroupShare(attr='size')@10"


@pytest.mark.parametrize(
    ("measure", "options", "named"),
    [
        (HIGHER, {"allowed": -0.1}, ["nDCG@10", "allowed", "-0.1"]),
        (HIGHER, {"allowed": math.nan}, ["allowed", "nan"]),
        (HIGHER, {"allowed": "0.1"}, ["allowed", "'0.1'"]),
        (HIGHER, {"allowed": True}, ["allowed", "True"]),
        (HIGHER, {"allowed": 0.1, "allowed_share": 0.1}, ["allowed", "allowed_share"]),
        (HIGHER, {"alpha": 0.5}, ["alpha", "0.5"]),
        (HIGHER, {"at_least": 4}, ["at_least", "5", "4"]),
        (HIGHER, {"at_least": 20.0}, ["at_least", "20.0"]),
        (HIGHER, {"allowed_lost": 5}, ["allowed_lost", "5"]),
        (HIGHER, {"unclear": "maybe"}, ["unclear", "'maybe'"]),
        (HIGHER, {"unclear": "fail"}, ["unclear", "allowed"]),
        (HIGHER, {"floor": 0.4, "ceiling": 0.3}, ["floor", "0.4", "ceiling", "0.3"]),
        (HIGHER, {"floor": "much"}, ["floor", "'much'"]),
        (HIGHER, {"floor": 0.3, "allowed": 0.1}, ["floor"]),
        (SIGNED, {"allowed": 0.1}, [SIGNED]),
        (SIGNED, {"limit": -0.1}, ["limit", "-0.1"]),
        ("GroupExposure@10", {}, ["GroupExposure@10"]),
        ("NumRet", {}, ["NumRet"]),
        ("MinSkew(over='extreme')@10", {}, ["MinSkew"]),
    ],
)
def test_rules_that_mean_nothing_are_refused(measure: str, options: dict[str, Any], named: list[str]) -> None:
    with pytest.raises(ParameterError) as caught:
        GateRule(parse_measure(measure), **options)
    assert all(name in str(caught.value) for name in named)


def test_gates_that_mean_nothing_are_refused() -> None:
    scores = made({"baseline": {HIGHER: [0.5] * 40}, "now": {HIGHER: [0.5] * 40}})
    rule = GateRule(parse_measure(HIGHER))
    for rules, options, named in (
        ((), {}, "rules"),
        ((rule, rule), {}, r"nDCG@10.*2"),
        ((rule,), {"correction": "holm"}, r"bonferroni.*'holm'"),
        ((rule,), {"seed": -1}, "seed"),
    ):
        with pytest.raises(ParameterError, match=named):
            Gate(rules, **options)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"'new'.*baseline, now"):
        apply_gate(scores, Gate((rule,)), now="new")
    with pytest.raises(ParameterError, match=HIGHER):
        apply_gate(scores, Gate((rule,)), baseline=None)
    with pytest.raises(ParameterError, match=HIGHER):
        apply_gate(scores, Gate((GateRule(parse_measure(HIGHER), "female"),)))


def test_alpha_is_shared_by_the_rules_that_fail_when_worse() -> None:
    rules = (
        GateRule(parse_measure("nDCG@10"), allowed=0.1),
        GateRule(parse_measure("RR@10"), alpha=0.1),
        GateRule(parse_measure("P@10"), allowed=0.1, unclear="fail"),
        GateRule(parse_measure("ARaB@10"), limit=1.0),
    )
    values = {repr(rule.measure): np.linspace(0, 1, 40) for rule in rules}
    for correction, wanted in (("bonferroni", [0.025, 0.05, 0.05]), ("none", [0.05, 0.1, 0.05])):
        result = apply_gate(made({"baseline": values, "now": values}), Gate(rules, correction=correction))
        assert [found.alpha for found in result.verdicts[:3]] == wanted


def shares(mean: float, seed: int = 0, queries: int = 60) -> Scores:
    """One run alone: the share of two groups by query."""
    small = np.clip(np.random.default_rng(seed).normal(0, 0.1, queries), -0.2, 0.2)
    small += mean - small.mean()
    return made({"now": {SHARE: {"small": small, "large": 1 - small}}})


def limited(scores: Scores, column: str = "small", **options: Any) -> Any:
    gate = Gate((GateRule(parse_measure(SHARE), column, **options),))
    (found,) = apply_gate(scores, gate, baseline=None).verdicts
    return found


@pytest.mark.parametrize(
    ("mean", "finding"), [(0.2, "beyond"), (0.295, "unclear"), (0.305, "unclear"), (0.4, "safe")]
)
def test_a_floor_is_held_against_the_bounds_of_a_share(mean: float, finding: str) -> None:
    scores = shares(mean)
    floor, ceiling = limited(scores, floor=0.3), limited(scores, "large", ceiling=0.7)
    for found in (floor, ceiling):
        assert found.finding == finding
        assert found.failed == (finding == "beyond")
        assert math.isnan(found.baseline)
        assert limited(scores, found.rule.column, floor=found.rule.floor, ceiling=found.rule.ceiling,
                       unclear="fail").failed == (finding != "safe")  # fmt: skip
    values = np.array(list(scores.to_dict()["now"][f"{SHARE}[small]"].values()))
    differences = made({"baseline": {"nDCG@10": np.zeros(60)}, "now": {"nDCG@10": values}})
    (same,) = apply_gate(differences, Gate((GateRule(parse_measure("nDCG@10")),))).verdicts
    assert (floor.low, floor.high, floor.value) == pytest.approx((same.low, same.high, mean))


def test_a_floor_and_a_ceiling_together() -> None:
    scores = shares(0.4)
    assert limited(scores, floor=0.3, ceiling=0.5).finding == "safe"
    assert limited(scores, floor=0.3, ceiling=0.35).finding == "beyond"
    assert limited(scores, floor=0.45, ceiling=0.5).finding == "beyond"


def test_limits_share_their_alpha_and_need_enough_queries() -> None:
    rules = tuple(GateRule(parse_measure(SHARE), column, floor=0.1) for column in ("small", "large"))
    result = apply_gate(shares(0.4), Gate(rules), baseline=None)
    assert [found.alpha for found in result.verdicts] == [0.025, 0.025]
    few = limited(shares(0.4, queries=29), floor=0.3)
    assert (few.finding, few.queries, few.failed) == ("too few", 29, True)


def test_a_table_of_limits_has_no_baseline() -> None:
    gate = Gate((GateRule(parse_measure(SHARE), "small", floor=0.3),))
    table = apply_gate(shares(0.2), gate, baseline=None).to_table()
    text = table.to_text(100)
    assert f"{SHARE}[small]" in text
    assert "0.3" in text
    assert "baseline" not in text
    (record,) = table.to_records()
    assert (record["floor"], record["finding"], record["value"]) == (0.3, "beyond", pytest.approx(0.2))
