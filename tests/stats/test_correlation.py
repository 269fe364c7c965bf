"""Correlations of a comparison against scipy and counting; published intervals; what is undefined."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from correlated import correlated
from drawn import made
from hypothesis import given
from hypothesis import strategies as st

from evenrank import ParameterError, compare

METHODS = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
}
ALL = pytest.mark.parametrize("method", METHODS)
POINTS = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=25)

# Tables 1 (21 runs) and 2 (18 runs) of gfr-2022: tau, low, high
TABLE_1 = """0.438 0.154 0.655  0.667 0.455 0.807  0.552 0.298 0.733  0.829 0.702 0.905  0.648 0.428 0.795
0.771 0.610 0.871  0.886 0.796 0.938  0.610 0.375 0.771  0.790 0.639 0.882  0.886 0.796 0.938
0.838 0.716 0.910  0.867 0.764 0.927  0.724 0.538 0.843  0.867 0.764 0.927  0.800 0.655 0.888"""
TABLE_2 = """0.843 0.709 0.918  0.791 0.622 0.890  0.908 0.824 0.953  0.882 0.777 0.939  0.895 0.801 0.946
0.895 0.801 0.946  0.935 0.874 0.967  0.935 0.874 0.967  0.869 0.754 0.932  0.882 0.777 0.939
0.908 0.824 0.953  0.817 0.665 0.904  0.974 0.949 0.987  0.882 0.777 0.939  0.856 0.731 0.925"""


def points(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    first = generator.normal(size=n)
    return first, first + generator.normal(size=n)


def order_with(tau: float, n: int) -> list[int]:
    """Numbers of which as many pairs stand the other way round as the nearest tau has."""
    left = round((1 - tau) / 2 * n * (n - 1) / 2)
    rest, order = list(range(n)), []
    for place in range(n):
        skip = min(left, n - 1 - place)
        order.append(rest.pop(skip))
        left -= skip
    return order


def assert_interval(tau: float, n: int, low: float, high: float) -> None:
    """Tau is printed with three digits: from the fraction the last digit may differ."""
    found = correlated(range(n), order_with(tau, n), "kendall")
    assert found.value == pytest.approx(tau, abs=6e-4)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1.6e-3)
    half = 1.959964 * math.sqrt(0.437 / (n - 4))
    ends = [math.tanh(math.atanh(found.value) + side * half) for side in (-1, 1)]
    assert [found.low, found.high] == pytest.approx(ends, abs=1e-7)


@pytest.mark.parametrize(("table", "n"), [(TABLE_1, 21), (TABLE_2, 18)], ids=["Touché", "INTENT"])
def test_published_intervals(table: str, n: int) -> None:
    numbers = [float(word) for word in table.split()]
    assert len(numbers) == 45
    for at in range(0, 45, 3):
        assert_interval(numbers[at], n, *numbers[at + 1 : at + 3])


def test_golden_intervals(shared: Path) -> None:
    lines = (shared / "golden/kendall_ci.tsv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    assert len(rows) == 3
    for row in rows:
        assert_interval(float(row["tau"]), int(row["n"]), float(row["low"]), float(row["high"]))


@ALL
@pytest.mark.parametrize("n", [3, 4, 10, 60])
def test_values_and_p_are_those_of_scipy(method: str, n: int) -> None:
    first, second = points(n)
    expected = METHODS[method](first, second)
    found = correlated(first, second, method)
    assert found.value == pytest.approx(expected.statistic, rel=1e-9)
    if n > (12 if method == "spearman" else 8):  # below, ours is exact
        assert found.p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-12)
    assert (found.n, found.reason) == (n, None)


def test_the_interval_of_pearson_is_that_of_scipy() -> None:
    first, second = points(40)
    expected = scipy.stats.pearsonr(first, second).confidence_interval(0.95)
    found = correlated(first, second, "pearson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_the_interval_of_spearman_is_that_of_bonett_and_wright() -> None:
    found = correlated(*points(40), "spearman")
    half = scipy.stats.norm.ppf(0.975) * math.sqrt((1 + found.value**2 / 2) / 37)
    centre = math.atanh(found.value)
    assert (found.low, found.high) == pytest.approx((math.tanh(centre - half), math.tanh(centre + half)))


def tau_slowly(pairs: list[tuple[int, int]]) -> float | None:
    """tau-b by counting."""
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in itertools.combinations(pairs, 2)]
    untied = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    return sum(x * y for x, y in signs) / math.sqrt(untied[0] * untied[1]) if all(untied) else None


@given(POINTS)
def test_with_ties(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    found, expected = correlated(first, second, "kendall"), tau_slowly(pairs)
    if expected is None:
        assert math.isnan(found.value)
        assert found.reason
    else:
        assert found.value == pytest.approx(expected)
        rho = scipy.stats.spearmanr(first, second).statistic
        assert correlated(first, second, "spearman").value == pytest.approx(rho)


@ALL
@given(POINTS)
def test_properties_of_every_correlation(method: str, pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found, other = correlated(first, second, method), correlated(second, first, method)
    turned = correlated(-first, second, method)
    scaled = correlated(first * 3 + 100, second / 7 - 1, method)
    if found.reason is not None:
        assert all(math.isnan(one.value) and one.reason for one in (found, other, turned, scaled))
        return
    assert -1 <= found.value <= 1
    assert 0 <= found.p <= 1
    assert found.value == pytest.approx(other.value)
    assert found.value == pytest.approx(-turned.value)
    assert found.value == pytest.approx(scaled.value)
    if math.isnan(found.low):
        assert abs(found.value) == 1 or found.n <= 4
    else:
        assert -1 < found.low < found.value < found.high < 1
        assert found.low == pytest.approx(-turned.high)


@ALL
def test_ties_are_seen_through_rounding(method: str) -> None:
    second = [1.0, 2.0, 3.0, 4.0, 0.0]
    found, snapped = (correlated([own, 0.3, 0.5, 0.7, 0.1], second, method) for own in (0.1 + 0.2, 0.3))
    assert found.value == pytest.approx(snapped.value)
    large = [1e6, 1e6 + 1e-8, 1e6 + 1e-3, 2e6, 3e6]
    if method != "pearson":
        assert correlated(large, second, method).value == pytest.approx(
            correlated([1, 1, 2, 3, 4], second, method).value
        )


@ALL
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1.0], [2.0]),
        ([1.0, math.nan, 3.0], [1.0, 2.0, math.inf]),
        ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]),
        ([1.0, 2.0, 3.0], [0.3, 0.1 + 0.2, 0.3]),
        ([1.0, 1.0], [2.0, 2.0]),
    ],
    ids=["one", "spoilt", "first", "second", "both"],
)
def test_undefined_for_a_reason(method: str, first, second) -> None:
    found = correlated(first, second, method)
    assert all(map(math.isnan, (found.value, found.p, found.low, found.high)))
    assert found.reason


def test_the_reason_names_the_measure_that_does_not_vary() -> None:
    both = {"AP": [0.5, 0.5, 0.5], "RR": [0.1, 0.2, 0.3]}
    matrix, *_ = compare(made({"a": both, "b": both})).correlations(over="queries", system="a")
    assert matrix.reasons[0][1] != matrix.reasons[1][0]
    assert matrix.reasons[0][0]
    assert matrix.reasons[1][1] is None


@ALL
def test_perfect_agreement_has_no_interval(method: str) -> None:
    first = np.linspace(0, 1, 12)
    for sign in (1, -1):
        found = correlated(first, 0.1 + sign * first / 3, method)
        assert found.value == sign
        assert found.p < 1e-6
        assert math.isnan(found.low)
        assert math.isnan(found.high)


@pytest.mark.parametrize(("method", "fewest"), [("kendall", 5), ("pearson", 4), ("spearman", 4)])
def test_an_interval_needs_more_points_than_it_loses(method: str, fewest: int) -> None:
    second = [1, 3, 2, 5, 4]
    for n in range(3, 6):
        assert math.isnan(correlated(range(n), second[:n], method).low) == (n < fewest)


@ALL
def test_spoilt_points_are_dropped_and_counted(method: str) -> None:
    first, second = points(20)
    spoilt = np.append(first, [math.nan, 1.0, math.inf]), np.append(second, [1.0, math.nan, 0.0])
    found, plain = correlated(*spoilt, method), correlated(first, second, method)
    assert (found.value, found.n) == (plain.value, 20)


@ALL
@pytest.mark.parametrize("n", [6, 20])
def test_huge_and_tiny_numbers(n: int, method: str) -> None:
    first, second = points(n)
    expected = correlated(first, second, method)
    found = correlated(first * 1e200, second * 1e-8, method)
    assert (found.value, found.p) == pytest.approx((expected.value, expected.p))


@ALL
def test_a_matrix_holds_every_pair(method: str) -> None:
    table = np.random.default_rng(1).random((15, 4))
    table[3, 2] = math.nan
    table[:, 3] = 0.5
    own = dict(zip(("AP", "RR", "P@5", "R@5"), table.T, strict=True))
    found, *_ = compare(made({"a": own, "b": own})).correlations(method, over="queries", system="a")
    for one, two in itertools.combinations(range(4), 2):
        alone = correlated(table[:, one], table[:, two], method)
        assert found.values[one, two] == pytest.approx(alone.value, nan_ok=True)
        assert found.p_values[one, two] == pytest.approx(alone.p, nan_ok=True)
        assert found.low[one, two] == pytest.approx(alone.low, nan_ok=True)
        assert found.high[one, two] == pytest.approx(alone.high, nan_ok=True)
        assert found.counts[one, two] == alone.n
        assert found.reasons[one][two] == alone.reason
    assert (found.counts[0, 1], found.counts[0, 2], found.values[0, 0]) == (15, 14, 1.0)


def test_a_method_that_there_is_not_is_named() -> None:
    with pytest.raises(ParameterError, match=r"'tau'.*kendall"):
        correlated([1.0, 2.0], [1.0, 2.0], "tau")
    own = made({name: {"AP": [0.1, 0.2], "RR": [0.1, 0.3]} for name in "ab"})
    with pytest.raises(ParameterError, match=r"queries.*'documents'"):
        compare(own).correlations(over="documents")
