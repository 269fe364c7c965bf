"""A gate: who is worse, who is safe, and how often it is wrong about that."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from drawn import made
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import ParameterError, Scores, parse_measure
from evenrank.comparison.gate import Gate, GateRule, apply_gate

HIGHER, LOWER, SIGNED = "nDCG@10", "NDKL@10", "ARaB@10"
QUERIES = 60


def two(measure: str, baseline: np.ndarray, now: np.ndarray) -> Scores:
    return made({"baseline": {measure: baseline}, "now": {measure: now}})


def runs(shift: float, measure: str = HIGHER, seed: int = 0, noise: float = 0.05) -> Scores:
    """The run is the baseline with noise, and on average better by ``shift`` as the measure points."""
    generator = np.random.default_rng(seed)
    baseline = generator.random(QUERIES)
    moved = generator.normal(0, noise, QUERIES)
    moved += shift - moved.mean()
    return two(measure, baseline, baseline - moved if measure == LOWER else baseline + moved)


def verdict(scores: Scores, measure: str = HIGHER, **options: Any) -> Any:
    gate = Gate((GateRule(parse_measure(measure), **options),))
    (found,) = apply_gate(scores, gate).verdicts
    return found


@pytest.mark.parametrize("measure", [HIGHER, LOWER])
@pytest.mark.parametrize(
    ("shift", "finding"), [(-0.1, "worse"), (-0.035, "unclear"), (-0.005, "safe"), (0.1, "safe")]
)
def test_findings_follow_the_measure(measure: str, shift: float, finding: str) -> None:
    found = verdict(runs(shift, measure), measure, allowed=0.03)
    assert found.finding == finding
    assert found.failed == (finding == "worse")
    assert found.difference == pytest.approx(-shift if measure == LOWER else shift)
    assert found.low < found.difference < found.high
    assert found.now - found.baseline == pytest.approx(found.difference)


@settings(max_examples=examples(40))
@given(st.integers(0, 300), st.floats(-0.1, 0.1), st.floats(0, 0.1))
def test_worse_and_safe_are_what_the_bounds_say(seed: int, shift: float, allowed: float) -> None:
    found = verdict(runs(shift, seed=seed), allowed=allowed)
    if found.finding == "worse":
        assert found.high < -allowed
    elif found.finding == "safe":
        assert found.low >= -allowed - 1e-11
    else:
        assert found.low < -allowed <= found.high + 1e-11


def test_identical_runs_pass_every_rule() -> None:
    values = np.random.default_rng(0).random(QUERIES)
    for options in ({}, {"allowed": 0.01, "unclear": "fail"}, {"allowed_share": 0.1}):
        found = verdict(two(HIGHER, values, values), **options)
        assert (found.finding, found.failed, found.losses) == ("safe", False, ())
        assert found.difference == 0.0
        assert found.low < 0 < found.high  # other queries may change, though these did not


@pytest.mark.parametrize("measure", [HIGHER, LOWER])
def test_a_bound_at_exactly_what_is_allowed_is_allowed(measure: str) -> None:
    """However the last bit falls when differences are summed."""
    scores = runs(-0.1, measure)
    found = verdict(scores, measure)
    outer, inner = sorted((abs(found.low), abs(found.high)), reverse=True)
    for last_bit in (-1e-15, 0.0, 1e-15):
        assert verdict(scores, measure, allowed=outer + last_bit).finding == "safe"
        assert verdict(scores, measure, allowed=inner + last_bit).finding == "unclear"
    assert verdict(scores, measure, allowed=outer - 1e-6).finding == "unclear"
    assert verdict(scores, measure, allowed=inner - 1e-6).finding == "worse"


@pytest.mark.parametrize(("measure", "sign"), [(HIGHER, -1), (LOWER, 1)])
def test_the_same_loss_for_every_query_has_bounds_of_some_width(measure: str, sign: int) -> None:
    values = np.random.default_rng(0).random(QUERIES)
    scores = two(measure, values, values + sign * 0.1)
    found = verdict(scores, measure, allowed=0.1)
    assert (found.finding, found.low < found.difference < found.high) == ("unclear", True)
    known = measure == HIGHER  # NDKL has no upper bound: nothing says how far other queries may change
    assert verdict(scores, measure, allowed=0.3).finding == ("safe" if known else "unclear")
    assert verdict(scores, measure, allowed=0.01).finding == ("worse" if known else "unclear")


def test_unclear_fails_where_the_rule_says_so() -> None:
    scores = runs(-0.035)
    assert not verdict(scores, allowed=0.03).failed
    strict = verdict(scores, allowed=0.03, unclear="fail")
    assert (strict.finding, strict.failed, len(strict.problems)) == ("unclear", True, 1)
    assert not verdict(runs(-0.005), allowed=0.03, unclear="fail").failed
    assert verdict(runs(-0.1), allowed=0.03, unclear="fail").finding == "worse"


def test_a_share_of_the_baseline_may_be_allowed() -> None:
    found = verdict(runs(-0.1), allowed_share=0.5)
    assert found.allowed == pytest.approx(0.5 * found.baseline)
    assert found.finding == "safe"
    assert verdict(runs(-0.1), allowed_share=0.01).finding == "worse"


def test_too_few_queries_fail_unless_the_rule_says_otherwise() -> None:
    scores = runs(0.0)
    few = verdict(scores, at_least=61)
    assert (few.finding, few.queries, few.failed) == ("too few", 60, True)
    assert not verdict(scores, at_least=61, too_few="pass").failed
    assert verdict(scores, at_least=60).finding == "unclear"
    assert verdict(two(HIGHER, *np.random.default_rng(0).random((2, 29)))).finding == "too few"


def test_queries_without_a_finite_value_are_counted_by_who_lacks_them() -> None:
    generator = np.random.default_rng(1)
    baseline, now = generator.random(QUERIES), generator.random(QUERIES)
    now[:3], baseline[3], now[4], baseline[4] = math.nan, math.inf, math.nan, math.nan
    now[5] = math.inf
    found = verdict(two(HIGHER, baseline, now))
    assert (found.queries, found.lost, found.gained, found.neither) == (54, 4, 1, 1)
    kept = np.isfinite(baseline) & np.isfinite(now)
    assert found.difference == pytest.approx(now[kept].mean() - baseline[kept].mean())
    assert not found.failed
    assert verdict(two(HIGHER, baseline, now), allowed_lost=4 / 58).problems == ()
    assert verdict(two(HIGHER, baseline, now), allowed_lost=0.068).failed  # 4 of 58 are more


def test_a_run_that_lacks_queries_has_lost_them() -> None:
    values = np.random.default_rng(0).random(QUERIES)
    scores = two(HIGHER, values, values[:40])
    found = verdict(scores)
    assert (found.queries, found.lost, found.failed) == (40, 20, True)
    assert not verdict(scores, allowed_lost=1 / 3).failed


def test_no_common_query_fails_without_a_number() -> None:
    nothing = np.full(QUERIES, math.nan)
    found = verdict(two(HIGHER, np.ones(QUERIES), nothing), limit=0.5, allowed=0.1)
    assert (found.finding, found.queries, found.lost) == ("too few", 0, 60)
    assert len(found.problems) == 3
    assert math.isnan(found.difference)
    rule = GateRule(parse_measure(HIGHER), allowed_share=0.1)
    assert "nan" not in repr(apply_gate(two(HIGHER, nothing, nothing), Gate((rule,))))


@pytest.mark.parametrize(
    ("measure", "value", "limit", "fails"),
    [
        (HIGHER, 0.4, 0.5, True), (HIGHER, 0.6, 0.5, False), (HIGHER, 0.5, 0.5, False),
        (LOWER, 0.4, 0.5, False), (LOWER, 0.6, 0.5, True),
        (SIGNED, -0.6, 0.5, True), (SIGNED, 0.6, 0.5, True), (SIGNED, -0.4, 0.5, False),
    ],
)  # fmt: skip
def test_a_limit_is_a_floor_or_a_ceiling(measure: str, value: float, limit: float, fails: bool) -> None:
    """A limit alone does not look at the baseline, nor does it need many queries."""
    found = verdict(two(measure, np.full(3, 5.0), np.full(3, value)), measure, limit=limit)
    assert (found.finding, found.failed) == ("", fails)
    assert math.isnan(found.low)
    assert len(found.problems) == fails


def test_a_limit_is_for_all_queries_of_the_run() -> None:
    baseline, now = np.full(40, 0.9), np.full(40, 0.9)
    baseline[:2], now[:2] = math.nan, 0.0
    found = verdict(two(HIGHER, baseline, now), limit=0.88)
    assert (found.now, found.value) == pytest.approx((0.9, 0.855))
    assert found.failed


@pytest.mark.parametrize(("measure", "worst"), [(HIGHER, "q2"), (LOWER, "q7"), (SIGNED, "q9")])
def test_the_queries_that_lost_most(measure: str, worst: str) -> None:
    baseline = np.full(40, 0.5)
    now = baseline.copy()
    now[2], now[3], now[4], now[5], now[7], now[9] = 0.0, 0.2, 0.3, 0.45, 0.9, -1.5
    if measure == HIGHER:
        now[9] = 0.5
    found = verdict(two(measure, baseline, now), measure, limit=-9 if measure == HIGHER else 9)
    assert found.losses[0].query == worst
    assert len(found.losses) == {HIGHER: 3, LOWER: 1, SIGNED: 2}[measure]


def test_a_column_of_a_measure() -> None:
    """Skew has one for each value; a rule is about one of them."""
    scores = made(
        {
            run: {"Skew@10": {"f": [f] * 40, "m": [m] * 40}}
            for run, f, m in (("baseline", 0.0, 0.0), ("now", 0.1, -0.6))
        }
    )
    for column, fails in (("f", False), ("m", True)):
        rule = GateRule(parse_measure("Skew@10"), column, limit=0.5)
        (found,) = apply_gate(scores, Gate((rule,))).verdicts
        assert (found.failed, found.rule.name) == (fails, f"Skew@10[{column}]")
    for column in ("", "x"):
        with pytest.raises(ParameterError, match=r"Skew@10\[f\].*f, m"):
            apply_gate(scores, Gate((GateRule(parse_measure("Skew@10"), column, limit=0.5),)))


def test_rows_say_what_was_found_and_names_stay_text() -> None:
    ids = [f"<img src=x onerror=alert({place})>|\x1b[2J" for place in range(40)]
    baseline = np.linspace(0.5, 0.9, 40)
    scores = made({"baseline": {HIGHER: baseline}, "now": {HIGHER: baseline - 0.3}}, ids)
    result = apply_gate(scores, Gate((GateRule(parse_measure(HIGHER), allowed=0.03, limit=0.1),)))
    assert result.failed
    (row,) = result.to_table().to_records()
    assert (row["failed"], row["finding"], row["queries"], len(row["losses"])) == (True, "worse", 40, 3)
    assert row["losses"][0]["query"] in ids
    assert row["high"] < -0.03
    text, markdown = result.to_table().to_text(), result.to_table().to_markdown()
    assert "\x1b" not in text
    assert "<img" not in markdown
    for shown in (text, markdown):
        assert HIGHER in shown
        assert "0.4000" in shown


def alarms(differences: np.ndarray, allowed: float, **options: Any) -> tuple[float, float]:
    """How often a gate calls these (R, n) differences worse, and how often safe."""
    found = []
    for row in differences:
        scores = two(HIGHER, np.zeros(len(row)), row)
        gate = Gate((GateRule(parse_measure(HIGHER), allowed=allowed, at_least=5, **options),), resamples=400)
        found.append(apply_gate(scores, gate).verdicts[0].finding)
    return found.count("worse") / len(found), found.count("safe") / len(found)


NOISE = 6  # standard errors: a chance of 1 in a thousand million, whatever draws a later NumPy makes


@pytest.mark.slow
@pytest.mark.parametrize("queries", [10, 30, 50])
def test_both_error_rates(queries: int) -> None:
    """Half of the queries do not change, more lose than gain; ``benchmarks/gate.py`` has more of this."""
    repeats = 1200
    generator = np.random.default_rng(queries)
    kind = generator.random((repeats, queries))
    gains, losses = (generator.beta(1, 4, (repeats, queries)) for _ in range(2))
    moved = np.where(kind < 0.5, 0.0, np.where(kind < 0.8, -losses, gains))
    loss = 0.3 * 0.2 - 0.2 * 0.2  # the mean of beta(1, 4) is 0.2
    noise = NOISE * math.sqrt(0.05 * 0.95 / repeats)
    worse, safe = alarms(moved, loss)  # true loss is just what is allowed: both answers would be wrong
    assert worse <= 0.05 + noise
    assert safe <= 0.05 + noise
    powers = [alarms(moved - more, loss)[0] for more in (0.05, 0.15)]
    assert worse < powers[0] < powers[1]
    assert powers[1] > {10: 0.5, 30: 0.95, 50: 0.99}[queries]


@pytest.mark.slow
def test_many_measures_do_not_fail_more_often() -> None:
    """Four measures that are all worse by just what is allowed: any alarm is a false one."""
    names, repeats, generator = ("nDCG@10", "RR@10", "P@10", "R@10"), 700, np.random.default_rng(5)
    rules = tuple(GateRule(parse_measure(name), allowed=0.1) for name in names)
    failed = {"bonferroni": 0, "none": 0}
    for _ in range(repeats):
        moved = generator.normal(-0.1, 0.2, (40, 4)) + generator.normal(0, 0.05, (40, 1))
        scores = made(
            {
                "baseline": dict.fromkeys(names, np.zeros(40)),
                "now": dict(zip(names, moved.T, strict=True)),
            }
        )
        for correction in failed:
            gate = Gate(rules, correction=correction, resamples=1000)
            failed[correction] += apply_gate(scores, gate).failed
    noise = NOISE * math.sqrt(0.05 * 0.95 / repeats)
    assert failed["bonferroni"] / repeats <= 0.05 + noise
    assert failed["none"] > failed["bonferroni"]  # of the same draws
