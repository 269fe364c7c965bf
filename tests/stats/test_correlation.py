"""Correlations against scipy and against counting pairs; the published intervals; what is undefined."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from evenrank.errors import DataError, ParameterError, UnknownNameError
from evenrank.stats.correlation import (
    METHODS,
    correlation_matrix,
    kendall,
    kendall_interval,
    pearson,
    spearman,
)
from evenrank.stats.kendall_recursion import without_ties

ALL = pytest.mark.parametrize("method", METHODS)
POINTS = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=25)

# Tables 1 (21 runs) and 2 (18 runs) of gfr-2022: tau, low, high
TABLE_1 = """0.438 0.154 0.655  0.667 0.455 0.807  0.552 0.298 0.733  0.829 0.702 0.905  0.648 0.428 0.795
0.771 0.610 0.871  0.886 0.796 0.938  0.610 0.375 0.771  0.790 0.639 0.882  0.886 0.796 0.938
0.838 0.716 0.910  0.867 0.764 0.927  0.724 0.538 0.843  0.867 0.764 0.927  0.800 0.655 0.888"""
TABLE_2 = """0.843 0.709 0.918  0.791 0.622 0.890  0.908 0.824 0.953  0.882 0.777 0.939  0.895 0.801 0.946
0.895 0.801 0.946  0.935 0.874 0.967  0.935 0.874 0.967  0.869 0.754 0.932  0.882 0.777 0.939
0.908 0.824 0.953  0.817 0.665 0.904  0.974 0.949 0.987  0.882 0.777 0.939  0.856 0.731 0.925"""


def published(table: str) -> list[tuple[float, ...]]:
    numbers = [float(word) for word in table.split()]
    return [tuple(numbers[at : at + 3]) for at in range(0, len(numbers), 3)]


def points(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    first = generator.normal(size=n)
    return first, first + generator.normal(size=n)


def test_golden_intervals(shared: Path) -> None:
    lines = (shared / "golden/kendall_ci.tsv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    assert len(rows) == 3
    for row in rows:
        found = kendall_interval(float(row["tau"]), int(row["n"]))
        assert (f"{found.low:.3f}", f"{found.high:.3f}") == (row["low"], row["high"])
        assert found.reason is None


@pytest.mark.parametrize(("table", "n"), [(TABLE_1, 21), (TABLE_2, 18)], ids=["Touché", "INTENT"])
def test_published_intervals(table: str, n: int) -> None:
    assert len(published(table)) == 15
    for tau, low, high in published(table):
        found = kendall_interval(
            tau, n
        )  # from tau as printed; from the fraction some differ in the last digit
        assert (round(found.low, 3), round(found.high, 3)) == (low, high)


def test_the_interval_of_figure_4() -> None:
    found = kendall_interval(0.867, 49)
    assert (found.low, found.high) == pytest.approx((0.810, 0.908), abs=1e-3)


@pytest.mark.parametrize("n", [3, 4, 10, 60])
def test_values_and_p_are_those_of_scipy(n: int) -> None:
    first, second = points(n)
    for ours, theirs in (
        (pearson, scipy.stats.pearsonr),
        (spearman, scipy.stats.spearmanr),
        (kendall, scipy.stats.kendalltau),
    ):
        expected = theirs(first, second)
        found = ours(first, second)
        assert found.value == pytest.approx(expected.statistic, rel=1e-9)
        if n > (12 if ours is spearman else 8):  # below, ours is exact
            assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-12)
        assert (found.n, found.dropped, found.reason) == (n, 0, None)


def test_the_interval_of_pearson_is_that_of_scipy() -> None:
    first, second = points(40)
    expected = scipy.stats.pearsonr(first, second).confidence_interval(0.9)
    found = pearson(first, second, level=0.9).interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_the_interval_of_spearman_is_that_of_bonett_and_wright() -> None:
    first, second = points(40)
    found = spearman(first, second)
    half = scipy.stats.norm.ppf(0.975) * math.sqrt((1 + found.value**2 / 2) / 37)
    centre = math.atanh(found.value)
    ends = (math.tanh(centre - half), math.tanh(centre + half))
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)


def tau_slowly(pairs: list[tuple[int, int]]) -> float | None:
    """tau-b by counting."""
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in itertools.combinations(pairs, 2)]
    untied = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    return sum(x * y for x, y in signs) / math.sqrt(untied[0] * untied[1]) if all(untied) else None


@given(POINTS)
def test_kendall_is_tau_b(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    found, expected = kendall(first, second), tau_slowly(pairs)
    if expected is None:
        assert math.isnan(found.value)
        assert found.reason is not None
    else:
        assert found.value == pytest.approx(expected)


@given(POINTS)
def test_spearman_with_ties_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    if len(set(first)) > 1 and len(set(second)) > 1:
        assert spearman(first, second).value == pytest.approx(scipy.stats.spearmanr(first, second).statistic)


@ALL
@given(POINTS)
def test_properties_of_every_correlation(method: str, pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found = METHODS[method](first, second)
    other = METHODS[method](second, first)
    turned = METHODS[method](-first, second)
    scaled = METHODS[method](first * 3 + 100, second / 7 - 1)
    if found.reason is not None:
        assert all(math.isnan(one.value) and one.reason for one in (found, other, turned, scaled))
        return
    assert -1 <= found.value <= 1
    assert 0 <= found.p_value <= 1
    assert found.value == pytest.approx(other.value)
    assert found.value == pytest.approx(-turned.value)
    assert found.value == pytest.approx(scaled.value)
    if found.interval.reason is None:
        assert -1 < found.interval.low < found.value < found.interval.high < 1
        assert found.interval.low == pytest.approx(-turned.interval.high)
    else:
        assert math.isnan(found.interval.low)
        assert abs(found.value) == 1 or found.n <= 4


@ALL
def test_ties_are_seen_through_rounding(method: str) -> None:
    first = [0.1 + 0.2, 0.3, 0.5, 0.7, 0.1]
    second = [1.0, 2.0, 3.0, 4.0, 0.0]
    snapped = [0.3, 0.3, 0.5, 0.7, 0.1]
    assert METHODS[method](first, second).value == pytest.approx(METHODS[method](snapped, second).value)


@ALL
@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([], [], "fewer than two points"),
        ([1.0], [2.0], "fewer than two points"),
        ([1.0, math.nan, 3.0], [1.0, 2.0, math.inf], "fewer than two points"),
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "all values of the first are equal"),
        ([1.0, 2.0, 3.0], [0.3, 0.1 + 0.2, 0.3], "all values of the second are equal"),
        ([1.0, 1.0], [2.0, 2.0], "all values of both are equal"),
    ],
    ids=["empty", "one", "spoilt", "first", "second", "both"],
)
def test_undefined_for_a_reason(method: str, first, second, reason: str) -> None:
    found = METHODS[method](first, second)
    assert math.isnan(found.value)
    assert math.isnan(found.p_value)
    assert math.isnan(found.interval.low)
    assert math.isnan(found.interval.high)
    assert found.reason == found.interval.reason == reason


@ALL
def test_two_points_prove_nothing(method: str) -> None:
    found = METHODS[method]([1.0, 2.0], [5.0, 3.0])
    assert (found.value, found.p_value) == (-1.0, 1.0)
    assert found.interval.reason == "the coefficient is 1 or -1"


@ALL
def test_perfect_agreement_has_no_interval(method: str) -> None:
    first = np.linspace(0, 1, 12)
    found = METHODS[method](first, 0.1 + first / 3)
    assert found.value == 1.0
    assert found.p_value < 1e-6
    assert found.interval.reason == "the coefficient is 1 or -1"
    assert math.isnan(found.interval.high)


@pytest.mark.parametrize(("tau", "n"), [(0.5, 4), (0.5, 0), (1.0, 50), (-1.0, 50)])
def test_kendall_intervals_that_there_are_not(tau: float, n: int) -> None:
    found = kendall_interval(tau, n)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.reason == (
        "the coefficient is 1 or -1" if abs(tau) == 1 else "an interval needs more than 4 points"
    )
    assert kendall_interval(0.5, 5).reason is None


@ALL
def test_spoilt_points_are_dropped_and_counted(method: str) -> None:
    first, second = points(20)
    spoilt_first = np.append(first, [math.nan, 1.0, math.inf])
    spoilt_second = np.append(second, [1.0, math.nan, 0.0])
    found, plain = METHODS[method](spoilt_first, spoilt_second), METHODS[method](first, second)
    assert found.value == plain.value
    assert (found.n, found.dropped) == (20, 3)


@ALL
def test_huge_and_tiny_numbers(method: str) -> None:
    first, second = points(20)
    expected = METHODS[method](first, second).value
    assert METHODS[method](first * 1e200, second * 1e-8).value == pytest.approx(expected)


@ALL
def test_a_matrix_holds_every_pair(method: str) -> None:
    table = np.random.default_rng(1).random((15, 4))
    table[3, 2] = math.nan
    table[:, 3] = 0.5
    found = correlation_matrix(table, method)
    assert found.method == method
    for one, two in itertools.product(range(4), repeat=2):
        alone = METHODS[method](table[:, one], table[:, two])
        assert found.values[one, two] == pytest.approx(alone.value, nan_ok=True)
        assert found.p_values[one, two] == pytest.approx(alone.p_value, nan_ok=True)
        assert found.low[one, two] == pytest.approx(alone.interval.low, nan_ok=True)
        assert found.high[one, two] == pytest.approx(alone.interval.high, nan_ok=True)
        assert found.counts[one, two] == alone.n
        assert found.reasons[one][two] == alone.reason
    assert found.counts[0, 1] == 15
    assert found.counts[0, 2] == 14
    assert found.values[0, 0] == 1.0
    assert found.reasons[0][3] == "all values of the second are equal"
    assert found.reasons[3][0] == "all values of the first are equal"


def test_the_level_reaches_the_matrix() -> None:
    table = np.random.default_rng(1).random((15, 2))
    wide, narrow = (correlation_matrix(table, level=level) for level in (0.99, 0.5))
    assert wide.low[0, 1] < narrow.low[0, 1] < narrow.high[0, 1] < wide.high[0, 1]


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no correlation 'tau'; there are kendall, pearson, spearman"):
        correlation_matrix([[1.0]], "tau")
    with pytest.raises(DataError, match=r"points by measures, got shape \(2,\)"):
        correlation_matrix([1.0, 2.0])
    with pytest.raises(ParameterError, match="level must be between 0 and 1"):
        pearson([1.0], [1.0], level=95)
    with pytest.raises(ParameterError, match="level must be between 0 and 1"):
        kendall_interval(0.5, 20, level=1)
    with pytest.raises(ParameterError, match="tau must lie between -1 and 1, got nan"):
        kendall_interval(math.nan, 20)


COEFFICIENTS = {
    "pearson": lambda x, y: scipy.stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: scipy.stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: scipy.stats.kendalltau(x, y).statistic,
}


@pytest.mark.parametrize("method", COEFFICIENTS)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([1, 2, 3, 4], [0.1, 0.5, 0.4, 2.0]),
        ([1, 1, 2, 3, 3], [5, 1, 1, 1, 7]),
        ([0, 0, 0, 0, 1], [3, 1, 4, 1, 5]),
    ],
)
def test_few_points_have_an_exact_p(method: str, first: list[float], second: list[float]) -> None:
    """Against every order of one side, with scipy's coefficients."""
    coefficient = COEFFICIENTS[method]
    sizes = [abs(coefficient(first, order)) for order in itertools.permutations(second)]
    observed = abs(coefficient(first, second))
    found = METHODS[method](first, second)
    assert found.p_value == pytest.approx(np.mean([size >= observed - 1e-9 for size in sizes]))
    assert found.least_p == pytest.approx(np.mean([size >= max(sizes) - 1e-9 for size in sizes]))
    assert found.p_method == "exact"


