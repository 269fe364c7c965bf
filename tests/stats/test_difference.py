"""Bootstrap intervals of differences: queries stay together, and the interval covers what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank.errors import DataError, ParameterError
from evenrank.stats.bootstrap import bootstrap_interval
from evenrank.stats.difference import (
    bootstrap_bound,
    bootstrap_difference,
    mean,
    mean_difference,
    resampled_difference,
)
from evenrank.stats.intervals import CONSTANT, TOO_FEW, UNMOVED, expanded_level, mean_interval
from evenrank.stats.pairs import paired_differences


def two_systems(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    difficulty = generator.random(n)
    return difficulty + generator.normal(0.05, 0.05, n), difficulty


def test_of_means_it_is_the_interval_of_the_mean_difference() -> None:
    first, second = two_systems(40)
    found = bootstrap_difference(first, second, level=0.9, resamples=500, seed=3)
    expected = bootstrap_interval(first - second, mean, level=0.9, resamples=500, seed=3)
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.difference == pytest.approx((first - second).mean())
    assert (found.n, found.undefined, found.infinite, found.reason) == (40, 0, 0, None)


def test_queries_are_drawn_in_pairs() -> None:
    """Difficult queries are difficult for both: apart, the interval would be six times as wide."""
    first, second = two_systems(50)
    found = bootstrap_difference(first, second)
    assert found.high - found.low < 0.05
    assert bootstrap_difference(first, first)[:3] == (0.0, 0.0, 0.0)


def test_other_aggregates() -> None:
    first, second = np.arange(10.0), np.arange(10.0) ** 2

    def largest(values: np.ndarray) -> np.ndarray:
        return values.max(axis=-1)

    found = bootstrap_difference(first, second, largest)
    assert found.difference == 9 - 81
    assert found.low == -72
    assert found.high <= 4 - 16  # a draw of ten queries without any above 4 is rare


def test_more_queries_than_are_drawn_at_once() -> None:
    """A single draw of so many is larger than the blocks in which draws are made."""
    many = np.ones(2_200_000)
    found = bootstrap_difference(many, many - 1, lambda values: values.max(axis=-1), resamples=2)
    assert (found.difference, found.low, found.high, found.n) == (1, 1, 1, len(many))


def test_a_bound_is_an_end_of_a_wider_tail() -> None:
    first, second = two_systems(30)
    both = bootstrap_difference(first, second, level=0.9, seed=5)
    lower = bootstrap_bound(first, second, side="lower", level=0.95, seed=5)
    upper = bootstrap_bound(first, second, side="upper", level=0.95, seed=5)
    assert (lower.low, lower.high) == (pytest.approx(both.low), math.inf)
    assert (upper.low, upper.high) == (-math.inf, pytest.approx(both.high))
    assert lower.difference == upper.difference == both.difference


@settings(max_examples=examples(30))
@given(st.integers(5, 40), st.integers(0, 1000))
def test_changing_sides_turns_the_interval(n: int, seed: int) -> None:
    first, second = two_systems(n, seed)
    one = bootstrap_difference(first, second, resamples=200)
    two = bootstrap_difference(second, first, resamples=200)
    assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
    assert one.low <= one.high


def test_spoilt_pairs_are_dropped_and_counted() -> None:
    first, second = two_systems(20)
    spoilt = bootstrap_difference(np.append(first, [math.nan, math.inf]), np.append(second, [1.0, 1.0]))
    assert spoilt[:4] == bootstrap_difference(first, second)[:4]
    assert (spoilt.undefined, spoilt.infinite) == (1, 1)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_few_pairs_have_no_interval(n: int) -> None:
    first, second = two_systems(n)
    for found in (
        mean_difference(first, second),
        mean_difference(first, second, (0.0, 1.0)),
        resampled_difference(first, second, mean),
        bootstrap_difference(first, second),
        bootstrap_bound(first, second, side="lower"),
        bootstrap_bound(first, second, side="upper"),
    ):
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert found.reason == TOO_FEW
        assert math.isnan(found.difference) == (n == 0)
        assert found.n == n


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, math.inf)])
def test_means_have_the_interval_of_their_differences(bounds: tuple[float, float]) -> None:
    first, second = two_systems(30)
    reach = bounds[1] - bounds[0]
    found = mean_difference(first, second, bounds, level=0.9)
    expected = mean_interval(paired_differences(first, second).values, (-reach, reach), level=0.9)
    assert (found.low, found.high, found.reason) == expected
    assert found.difference == pytest.approx(np.mean(first) - np.mean(second))
    turned = mean_difference(second, first, bounds, level=0.9)
    assert (-turned.high, -turned.low) == pytest.approx((found.low, found.high))


def test_identical_systems_have_no_interval_of_width_0() -> None:
    first, _ = two_systems(30)
    found = mean_difference(first, first, (0.0, 1.0))
    assert found.low < found.difference == 0 < found.high
    assert mean_difference(first, first).reason == CONSTANT
    assert resampled_difference(first, first, lambda drawn: drawn.max(axis=-1)).reason == UNMOVED


def test_what_is_no_mean_has_expanded_percentiles() -> None:
    first, second = two_systems(12)

    def largest(drawn: np.ndarray) -> np.ndarray:
        return np.asarray(drawn.max(axis=-1))

    found = resampled_difference(first, second, largest, seed=3)
    assert found == bootstrap_difference(first, second, largest, level=expanded_level(0.95, 12), seed=3)


@pytest.mark.parametrize("n", [6, 10, 30])
def test_a_difference_without_effect_seldom_excludes_0(n: int) -> None:
    """Percentiles of resampled means excluded it in 17, 12 and 9 of 100 samples; the seed is fixed."""
    draw = np.random.default_rng(n)
    excluded = 0
    for _ in range(500):
        first, second = np.where(draw.random((2, n)) < 0.6, 1.0, draw.beta(2, 2, (2, n)))
        found = mean_difference(first, second, (0.0, 1.0))
        excluded += found.low > 0 or found.high < 0
    assert excluded / 500 <= 0.05


def test_five_pairs_have_an_interval() -> None:
    found = bootstrap_difference(*two_systems(5))
    assert found.reason is None
    assert found.low < found.difference < found.high


def test_the_seed_decides() -> None:
    first, second = two_systems(20)
    assert bootstrap_difference(first, second, seed=1) == bootstrap_difference(first, second, seed=1)
    assert bootstrap_difference(first, second, seed=1) != bootstrap_difference(first, second, seed=2)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"level of a bound must be between 0\.5 and 1"):
        bootstrap_bound([1.0], [1.0], side="lower", level=0.05)
    with pytest.raises(ParameterError, match="side must be lower or upper, got 'left'"):
        bootstrap_bound([1.0], [1.0], side="left")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="level must be between 0 and 1"):
        bootstrap_difference([1.0], [1.0], level=95)
    first, second = two_systems(9)
    for level in (0, 0.0, 1, 1.0, math.nan):  # an interval of nothing or of everything
        with pytest.raises(ParameterError, match="level must be between 0 and 1"):
            bootstrap_difference(first, second, level=level)
    with pytest.raises(DataError, match="two lists of one length"):
        bootstrap_difference([1.0], [1.0, 2.0])


@pytest.mark.slow
def test_coverage() -> None:
    """95% intervals of 60 queries hold the true difference about 95 times in 100."""
    held, repeats = 0, 2400
    for seed in range(repeats):
        first, second = two_systems(60, seed)
        found = bootstrap_difference(first, second, resamples=500, seed=seed)
        held += found.low <= 0.05 <= found.high
    # what percentiles of 60 values lack, and six standard errors: a chance of 2 in a thousand million
    assert abs(held / repeats - 0.95) <= 0.01 + 6 * math.sqrt(0.95 * 0.05 / repeats)
