"""Bounds of a mean: against a plain loop, at the edges, and how often they hold."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
import scipy.stats
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank.errors import DataError, ParameterError
from evenrank.stats.bounds import mean_bounds
from evenrank.stats.difference import bootstrap_bound
from evenrank.stats.intervals import mean_interval


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
    found = mean_bounds(d, alpha=alpha, resamples=1000, seed=3)
    assert (found.lower, found.upper) == pytest.approx(bounds_slowly(d.tolist(), alpha, 1000, 3))
    assert found.mean == pytest.approx(d.mean())
    assert (found.n, found.reason) == (n, None)


def test_never_inside_the_percentile_bound_or_students() -> None:
    for seed in range(20):
        d = many_zeros(25, seed)
        found = mean_bounds(d, resamples=2000, seed=seed)
        zeros = np.zeros(len(d))
        inner = bootstrap_bound(d, zeros, side="lower", resamples=2000, seed=seed)
        student = scipy.stats.t(24).ppf(0.95) * d.std(ddof=1) / 5
        assert found.lower <= min(inner.low, d.mean() - student) + 1e-12
        assert found.upper >= d.mean() + student - 1e-12


def test_skew_pushes_the_bound_out() -> None:
    """One large gain among small losses: there may be more of them, so the upper bound is far."""
    d = np.array([-0.02] * 10 + [-0.03] * 10 + [-0.01] * 9 + [0.5])
    found = mean_bounds(d)
    student = scipy.stats.t(29).ppf(0.95) * d.std(ddof=1) / math.sqrt(30)
    assert found.upper > d.mean() + 2 * student
    assert found.lower == pytest.approx(d.mean() - student)


def test_where_a_sample_may_miss_every_change_there_is_no_bound() -> None:
    d = np.zeros(30)
    d[0] = -0.4
    found = mean_bounds(d)
    assert found.lower == -math.inf  # a third of all samples miss it
    assert math.isfinite(found.upper)


@pytest.mark.parametrize("value", [0.0, -0.1, 1 / 3])
def test_equal_values_have_bounds_of_some_width(value: float) -> None:
    found = mean_bounds([value] * 7)
    assert (found.lower, found.upper) == (-math.inf, math.inf)
    found = mean_bounds([value] * 7, (-1.0, 1.0))
    expected = mean_interval([value] * 7, (-1.0, 1.0), level=0.9)
    assert (found.lower, found.upper) == (expected.low, expected.high)
    assert found.lower < value < found.upper


@settings(max_examples=examples(25))
@given(st.integers(5, 40), st.integers(0, 1000))
def test_changing_sides_turns_the_bounds(n: int, seed: int) -> None:
    d = many_zeros(n, seed)
    one, two = mean_bounds(d, resamples=400), mean_bounds(-d, resamples=400)
    assert (one.lower, one.upper) == pytest.approx((-two.upper, -two.lower))
    assert one.lower <= one.mean <= one.upper


def test_a_smaller_alpha_is_further_out() -> None:
    d = many_zeros(50)
    wide, narrow = mean_bounds(d, alpha=0.01), mean_bounds(d, alpha=0.1)
    assert wide.lower < narrow.lower < d.mean() < narrow.upper < wide.upper


@pytest.mark.parametrize("n", [0, 1, 4])
def test_few_values_have_no_bounds(n: int) -> None:
    found = mean_bounds([0.1] * n)
    assert math.isnan(found.lower)
    assert math.isnan(found.upper)
    assert found.reason == "fewer than 5 pairs of defined values"


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"alpha must be a number > 0 and < 0\.5, got 0\.95"):
        mean_bounds([0.1] * 9, alpha=0.95)
    with pytest.raises(ParameterError, match=r"alpha 0\.001 needs at least 10,000 resamples, got 500"):
        mean_bounds([0.1] * 9, alpha=0.001, resamples=500)
    with pytest.raises(DataError, match="finite numbers"):
        mean_bounds([0.1, math.nan])
    with pytest.raises(DataError, match="one list"):
        mean_bounds([[0.1]])


def test_the_seed_decides_and_the_input_is_untouched() -> None:
    d = many_zeros(40)
    before = d.copy()
    assert mean_bounds(d, seed=1) == mean_bounds(d, seed=1)
    assert mean_bounds(d, seed=1) != mean_bounds(d, seed=2)
    np.testing.assert_array_equal(d, before)