@pytest.mark.parametrize("method", METHODS)
def test_three_points_cannot_be_significant(method: str) -> None:
    found = METHODS[method]([1, 2, 3], [2, 4, 6.5])
    assert found.p_value == found.least_p == pytest.approx(1 / 3)
    assert found.cannot_be_significant(0.05)
    assert not METHODS[method]([1, 2, 3, 4, 5], [1, 2, 3, 4, 5.5]).cannot_be_significant(0.05)


@pytest.mark.parametrize(
    ("method", "n", "name"),
    [
        ("pearson", 8, "exact"),
        ("pearson", 9, "t"),
        ("spearman", 12, "exact"),
        ("spearman", 13, "t"),
        ("kendall", 9, "exact"),
        ("kendall", 40, "normal"),
    ],
)
def test_where_p_comes_from(method: str, n: int, name: str) -> None:
    draw = np.random.default_rng(n)
    assert METHODS[method](draw.random(n), draw.random(n)).p_method == name


@pytest.mark.parametrize("ties", [False, True])
def test_sums_of_products_agree_with_all_orders(ties: bool) -> None:
    """Nine points, above those of which ours tries every order; the coefficient is linear in the sum."""
    draw = np.random.default_rng(5)
    first, second = (
        scipy.stats.rankdata(draw.integers(0, 6, 9) if ties else draw.random(9)) for _ in range(2)
    )
    orders = np.array(list(itertools.permutations(range(9))))
    sizes = np.abs((second[orders] - second.mean()) @ (first - first.mean()))
    found = spearman(first, second)
    observed = abs((second - second.mean()) @ (first - first.mean()))
    assert found.p_value == pytest.approx((sizes >= observed - 1e-9).mean(), rel=1e-12)
    assert found.least_p == pytest.approx((sizes >= sizes.max() - 1e-9).mean(), rel=1e-12)


