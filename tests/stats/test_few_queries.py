"""No query and one query through every statistic: a value that is defined, or NaN with its reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenrank import Lexicon, Run, Scores, WordCounts, compare, origin, parse_measure, select
from evenrank.comparison.all_pairs import correlation_table, power_table, tukey_tables
from evenrank.comparison.gate import Gate, GateRule, apply_gate
from evenrank.errors import EvenrankError
from evenrank.scores import INFINITE, OK, ScoresBlock
from evenrank.stats.bootstrap import bootstrap_interval
from evenrank.stats.bounds import mean_bounds
from evenrank.stats.corrections import CORRECTIONS, correct
from evenrank.stats.correlation import METHODS, TOO_FEW, correlation_matrix
from evenrank.stats.difference import bootstrap_bound, bootstrap_difference, mean_difference
from evenrank.stats.effects import effect_sizes, win_tie_loss
from evenrank.stats.intervals import TOO_FEW as NO_INTERVAL
from evenrank.stats.intervals import mean_interval, resampled_interval
from evenrank.stats.paired import NO_PAIRS, ONE_PAIR, paired_t, sign_flip, wilcoxon
from evenrank.stats.pairs import finite_pairs, paired_differences
from evenrank.stats.pareto import pareto_front
from evenrank.stats.power import discriminative_power, discriminative_power_curve
from evenrank.stats.regression import least_squares
from evenrank.stats.seme import seme
from evenrank.stats.tukey import NO_QUERIES, conclusions, leaders, randomised_tukey_hsd

NONE, ONE = np.zeros(0), np.array([0.25])
REASONS = (OK, INFINITE, "nothing to count")


def scores(columns: np.ndarray, measures: tuple[str, ...] = ("nDCG@10", "AP")) -> Scores:
    """A system a column; NaN is undefined."""
    queries = tuple(f"q{row}" for row in range(len(columns)))
    return Scores(
        tuple(
            ScoresBlock(
                f"s{place}", parse_measure(measure), queries, ("",), columns[:, [place]].copy(),
                np.where(np.isnan(columns[:, [place]]), 2, 0).astype(np.int16), REASONS,
            )
            for measure in measures
            for place in range(columns.shape[1])
        )
    )  # fmt: skip


@pytest.mark.parametrize("test", [paired_t, wilcoxon, sign_flip])
def test_paired_tests(test) -> None:
    found = test(NONE)
    assert math.isnan(found.p_value)
    assert (found.n, found.reason) == (0, NO_PAIRS)
    found = test(ONE)
    if test is paired_t:
        assert math.isnan(found.p_value)
        assert found.reason == ONE_PAIR
    else:  # one sign of two: nothing is shown
        assert (found.p_value, found.reason) == (1.0, None)
    assert test([0.0]).p_value == 1.0


def test_effects_and_pairs() -> None:
    assert effect_sizes(NONE).reason == NO_PAIRS
    found = effect_sizes(ONE)
    assert (found.mean, found.rank_biserial, found.superiority, found.reason) == (0.25, 1.0, 1.0, ONE_PAIR)
    assert math.isnan(found.cohen_dz)
    assert win_tie_loss(NONE) == (0, 0, 0)
    assert win_tie_loss(ONE) == (1, 0, 0)
    assert len(finite_pairs(NONE, NONE).first) == len(paired_differences(NONE, NONE).values) == 0


@pytest.mark.parametrize("values", [NONE, ONE])
def test_intervals_and_bounds(values: np.ndarray) -> None:
    for found in (
        mean_interval(values, (0.0, 1.0)),
        mean_interval(values),
        resampled_interval(values, lambda v: v.min(axis=-1)),
        mean_difference(values, values, (0.0, 1.0)),
        bootstrap_difference(values, values),
        bootstrap_bound(values, values, side="lower"),
    ):
        assert math.isnan(found.low)
        assert found.reason == NO_INTERVAL
    assert np.isnan(bootstrap_interval(values, lambda v: v.mean(axis=-1))).all()
    bounds = mean_bounds(values)
    assert math.isnan(bounds.lower)
    assert bounds.reason == "fewer than 5 pairs of defined values"


@pytest.mark.parametrize("method", METHODS)
def test_correlations(method: str) -> None:
    for values in (NONE, ONE):
        found = METHODS[method](values, values)
        assert math.isnan(found.value)
        assert math.isnan(found.p_value)
        assert found.reason == found.interval.reason == TOO_FEW
    assert np.isnan(correlation_matrix(np.zeros((0, 3)), method).values).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_corrections(correction: str) -> None:
    assert correct([0.04], correction).tolist() == [0.04]
    assert np.isnan(correct([math.nan], correction)).all()


def test_tukey_of_no_query_and_of_one() -> None:
    found = randomised_tukey_hsd(np.zeros((0, 3)), trials=50)
    assert found.reason == NO_QUERIES
    assert np.isnan(found.p_values).all()
    assert conclusions(found) == ()
    assert leaders(conclusions(found)) == ()
    found = randomised_tukey_hsd([[0.1, 0.5, 0.9]], trials=200)
    assert (found.queries, found.reason) == (1, None)
    assert (found.p_values > 0.2).all()  # of six orders of three values, two have the largest range
    assert np.isnan(found.effect_sizes).all()


def test_tukey_leaves_out_undefined_and_infinite_values() -> None:
    draw = np.random.default_rng(0)
    values = draw.random((12, 3))
    spoilt = np.vstack([values, [[math.nan, 0.1, 0.2], [0.1, math.inf, 0.2], [math.nan] * 3]])
    found = randomised_tukey_hsd(spoilt, trials=200, seed=1)
    assert (found.queries, found.dropped) == (12, 3)
    assert (found.p_values == randomised_tukey_hsd(values, trials=200, seed=1).p_values).all()
    lost = values.copy()
    lost[:, 1] = math.nan  # a system without any value leaves no query
    assert randomised_tukey_hsd(lost, trials=50).reason == NO_QUERIES


def test_power_leaves_out_undefined_pairs() -> None:
    p = np.array([[1.0, 0.01, math.nan], [0.01, 1.0, 0.4], [math.nan, 0.4, 1.0]])
    assert discriminative_power_curve(p).tolist() == [0.4, 0.01]
    assert discriminative_power(p) == (1, 2, 0.5)
    nothing = discriminative_power(np.full((3, 3), math.nan))
    assert (nothing.significant, nothing.pairs) == (0, 0)
    assert math.isnan(nothing.share)
    assert len(discriminative_power_curve([[1.0]])) == 0


SHAPES = {
    "one query": np.array([[0.1, 0.5, 0.9]]),
    "no value": np.full((6, 3), math.nan),
    "one value": np.array([[0.1, 0.5, 0.9], *[[math.nan] * 3] * 5]),
}


@pytest.mark.parametrize("columns", SHAPES.values(), ids=SHAPES)
def test_comparisons_and_their_views(columns: np.ndarray) -> None:
    comparison = compare(scores(columns))
    for pair in comparison.pairs:
        assert math.isnan(pair.p_value)
        assert math.isnan(pair.low)
        assert pair.reason in (NO_PAIRS, ONE_PAIR)
        assert pair.verdict == ""
    text = repr(comparison)
    assert "nan" not in text.split()
    assert ("no interval" in text) == bool(np.isfinite(columns).any())
    for sheet in (*tukey_tables(comparison, trials=50), power_table(comparison, trials=50)):
        assert sheet.notes
    assert correlation_table(comparison).notes
    assert "undefined" in repr(comparison.scores) or "no interval" in repr(comparison.scores)


@pytest.mark.parametrize("columns", SHAPES.values(), ids=SHAPES)
def test_a_gate_has_too_few(columns: np.ndarray) -> None:
    gate = Gate((GateRule(parse_measure("nDCG@10"), allowed=0.1),))
    (verdict,) = apply_gate(scores(columns), gate, now="s1", baseline="s0").verdicts
    assert verdict.finding == "too few"
    assert verdict.failed


def test_scores_of_no_query() -> None:
    nothing = scores(np.zeros((0, 2)))
    for row in nothing.summary():
        assert math.isnan(row.value)
        assert math.isnan(row.low)
        assert (row.queries, row.interval_note) == (0, NO_INTERVAL)
    assert "undefined" in repr(nothing)
    for pair in compare(nothing).pairs:
        assert (pair.queries, pair.reason) == (0, NO_PAIRS)


@pytest.mark.parametrize("columns", [*SHAPES.values(), np.zeros((0, 3))], ids=[*SHAPES, "no query"])
def test_a_choice_among_runs_needs_queries(columns: np.ndarray) -> None:
    with pytest.raises(EvenrankError, match="quer"):
        select(scores(columns), relevance="nDCG@10", fairness="AP")


def test_lines_and_fronts_of_few_points() -> None:
    for count in (0, 1):
        assert least_squares(np.zeros(count), np.zeros(count), [0.0]) is None
    assert pareto_front(np.zeros((0, 2))).tolist() == []
    assert pareto_front([[0.1, 0.2]]).tolist() == [True]


def test_the_effect_of_few_trials() -> None:
    trial = {"posterior": [0.5], "prior": [0.1], "duo": [0.2]}
    (effect,) = seme(trial)
    assert (effect.size, effect.undefined) == (1, "fewer than four trials")
    assert np.isnan(effect[3:8]).all()
    with pytest.raises(EvenrankError, match="trials: there are none"):
        seme({name: [] for name in trial})


def test_the_origin_of_one_query() -> None:
    lists = Run.build(["q"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0])
    lexicon = Lexicon.build("sides", {"m": ["he"], "f": ["she"]})
    words = WordCounts.build(["a", "b", "c"], [9, 9, 9], [[4, 0], [0, 5], [2, 2]], lexicon)
    found = origin(lists, "NFaiRR@2 TExFAIR@2", words=words, background=lists, draws=5)
    assert len(found.steps()) == 6
    for step in found.steps():
        assert np.isfinite(step.value)
        assert math.isnan(step.low)
        assert (step.queries, step.interval_note, step.verdict) == (1, NO_INTERVAL, "")
        assert step.against is None or step.adds.reason == NO_INTERVAL
    with pytest.raises(EvenrankError, match="quer"):
        origin(lists, "NFaiRR@2", words=words, queries=[], draws=5)
