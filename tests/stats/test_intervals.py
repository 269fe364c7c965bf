"""Intervals of a mean: the rule against a slow oracle, what it covers, and where there is none."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from evenrank.errors import DataError, ParameterError
from evenrank.stats.intervals import (
    CONSTANT,
    FEW_BOUNDED,
    FEW_UNBOUNDED,
    TOO_FEW,
    UNBOUNDED,
    UNMOVED,
    ConfidenceInterval,
    expanded_level,
    interval_note,
    mean_interval,
    resampled_interval,
)
from evenrank.stats.student import student_quantile, student_tails

UNIT = (0.0, 1.0)
SHARES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0]), min_size=5, max_size=30)


def oracle(x: list[float], low: float, high: float, level: float) -> tuple[float, float]:
    """The rule as it is written, in lists and with scipy's quantile."""
    m, n = fmean(x), len(x)
    equal = (max(x.count(each) for each in x) - 1) / (n - 1)
    ends = []
    for outermost, bound in ((min(x), low), (max(x), high)):
        if math.isinf(bound):
            ends.append(m + 3 * (outermost - m))
        else:
            near = m + 2.5 * (outermost - m)
            near = max(near, low) if bound == low else min(near, high)
            ends.append(near + equal * (bound - near))
    weights, values = [1.0] * n + [0.25, 0.25], [*x, *ends]
    total = sum(weights)
    centre = sum(w * v for w, v in zip(weights, values, strict=True)) / total
    spread = sum(w * (v - centre) ** 2 for w, v in zip(weights, values, strict=True)) / (total - 1)
    half = scipy.stats.t.ppf((1 + level) / 2, total - 1) * math.sqrt(spread / total)
    return max(low, min(centre - half, m)), min(high, max(centre + half, m))


@given(SHARES, st.sampled_from([UNIT, (0.0, math.inf), (-math.inf, 1.0), UNBOUNDED, (-1.0, 3.0)]))
def test_the_rule_is_the_oracles(x: list[float], bounds: tuple[float, float]) -> None:
    for level in (0.5, 0.95, 0.999):
        found = mean_interval(x, bounds, level=level)
        if found.reason is not None:
            assert len(set(x)) == 1
            assert math.inf in map(abs, bounds)
            assert found.reason == CONSTANT
        else:
            assert found[:2] == pytest.approx(oracle(x, *bounds, level), abs=1e-9)


@given(SHARES, st.floats(0.05, 0.99))
def test_an_interval_holds_the_mean_and_turns_with_the_values(x: list[float], level: float) -> None:
    low, high, _ = mean_interval(x, UNIT, level=level)
    assert 0 <= low <= fmean(x) + 1e-12
    assert fmean(x) - 1e-12 <= high <= 1
    assert low < high
    turned = mean_interval([1 - each for each in x], UNIT, level=level)
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((low, high), abs=1e-9)
    assert mean_interval(x[::-1], UNIT, level=level) == pytest.approx((low, high, None))


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [5, 10, 1000])
def test_a_constant_sample_never_has_width_0(value: float, n: int) -> None:
    low, high, reason = mean_interval([value] * n, UNIT)
    assert reason is None
    assert high - low > 0.5 / n
    assert low <= value <= high


def test_values_that_differ_in_the_last_bit_are_a_constant_sample() -> None:
    same = [0.3, 0.1 + 0.2] * 10
    assert mean_interval(same, UNIT)[:2] == pytest.approx(mean_interval([0.3] * 20, UNIT)[:2])
    assert mean_interval(same).reason == CONSTANT


@pytest.mark.parametrize("n", range(5))
def test_fewer_than_five_values_have_none(n: int) -> None:
    for bounds in (UNIT, UNBOUNDED):
        low, high, reason = mean_interval(np.linspace(0, 1, n), bounds)
        assert math.isnan(low)
        assert math.isnan(high)
        assert reason == TOO_FEW
    assert resampled_interval(np.linspace(0, 1, n), lambda v: v.min(axis=-1)).reason == TOO_FEW


def test_values_beyond_the_bounds_move_them() -> None:
    low, high, _ = mean_interval([0.9, 1.2, 1.3, 0.8, 1.1, 1.0], UNIT)
    assert low < 1.05 < high <= 1.3


def test_numbers_of_any_size() -> None:
    x = [1.0, 2.0, 4.0, 4.0, 9.0, 16.0]
    expected = mean_interval(x)
    for size in (1e-300, 1e-9, 1e9, 1e305):
        found = mean_interval([each * size for each in x])
        if size > 1e-12:  # below, they are equal by the rule for ties
            assert found[:2] == pytest.approx((expected.low * size, expected.high * size))
    assert mean_interval([1e308, -1e308, 1e308, 0.0, 5.0], (-math.inf, math.inf)).reason is None


def test_what_is_no_sample_is_refused() -> None:
    with pytest.raises(ParameterError, match="level must be between 0 and 1"):
        mean_interval([1.0] * 9, UNIT, level=1)
    for bad in ([1.0, math.nan, 1.0, 1.0, 1.0], [[1.0] * 5]):
        with pytest.raises(DataError, match="one list of finite numbers"):
            mean_interval(bad, UNIT)