def test_published_critical_values_of_spearman() -> None:
    """The smallest coefficients with p <= .05 of 10 and 12 points (Zar 1972): .648 and .587."""
    for n, critical in ((10, 0.648), (12, 0.587)):
        first = np.arange(1.0, n + 1)
        draw = np.random.default_rng(n)
        found = [spearman(first, draw.permutation(first)) for _ in range(400)]
        assert min(abs(one.value) for one in found if one.p_value <= 0.05) >= critical - 5e-4
        assert max(abs(one.value) for one in found if one.p_value > 0.05) < critical - 5e-4


def test_no_correlation_is_0_and_not_a_rounding_error() -> None:
    found = spearman([1, 2, 3, 4, 5, 6, 7], [1, 7, 6, 4, 2, 3, 5])
    assert (found.value, found.p_value) == (0.0, 1.0)


def test_kendalls_recursion_agrees_with_all_orders() -> None:
    draw = np.random.default_rng(0)
    for n in (4, 6, 8):
        first, second = draw.random(n), draw.random(n)
        expected = scipy.stats.kendalltau(first, second, method="exact").pvalue
        assert kendall(first, second).p_value == pytest.approx(expected)


def test_the_matrix_says_where_p_comes_from() -> None:
    found = correlation_matrix([[1, 2, 5.0], [2, 3, 4.0], [3, 4, 9.0]], "spearman")
    assert found.p_methods[0][1] == "exact"
    assert found.least_p[0, 1] == pytest.approx(1 / 3)


@pytest.mark.parametrize("n", [2, 3, 4, 9, 10, 20, 33])
def test_kendall_without_ties_is_scipys_to_the_last_digit(n: int) -> None:
    chance = np.random.default_rng(n)
    first = np.arange(n, dtype=float)
    nearly = first.copy()
    nearly[:2] = nearly[1::-1]
    for second in (first, -first, nearly, *(chance.permutation(first) for _ in range(20))):
        theirs = scipy.stats.kendalltau(first, second, method="exact")
        tau, p_value = without_ties(first, second)
        assert (min(max(tau, -1.0), 1.0), p_value) == (theirs.statistic, theirs.pvalue)
