"""Intervals of values and differences: the rule against a slow oracle, its coverage, where there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np
import pytest
import scipy.stats
from drawn import made
from hypothesis import given
from hypothesis import strategies as st

from evenrank import ParameterError, compare
from evenrank.comparison import Pair

UNIT = (0.0, 1.0)
RANGES = {
    "nDCG@10": UNIT,
    "NDKL@10": (0.0, math.inf),
    "ARaB@10": (-math.inf, math.inf),
    "dGF@10": (-1.0, 1.0),
}
SHARES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0]), min_size=5, max_size=30)
SUM = "NumRet"  # over queries a sum, for which they are drawn again


def interval(values: Sequence[float], measure: str = "nDCG@10", **more) -> tuple[float, float]:
    return made({"a": {measure: values}}).interval(measure, **more)


def note(values: Sequence[float], measure: str = "nDCG@10") -> str:
    """What stands beside an interval that is missing or may be too narrow."""
    (row,) = made({"a": {measure: values}}).summary()
    return row.interval_note


def pair(system: Sequence[float], baseline: Sequence[float], measure: str = "nDCG@10", **more) -> Pair:
    (found,) = compare(made({"b": {measure: baseline}, "s": {measure: system}}), **more).pairs
    return found


def two_systems(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    difficulty = generator.random(n)
    return np.clip(difficulty + generator.normal(0.05, 0.05, n), 0, 1), difficulty


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


@given(SHARES)
@pytest.mark.parametrize("measure", RANGES)
def test_the_rule_is_the_oracles(measure: str, x: list[float]) -> None:
    low, high = RANGES[measure]
    scores = made({"a": {measure: x}})
    for level in (0.5, 0.95, 0.999):
        found = scores.interval(measure, level=level)
        if math.isnan(found[0]):
            assert len(set(x)) == 1
            assert math.inf in (-low, high)
        else:
            assert found == pytest.approx(oracle(x, low, high, level), abs=1e-9)


@given(SHARES, SHARES)
@pytest.mark.parametrize("measure", RANGES)
def test_a_difference_of_means_has_the_interval_of_the_mean_difference(measure, one, two) -> None:
    """It lies between what the smallest and the largest value there can be differ by."""
    n = min(len(one), len(two))
    low, high = RANGES[measure]
    found = pair(one[:n], two[:n], measure)
    gains = [round(a - b, 9) for a, b in zip(one, two, strict=False)]
    if math.isnan(found.low):
        assert len(set(gains)) == 1
        assert math.isinf(high)
    else:
        assert (found.low, found.high) == pytest.approx(oracle(gains, low - high, high - low, 0.95), abs=1e-8)
        assert found.low < found.high
    turned = pair(two[:n], one[:n], measure)
    assert (-turned.high, -turned.low) == pytest.approx((found.low, found.high), nan_ok=True)


@given(SHARES, st.floats(0.05, 0.99))
def test_an_interval_holds_the_mean_and_turns_with_the_values(x: list[float], level: float) -> None:
    low, high = interval(x, level=level)
    assert 0 <= low <= fmean(x) + 1e-12
    assert fmean(x) - 1e-12 <= high <= 1
    assert low < high
    turned = interval([1 - each for each in x], level=level)
    assert (1 - turned[1], 1 - turned[0]) == pytest.approx((low, high), abs=1e-9)
    assert interval(x[::-1], level=level) == pytest.approx((low, high))


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [5, 10, 1000])
def test_a_constant_sample_never_has_width_0(value: float, n: int) -> None:
    low, high = interval([value] * n)
    assert high - low > 0.5 / n
    assert low <= value <= high


def test_values_that_differ_in_the_last_bit_are_a_constant_sample() -> None:
    same = [0.3, 0.1 + 0.2] * 10
    assert interval(same) == pytest.approx(interval([0.3] * 20))
    assert math.isnan(interval(same, "ARaB@10")[0])
    assert note(same, "ARaB@10")


@pytest.mark.parametrize("measure", ["nDCG@10", "ARaB@10", SUM])
@pytest.mark.parametrize("n", range(5))
def test_fewer_than_five_values_have_none(measure: str, n: int) -> None:
    values = np.linspace(0, 1, n)
    assert all(map(math.isnan, interval(values, measure)))
    assert note(values, measure)
    found = pair(values, values / 2, measure)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isnan(found.difference) == (n == 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_values_beyond_the_bounds_move_them(sign: int) -> None:
    x = [0.5 + sign * each for each in (0.4, 0.7, 0.8, 0.3, 0.6, 0.5)]
    assert interval(x) == pytest.approx(oracle(x, min(0.0, *x), max(1.0, *x), 0.95), abs=1e-9)


def test_numbers_of_any_size() -> None:
    x = [1.0, 2.0, 4.0, 4.0, 9.0, 16.0]
    low, high = interval(x, "ARaB@10")
    for size in (1e-9, 1e9, 1e305):
        assert interval([each * size for each in x], "ARaB@10") == pytest.approx((low * size, high * size))
    assert not math.isnan(interval([1e308, -1e308, 1e308, 0.0, 5.0], "ARaB@10")[0])


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
@pytest.mark.parametrize("measure", ["nDCG@10", SUM])
def test_a_level_lies_between_0_and_1(measure: str, level: float) -> None:
    with pytest.raises(ParameterError, match="level"):
        interval([0.1, 0.2, 0.3, 0.4, 0.5], measure, level=level)


def test_of_too_few_queries_it_is_said_that_an_interval_may_be_too_narrow() -> None:
    for measure, enough in (("nDCG@10", 10), ("NDKL@10", 20), ("ARaB@10", 20)):
        assert note(np.linspace(0, 1, enough - 1), measure)
        assert note(np.linspace(0, 1, enough), measure) == ""
    assert note(np.linspace(0, 1, 9), "NDKL@10") == note(np.linspace(0, 1, 9)) != ""
    assert note(np.linspace(0, 1, 19), "NDKL@10") != note(np.linspace(0, 1, 9))


def resampled(x: np.ndarray, level: float, resamples: int, seed: int) -> list[float]:
    """Percentiles of sums, as far out as Student's t is (Hesterberg 2015)."""
    n = len(x)
    quantile = scipy.stats.t.ppf((1 + level) / 2, n - 1) * math.sqrt(n / (n - 1))
    tail = scipy.stats.norm.sf(quantile)
    draws = np.random.default_rng(seed).integers(0, n, (resamples, n))
    return np.quantile(x[draws].sum(axis=1), [tail, 1 - tail]).tolist()


