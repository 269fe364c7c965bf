"""A gate: who is worse, who is safe, and how often it is wrong about that."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import Scores, parse_measure
from evenrank.comparison.gate import Gate, GateRule, _finding, apply_gate
from evenrank.comparison.gate.render import gate_table
from evenrank.errors import ParameterError
from evenrank.scores import INFINITE, OK, ScoresBlock
from evenrank.stats.bounds import mean_bounds

HIGHER, LOWER, SIGNED = "nDCG@10", "NDKL@10", "ARaB@10"
QUERIES = 60


def block(run: str, measure: str, values: np.ndarray, queries: list[str] | None = None) -> ScoresBlock:
    status = np.where(np.isnan(values), 2, np.where(np.isinf(values), 1, 0)).astype(np.int16)
    ids = tuple(queries or [f"q{place}" for place in range(len(values))])
    return ScoresBlock(
        run, parse_measure(measure), ids, ("",), values[:, None], status[:, None], (OK, INFINITE, "empty")
    )


def two(measure: str, baseline: np.ndarray, now: np.ndarray) -> Scores:
    return Scores((block("baseline", measure, baseline), block("now", measure, now)))


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


def test_bounds_are_those_of_the_mean_difference() -> None:
    scores = runs(-0.03)
    old, new = (scores.block(HIGHER, name).values[:, 0] for name in ("baseline", "now"))
    found = verdict(scores, alpha=0.01, allowed=0.01)
    expected = mean_bounds(new - old, alpha=0.01)
    assert (found.low, found.high) == pytest.approx((expected.lower, expected.upper))
    turned = verdict(two(LOWER, old, new), LOWER, alpha=0.01, allowed=0.01)
    assert (turned.low, turned.high) == pytest.approx((found.low, found.high))
    assert (found.finding, turned.finding) == ("worse", "safe")


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


@pytest.mark.parametrize("allowed", [0.1, 0.07, 0.3, 1 / 3, 0.6])
def test_a_bound_at_exactly_what_is_allowed_is_allowed(allowed: float) -> None:
    """However the last bit falls when differences are summed."""
    gains = np.full(QUERIES, -allowed)
    for last_bit in (-1e-15, 0.0, 1e-15):
        assert _finding(gains, 5, -allowed + last_bit, 0.0, allowed) == "safe"
        assert _finding(gains, 5, -allowed - 1, -allowed + last_bit, allowed) == "unclear"
    assert _finding(gains, 5, -allowed - 1e-6, 0.0, allowed) == "unclear"
    assert _finding(gains, 5, -allowed - 1, -allowed - 1e-6, allowed) == "worse"


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
    assert (strict.finding, strict.problems) == ("unclear", ("not shown to be within what is allowed",))
    assert not verdict(runs(-0.005), allowed=0.03, unclear="fail").failed
    assert verdict(runs(-0.1), allowed=0.03, unclear="fail").problems == ("worse by more than allowed",)


def test_a_share_of_the_baseline_may_be_allowed() -> None:
    found = verdict(runs(-0.1), allowed_share=0.5)
    assert found.allowed == pytest.approx(0.5 * found.baseline)
    assert found.finding == "safe"
    assert verdict(runs(-0.1), allowed_share=0.01).finding == "worse"


def test_too_few_queries_fail_unless_the_rule_says_otherwise() -> None:
    scores = runs(0.0)
    few = verdict(scores, at_least=61)
    assert (few.finding, few.problems) == ("too few", ("60 queries to compare, fewer than 61",))
    assert not verdict(scores, at_least=61, too_few="pass").failed
    assert verdict(scores, at_least=60).finding == "unclear"


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
    assert verdict(two(HIGHER, baseline, now), allowed_lost=0.06).problems == (
        "4 of 58 queries lost their value",
    )


def test_a_run_that_lacks_queries_has_lost_them() -> None:
    values = np.random.default_rng(0).random(QUERIES)
    names = [f"q{place}" for place in range(40)]
    scores = Scores((block("baseline", HIGHER, values), block("now", HIGHER, values[:40], names)))
    assert verdict(scores).problems == ("20 of 60 queries lost their value",)
    assert not verdict(scores, allowed_lost=1 / 3).failed


def test_no_common_query_fails_without_a_number() -> None:
    nothing = np.full(QUERIES, math.nan)
    found = verdict(two(HIGHER, np.ones(QUERIES), nothing), limit=0.5, allowed=0.1)
    assert (found.finding, found.queries, found.lost) == ("too few", 0, 60)
    assert len(found.problems) == 3
    assert math.isnan(found.difference)
    rule = GateRule(parse_measure(HIGHER), allowed_share=0.1)
    text = repr(apply_gate(two(HIGHER, nothing, nothing), Gate((rule,))))
    assert "undefined" in text
    assert "nan" not in text


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
    if fails:
        assert f"the limit {limit:g}" in found.problems[0]


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


def test_alpha_is_shared_by_the_rules_that_fail_when_worse() -> None:
    first, second, third, fourth = (
        GateRule(parse_measure("nDCG@10"), allowed=0.1),
        GateRule(parse_measure("RR@10"), alpha=0.1),
        GateRule(parse_measure("P@10"), allowed=0.1, unclear="fail"),
        GateRule(parse_measure("ARaB@10"), limit=1.0),
    )
    gate = Gate((first, second, third, fourth))
    assert [gate.alpha_of(rule) for rule in gate.rules[:3]] == [0.025, 0.05, 0.05]
    plain = Gate(gate.rules, correction="none")
    assert [plain.alpha_of(rule) for rule in gate.rules[:3]] == [0.05, 0.1, 0.05]


@pytest.mark.parametrize(
    ("measure", "options", "said"),
    [
        (HIGHER, {"allowed": -0.1}, "nDCG@10: allowed must be a number >= 0, got -0.1"),
        (HIGHER, {"allowed": math.nan}, "allowed must be a number >= 0, got nan"),
        (HIGHER, {"allowed": "0.1"}, "allowed must be a number >= 0, got '0.1'"),
        (HIGHER, {"allowed": True}, "allowed must be a number >= 0, got True"),
        (HIGHER, {"allowed": 0.1, "allowed_share": 0.1}, "exclude each other"),
        (HIGHER, {"alpha": 0.5}, "alpha must be a number > 0 and < 0.5, got 0.5"),
        (HIGHER, {"at_least": 4}, "at_least must be an integer >= 5, got 4"),
        (HIGHER, {"at_least": 20.0}, "at_least must be an integer >= 5, got 20.0"),
        (HIGHER, {"allowed_lost": 5}, "allowed_lost must be a share from 0 to 1, got 5"),
        (HIGHER, {"unclear": "maybe"}, "unclear must be pass or fail, got 'maybe'"),
        (HIGHER, {"unclear": "fail"}, "unclear = fail needs allowed > 0"),
        (SIGNED, {"allowed": 0.1}, "signed, 0 is even"),
        (SIGNED, {"limit": -0.1}, "limit must be a number >= 0, got -0.1"),
        ("GroupExposure@10", {}, "cannot become worse"),
        ("NumRet", {}, "NumRet: neither high nor low is better, so it cannot become worse"),
        ("MinSkew(over='extreme')@10", {}, "its value is the min over queries"),
    ],
)  # fmt: skip
def test_rules_that_mean_nothing_are_refused(measure: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError) as caught:
        GateRule(parse_measure(measure), **options)
    assert said in str(caught.value)


def test_gates_that_mean_nothing_are_refused() -> None:
    rule = GateRule(parse_measure(HIGHER))
    for rules, options, said in (
        ((), {}, "without rules"),
        ((rule, rule), {}, "nDCG@10: has 2 rules"),
        ((rule,), {"correction": "holm"}, "bonferroni or none, got 'holm'"),
        ((rule,), {"seed": -1}, "seed must be an integer >= 0"),
    ):
        with pytest.raises(ParameterError, match=said):
            Gate(rules, **options)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"alpha 0\.05 needs at least 200 resamples, got 50"):
        apply_gate(runs(0.0), Gate((rule,), resamples=50))
    with pytest.raises(ParameterError, match="no run is called 'new'; there are baseline, now"):
        apply_gate(runs(0.0), Gate((rule,)), now="new")
    with pytest.raises(ParameterError, match="has one value and no columns"):
        apply_gate(runs(0.0), Gate((GateRule(parse_measure(HIGHER), "female"),)))


def test_a_column_of_a_measure() -> None:
    """Skew has one for each value; a rule is about one of them."""
    status = np.zeros((40, 2), dtype=np.int16)
    queries = tuple(map(str, range(40)))
    blocks = tuple(
        ScoresBlock(run, parse_measure("Skew@10"), queries, ("f", "m"), np.full((40, 2), values), status)
        for run, values in (("baseline", [0.0, 0.0]), ("now", [0.1, -0.6]))
    )
    for column, fails in (("f", False), ("m", True)):
        rule = GateRule(parse_measure("Skew@10"), column, limit=0.5)
        (found,) = apply_gate(Scores(blocks), Gate((rule,))).verdicts
        assert (found.failed, found.rule.name) == (fails, f"Skew@10[{column}]")
    for column in ("", "x"):
        with pytest.raises(ParameterError, match=r"name one of the columns, as Skew@10\[f\]; they are f, m"):
            apply_gate(Scores(blocks), Gate((GateRule(parse_measure("Skew@10"), column, limit=0.5),)))


def test_what_it_prints() -> None:
    result = apply_gate(runs(-0.1), Gate((GateRule(parse_measure(HIGHER), allowed=0.03, limit=0.1),)))
    text = gate_table(result).to_text()
    assert text.startswith("gate failed: nDCG@10\n")
    assert "FAIL: worse" in text
    assert "-0.03, at least 0.1" in text
    assert "nDCG@10 fails: worse by more than allowed" in text
    assert "nDCG@10 lost most on: q" in text
    assert "95%" in text
    (row,) = map(json.loads, gate_table(result).to_jsonl().splitlines())
    assert (row["failed"], row["finding"], row["queries"], len(row["losses"])) == (True, "worse", 60, 3)
    assert row["high"] < -0.03
    assert gate_table(result).to_markdown().startswith("**gate failed: nDCG@10**\n\n| measure |")
    assert repr(result) == text
    passed = repr(apply_gate(runs(0.1), Gate((GateRule(parse_measure(HIGHER)),))))
    assert passed.startswith("gate passed: 1 measure\n")


def test_hostile_query_ids_stay_text() -> None:
    baseline = np.linspace(0.5, 0.9, 40)
    ids = [f"<img src=x onerror=alert({place})>|\x1b[2J" for place in range(40)]
    scores = Scores((block("baseline", HIGHER, baseline, ids), block("now", HIGHER, baseline - 0.3, ids)))
    result = apply_gate(scores, Gate((GateRule(parse_measure(HIGHER)),)))
    assert "\x1b" not in gate_table(result).to_text()
    assert "<img" not in gate_table(result).to_markdown()
    assert json.loads(gate_table(result).to_jsonl())["losses"][0]["query"] in ids


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
        blocks = [
            block(run, name, values)
            for place, name in enumerate(names)
            for run, values in (("baseline", np.zeros(40)), ("now", moved[:, place]))
        ]
        for correction in failed:
            gate = Gate(rules, correction=correction, resamples=1000)
            failed[correction] += apply_gate(Scores(tuple(blocks)), gate).failed
    noise = NOISE * math.sqrt(0.05 * 0.95 / repeats)
    assert failed["bonferroni"] / repeats <= 0.05 + noise
    assert failed["none"] > failed["bonferroni"]  # of the same draws


SHARE = "GroupShare(attr='size')@10"


def shares(mean: float, seed: int = 0, queries: int = QUERIES) -> Scores:
    """One run alone: the share of two groups by query."""
    small = np.clip(np.random.default_rng(seed).normal(0, 0.1, queries), -0.2, 0.2)
    small += mean - small.mean()
    values = np.column_stack([small, 1 - small])
    ids = tuple(f"q{place}" for place in range(queries))
    status = np.zeros(values.shape, np.int16)
    return Scores(
        (ScoresBlock("now", parse_measure(SHARE), ids, ("small", "large"), values, status, (OK, INFINITE)),)
    )


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
    values = scores.blocks[0].values[:, 0]
    bounds = mean_bounds(values, (0.0, 1.0))
    assert (floor.low, floor.high, floor.value) == (bounds.lower, bounds.upper, pytest.approx(mean))


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
    assert (few.finding, few.problems) == ("too few", ("29 queries with a value, fewer than 30",))


def test_a_table_of_limits_has_no_baseline() -> None:
    gate = Gate((GateRule(parse_measure(SHARE), "small", floor=0.3),))
    text = apply_gate(shares(0.2), gate, baseline=None).to_table().to_text(100)
    assert "gate failed: GroupShare(attr='size')@10[small]" in text
    assert "at least 0.3" in text
    assert "FAIL: beyond" in text
    assert "baseline" not in text
    (record,) = gate_table(apply_gate(shares(0.2), gate, baseline=None)).records
    assert (record["floor"], record["finding"], record["value"]) == (0.3, "beyond", pytest.approx(0.2))


def test_a_comparison_needs_a_baseline() -> None:
    gate = Gate((GateRule(parse_measure(HIGHER)),))
    with pytest.raises(ParameterError, match="nDCG@10: is compared with a baseline, and none is given"):
        apply_gate(runs(0.0), gate, baseline=None)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"floor": 0.4, "ceiling": 0.3}, "floor 0.4 is above ceiling 0.3"),
        ({"floor": "much"}, "floor must be a number, got 'much'"),
        ({"floor": 0.3, "allowed": 0.1}, "floor and ceiling stand alone"),
    ],
)
def test_what_is_wrong_with_a_limit(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        GateRule(parse_measure(SHARE), "small", **options)
