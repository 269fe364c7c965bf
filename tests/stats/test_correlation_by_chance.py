"""How likely a correlation is by chance: against every order of one side, scipy, and published values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from correlated import correlated

METHODS = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
}
ALL = pytest.mark.parametrize("method", METHODS)


@ALL
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
    sizes = [abs(METHODS[method](first, order).statistic) for order in itertools.permutations(second)]
    observed = abs(METHODS[method](first, second).statistic)
    found = correlated(first, second, method)
    assert found.p == pytest.approx(np.mean([size >= observed - 1e-9 for size in sizes]))
    assert found.least_p == pytest.approx(np.mean([size >= max(sizes) - 1e-9 for size in sizes]))
    assert found.p_method == "exact"


@pytest.mark.parametrize(
    ("method", "n", "name"),
    [
        ("pearson", 8, "exact"),
        ("pearson", 9, "t"),
        ("spearman", 12, "exact"),
        ("spearman", 13, "t"),
        ("kendall", 9, "exact"),
        ("kendall", 33, "exact"),
        ("kendall", 34, "normal"),
    ],
)
def test_where_p_comes_from(method: str, n: int, name: str) -> None:
    draw = np.random.default_rng(n)
    assert correlated(draw.random(n), draw.random(n), method).p_method == name


@pytest.mark.parametrize("ties", [False, True])
def test_ranks_of_nine_points_agree_with_all_orders(ties: bool) -> None:
    """Above those of which ours tries every order; the coefficient is linear in the sum."""
    draw = np.random.default_rng(5)
    first, second = (
        scipy.stats.rankdata(draw.integers(0, 6, 9) if ties else draw.random(9)) for _ in range(2)
    )
    orders = np.array(list(itertools.permutations(range(9))))
    sizes = np.abs((second[orders] - second.mean()) @ (first - first.mean()))
    found = correlated(first, second, "spearman")
    observed = abs((second - second.mean()) @ (first - first.mean()))
    assert found.p == pytest.approx((sizes >= observed - 1e-9).mean(), rel=1e-12)
    assert found.least_p == pytest.approx((sizes >= sizes.max() - 1e-9).mean(), rel=1e-12)


@pytest.mark.parametrize(("n", "critical"), [(10, 0.648), (12, 0.587)])
def test_published_critical_values_of_spearman(n: int, critical: float) -> None:
    """The smallest coefficients with p <= .05 of 10 and 12 points (Zar 1972)."""
    first = np.arange(1.0, n + 1)
    draw = np.random.default_rng(n)
    found = [correlated(first, draw.permutation(first), "spearman") for _ in range(200)]
    assert min(abs(one.value) for one in found if one.p <= 0.05) >= critical - 5e-4
    assert max(abs(one.value) for one in found if one.p > 0.05) < critical - 5e-4


def test_no_correlation_is_0_and_not_a_rounding_error() -> None:
    found = correlated([1, 2, 3, 4, 5, 6, 7], [1, 7, 6, 4, 2, 3, 5], "spearman")
    assert (found.value, found.p) == (0.0, 1.0)


@pytest.mark.parametrize("n", [2, 3, 4, 8, 9, 10, 20, 33])
def test_kendall_without_ties_is_scipys(n: int) -> None:
    chance = np.random.default_rng(n)
    first = np.arange(n, dtype=float)
    nearly = first.copy()
    nearly[:2] = nearly[1::-1]
    for second in (first, -first, nearly, *(chance.permutation(first) for _ in range(8))):
        theirs = scipy.stats.kendalltau(first, second, method="exact")
        found = correlated(first, second, "kendall")
        assert found.value == pytest.approx(theirs.statistic, abs=1e-15)
        assert found.p == pytest.approx(theirs.pvalue, rel=1e-12)
        if n > 8:
            assert found.least_p == pytest.approx(2 / math.factorial(n))


@ALL
def test_two_points_prove_nothing(method: str) -> None:
    found = correlated([1.0, 2.0], [5.0, 3.0], method)
    assert (found.value, found.p, found.reason) == (-1.0, 1.0, None)
    assert math.isnan(found.low)
