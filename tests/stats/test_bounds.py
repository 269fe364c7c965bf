"""Bounds of a mean difference, as a gate has them: against a plain loop, and at the edges."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.stats
from drawn import made
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import ParameterError, parse_measure
from evenrank.comparison.gate import Gate, GateRule, apply_gate


def bounds(
    d: Sequence[float], measure: str = "nDCG@10", *, resamples: int = 10_000, seed: int = 0, **rule: Any
) -> tuple[float, float]:
    """Of these differences of a run from its baseline."""
    scores = made({"baseline": {measure: [0.0] * len(d)}, "now": {measure: d}})
    gate = Gate((GateRule(parse_measure(measure), **rule),), resamples=resamples, seed=seed)
    (found,) = apply_gate(scores, gate).verdicts
    return found.low, found.high


def many_zeros(n: int, seed: int = 0) -> np.ndarray:
    """Most queries do not change, a few gain, some lose: skewed, and within -1 and 1."""
    generator = np.random.default_rng(seed)
    kind = generator.random(n)
    return np.where(kind < 0.5, 0.0, np.where(kind < 0.8, -generator.beta(1, 4, n), generator.beta(1, 4, n)))


def bounds_slowly(d: list[float], alpha: float, resamples: int, seed: int) -> tuple[float, float]:
    """The three bounds of each side as a textbook has them, and the outermost."""
    n, m, s = len(d), statistics.fmean(d), statistics.stdev(d) / math.sqrt(len(d))
    draws = [[d[i] for i in row] for row in np.random.default_rng(seed).integers(0, n, (resamples, n))]
    means = sorted(map(statistics.fmean, draws))
    ratios = sorted((statistics.fmean(x) - m) / (statistics.stdev(x) / math.sqrt(n)) for x in draws)
    cut, t = math.floor(alpha * (resamples - 1)), scipy.stats.t(n - 1).ppf(1 - alpha)
    lower = min(means[cut], m - s * ratios[-1 - cut], m - s * t)
    return lower, max(means[-1 - cut], m - s * ratios[cut], m + s * t)


@pytest.mark.parametrize("alpha", [0.05, 0.02])
@pytest.mark.parametrize("n", [8, 20, 60])
def test_against_a_plain_loop(n: int, alpha: float) -> None:
    d = many_zeros(n, seed=n) + np.random.default_rng(n).normal(0, 0.01, n)  # no two draws are all equal
    expected = bounds_slowly(d.tolist(), alpha, 1000, 3)
    assert bounds(d, alpha=alpha, resamples=1000, seed=3) == pytest.approx(expected)


def test_skew_pushes_the_bound_out() -> None:
    """One large gain among small losses: there may be more of them, so the upper bound is far."""
    d = np.array([-0.02] * 10 + [-0.03] * 10 + [-0.01] * 9 + [0.5])
    low, high = bounds(d)
    student = scipy.stats.t(29).ppf(0.95) * d.std(ddof=1) / math.sqrt(30)
    assert high > d.mean() + 2 * student
    assert low == pytest.approx(d.mean() - student)


def test_where_a_sample_may_miss_every_change_there_is_no_bound() -> None:
    d = np.zeros(30)
    d[0] = -0.4
    low, high = bounds(d)
    assert low == -math.inf  # a third of all samples miss it
    assert math.isfinite(high)


@pytest.mark.parametrize("value", [0.0, -0.1, 1 / 3])
def test_equal_values_have_the_bounds_of_an_interval_or_none(value: float) -> None:
    """nDCG says how far other queries may lie, and NDKL does not."""
    assert bounds([value] * 7, "NDKL@10") == (-math.inf, math.inf)
    low, high = bounds([value] * 7)
    assert (low, high) == pytest.approx(
        made({"a": {"dGF@10": [value] * 7}}).interval("dGF@10", level=0.9)  # from -1 to 1, as differences
    )
    assert low < value < high


@settings(max_examples=examples(25))
@given(st.integers(5, 40), st.integers(0, 1000))
def test_changing_sides_turns_the_bounds(n: int, seed: int) -> None:
    d = many_zeros(n, seed)
    (one_low, one_high), (two_low, two_high) = bounds(d, resamples=400), bounds(-d, resamples=400)
    assert (one_low, one_high) == pytest.approx((-two_high, -two_low))
    assert one_low <= d.mean() <= one_high


def test_a_smaller_alpha_is_further_out() -> None:
    d = many_zeros(50)
    wide, narrow = bounds(d, alpha=0.01), bounds(d, alpha=0.1)
    assert wide[0] < narrow[0] < d.mean() < narrow[1] < wide[1]


@pytest.mark.parametrize("n", [0, 1, 4])
def test_few_values_have_no_bounds(n: int) -> None:
    assert all(map(math.isnan, bounds([0.1] * n)))


def test_bounds_need_resamples_beyond_them() -> None:
    with pytest.raises(ParameterError, match=r"alpha 0\.001.*10,000.*500"):
        bounds([0.1] * 9, alpha=0.001, resamples=500)
    with pytest.raises(ParameterError, match=r"alpha.*0\.95"):
        bounds([0.1] * 9, alpha=0.95)


def test_the_seed_decides() -> None:
    d = many_zeros(40)
    assert bounds(d, seed=1) == bounds(d, seed=1) != bounds(d, seed=2)