@pytest.mark.parametrize("n", [5, 12, 300])
def test_what_is_no_mean_has_expanded_percentiles(n: int) -> None:
    first, second = two_systems(n)
    for level, draws, seed in ((0.95, 2000, 0), (0.8, 500, 3)):
        found = interval(first, SUM, level=level, resamples=draws, seed=seed)
        assert found == pytest.approx(resampled(first, level, draws, seed))
    for seed in (0, 3):
        found = pair(first, second, SUM, seed=seed)
        assert (found.low, found.high) == pytest.approx(resampled(first - second, 0.95, 2000, seed))
        assert found.difference == pytest.approx((first - second).sum())


def test_an_interval_needs_a_draw() -> None:
    low, high = interval([0.1, 0.2, 0.3, 0.4, 0.5], SUM, resamples=1)
    assert math.isnan(low)  # which cannot differ from another one
    assert math.isnan(high)
    with pytest.raises(ParameterError, match=r"resamples.*0"):
        interval([0.1, 0.2, 0.3, 0.4, 0.5], SUM, resamples=0)


def test_more_queries_than_are_drawn_at_once() -> None:
    """A chunk holds two million numbers, and those of 2,000 queries in 2,000 draws are four million."""
    x = np.random.default_rng(1).random(2000)
    low, high = interval(x, SUM)
    assert (low, high) == pytest.approx(resampled(x, 0.95, 2000, 0))