def test_notes() -> None:
    there = ConfidenceInterval(0.0, 1.0)
    assert interval_note(there, 9, UNIT) == FEW_BOUNDED
    assert interval_note(there, 10, UNIT) == ""
    assert interval_note(there, 19, (0.0, math.inf)) == FEW_UNBOUNDED
    assert interval_note(there, 20, UNBOUNDED) == ""
    assert interval_note(ConfidenceInterval(math.nan, math.nan, TOO_FEW), 3, UNIT) == TOO_FEW


def test_an_aggregate_that_never_moves_has_none() -> None:
    assert resampled_interval(np.full(30, 0.4), lambda v: v.max(axis=-1)).reason == UNMOVED


def test_expanded_percentiles_are_those_of_students_t() -> None:
    for n in (5, 12, 300):
        quantile = scipy.stats.t.ppf(0.975, n - 1) * math.sqrt(n / (n - 1))
        assert expanded_level(0.95, n) == pytest.approx(2 * scipy.stats.norm.cdf(quantile) - 1)


@pytest.mark.parametrize("degrees", [0.5, 1.0, 4.5, 9.5, 30.0, 199.5, 1e5])
def test_quantiles_of_students_t(degrees: float) -> None:
    for p in (0.0005, 0.025, 0.3, 0.55, 0.9, 0.975, 0.9995):
        assert student_quantile(p, degrees) == pytest.approx(scipy.stats.t.ppf(p, degrees), rel=1e-7)


@pytest.mark.parametrize("degrees", [1e-3, 0.5, 1.0, 9.0, 1e5, 1e12])
def test_the_middle_of_students_t_is_0(degrees: float) -> None:
    assert student_quantile(0.5, degrees) == 0
    for t in (1e-150, 1e-161, 1e-162, 1e-163, 5e-324):
        assert student_tails(t, degrees) == (0.5, 0.5)


@pytest.mark.parametrize("degrees", [0.5, 1.0, 9.0, 39.0, 41.0, 999.0, 1e5])
def test_tails_of_students_t(degrees: float) -> None:
    for t in (0.0, 1e-3, 0.7, 1.96, 4.0, 30.0):
        below, above = student_tails(-t, degrees)
        assert below == pytest.approx(scipy.stats.t.cdf(-t, degrees), rel=1e-11)
        assert above == pytest.approx(scipy.stats.t.cdf(t, degrees), rel=1e-11)
        assert student_tails(t, degrees) == (above, below)
    assert student_tails(math.inf, degrees) == (1, 0)


def samples(shape: str, repeats: int, n: int) -> tuple[np.ndarray, float, tuple[float, float]]:
    draw = np.random.default_rng(5)
    size = (repeats, n)
    if shape == "normal":
        return draw.normal(0.5, 0.1, size), 0.5, UNIT
    if shape == "mostly 1":
        return np.where(draw.random(size) < 0.85, 1.0, draw.beta(2, 2, size)), 0.925, UNIT
    if shape == "skewed":
        return draw.beta(0.5, 3, size), 1 / 7, UNIT
    if shape == "mostly 0":
        return np.where(draw.random(size) < 0.6, 0.0, draw.random(size)), 0.2, UNIT
    return draw.lognormal(0, 1, size), math.exp(0.5), UNBOUNDED


@pytest.mark.parametrize(
    ("shape", "n", "least"),
    [(s, n, 0.93) for s in ("normal", "mostly 1", "skewed", "mostly 0") for n in (10, 30)]
    + [("lognormal", 20, 0.92)],
)
def test_intervals_cover_what_they_say(shape: str, n: int, least: float) -> None:
    """The seed is fixed; the tables of ``benchmarks/intervals.md`` have ten times as many samples."""
    values, truth, bounds = samples(shape, 1000, n)
    found = [mean_interval(row, bounds) for row in values]
    held = sum(one.low <= truth <= one.high for one in found)
    assert held / len(found) >= least - 0.01
    if shape == "normal" and n >= 20:
        half = scipy.stats.t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / math.sqrt(n)
        assert fmean(one.high - one.low for one in found) <= 1.3 * 2 * half.mean()


def test_neutrality_has_the_interval_of_a_bounded_measure_where_no_list_leaves_its_background() -> None:
    """With 85% of its values exactly 1 it would cover far too seldom as an unbounded one."""
    from evenrank import parse_measure

    measure = parse_measure("NFaiRR@10")
    generator = np.random.default_rng(20)
    covered = 0
    for _ in range(2000):
        values = np.where(generator.random(10) < 0.85, 1.0, generator.random(10))
        low, high, _ = mean_interval(values, measure.range_of(values))
        covered += low <= 0.85 + 0.15 / 2 <= high
    assert covered / 2000 > 0.93 - 6 * np.sqrt(0.93 * 0.07 / 2000)
    assert measure.range_of(np.array([0.5, 1.0 + 1e-12])) == (0.0, 1.0 + 1e-12)
    assert measure.range_of(np.array([0.5, 1.2])) == (0.0, np.inf)
    low, high, reason = mean_interval(np.ones(12), measure.range_of(np.ones(12)))
    assert 0 < low < high
    assert reason is None