def test_the_extreme_of_a_difference_is_drawn_with_both_values_of_a_query() -> None:
    first, second = np.arange(10.0), np.arange(10.0) ** 2
    found = pair(first, second, "MaxSkew(over='extreme')@10")
    assert found.difference == 9 - 81
    assert found.low == -72
    assert found.high <= 4 - 16  # a draw of ten queries without any above 4 is rare


def test_queries_are_drawn_in_pairs() -> None:
    """Difficult queries are difficult for both: apart, the interval would be six times as wide."""
    found = pair(*two_systems(50), SUM)
    assert found.high - found.low < 0.05 * 50


def test_what_drawing_again_never_changes_has_no_interval() -> None:
    assert math.isnan(interval(np.full(30, 0.4), SUM)[0])
    assert note(np.full(30, 0.4), SUM)
    found = pair(np.full(30, 0.4), np.full(30, 0.4), SUM)
    assert math.isnan(found.low)


def test_identical_systems_have_no_interval_of_width_0() -> None:
    first, _ = two_systems(30)
    found = pair(first, first)
    assert found.low < found.difference == 0 < found.high
    assert math.isnan(pair(first, first, "ARaB@10").low)


def test_spoilt_pairs_are_left_out_of_the_difference() -> None:
    first, second = two_systems(20)
    for measure in ("nDCG@10", SUM):
        spoilt = pair(np.append(first, [math.nan, math.inf]), np.append(second, [1.0, 1.0]), measure)
        clean = pair(first, second, measure)
        assert (spoilt.difference, spoilt.low, spoilt.high) == (clean.difference, clean.low, clean.high)
        assert (spoilt.dropped, spoilt.infinite) == (1, 1)


def samples(shape: str, repeats: int, n: int) -> tuple[np.ndarray, float]:
    draw = np.random.default_rng(5)
    size = (repeats, n)
    if shape == "normal":
        return draw.normal(0.5, 0.1, size), 0.5
    if shape == "mostly 1":
        return np.where(draw.random(size) < 0.85, 1.0, draw.beta(2, 2, size)), 0.925
    if shape == "skewed":
        return draw.beta(0.5, 3, size), 1 / 7
    if shape == "mostly 0":
        return np.where(draw.random(size) < 0.6, 0.0, draw.random(size)), 0.2
    return draw.lognormal(0, 1, size), math.exp(0.5)


@pytest.mark.parametrize(
    ("shape", "n", "least"),
    [(s, n, 0.93) for s in ("normal", "mostly 1", "skewed", "mostly 0") for n in (10, 30)]
    + [("lognormal", 20, 0.92)],
)
def test_intervals_cover_what_they_say(shape: str, n: int, least: float) -> None:
    """The seed is fixed; the tables of ``benchmarks/intervals.md`` have ten times as many samples.

    NFaiRR is one of the measures: it has a bound where no list leaves its background.
    """
    values, truth = samples(shape, 1000, n)
    measure = {"lognormal": "ARaB@10", "mostly 1": "NFaiRR@10"}.get(shape, "nDCG@10")
    scores = made({f"r{place}": {measure: row} for place, row in enumerate(values)})
    found = [(row.low, row.high) for row in scores.summary()]
    held = sum(low <= truth <= high for low, high in found)
    assert held / len(found) >= least - 0.01
    if shape == "normal" and n >= 20:
        half = scipy.stats.t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / math.sqrt(n)
        assert fmean(high - low for low, high in found) <= 1.3 * 2 * half.mean()


@pytest.mark.parametrize("n", [6, 10, 30])
def test_a_difference_without_effect_seldom_excludes_0(n: int) -> None:
    """Percentiles of resampled means excluded it in 17, 12 and 9 of 100 samples; the seed is fixed."""
    draw = np.random.default_rng(n)
    values = np.where(draw.random((1000, n)) < 0.6, 1.0, draw.beta(2, 2, (1000, n)))
    runs = {f"r{place}": {"nDCG@10": gains} for place, gains in enumerate(values[::2] - values[1::2])}
    pairs = compare(made({"base": {"nDCG@10": [0.0] * n}} | runs)).pairs
    assert sum(one.low > 0 or one.high < 0 for one in pairs) / len(pairs) <= 0.05
