"""Errors by clusters: against the definition written out with whole matrices, and by their coverage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evenrank.stats.clusters import clustered_coefficient


def root_inverse(matrix: Any) -> Any:
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(values**-0.5) @ vectors.T


def one_way(y: Any, x: Any, column: int, groups: Any) -> tuple[float, float]:
    """CR2 and its degrees of freedom, as Pustejovsky and Tipton (2018) print them, with N by N matrices."""
    bread = np.linalg.inv(x.T @ x)
    hat = x @ bread @ x.T
    residual = y - hat @ y
    meat, columns = 0.0, []
    for group in np.unique(groups):
        own = groups == group
        adjusted = root_inverse(np.eye(own.sum()) - hat[np.ix_(own, own)])
        weights = adjusted @ x[own] @ bread[:, column]
        meat += float(weights @ residual[own]) ** 2
        columns.append((np.eye(len(y)) - hat)[:, own] @ weights)
    products = np.stack(columns) @ np.stack(columns).T
    return meat, np.trace(products) ** 2 / (products**2).sum()


def unbalanced(seed: int) -> tuple[Any, Any, Any, Any]:
    generator = np.random.default_rng(seed)
    people, questions = np.repeat(np.arange(9), 5), np.tile(np.arange(5), 9)
    kept = generator.random(45) < 0.8
    x = np.column_stack([np.ones(45), generator.normal(size=45), generator.choice([-1.0, 0, 1], 45)])
    y = x @ [0.1, 0.7, 0.3] + generator.normal(size=9)[people] + generator.normal(size=45)
    return y[kept], x[kept], people[kept], questions[kept]


@pytest.mark.parametrize("seed", range(5))
def test_one_kind_of_clusters_is_as_defined(seed: int) -> None:
    y, x, people, questions = unbalanced(seed)
    for groups in (people, questions):
        variance, freedom = one_way(y, x, 2, groups)
        found = clustered_coefficient(y, x, 2, [groups])
        assert found.coefficient == pytest.approx(np.linalg.lstsq(x, y, rcond=None)[0][2], abs=1e-12)
        assert found.error == pytest.approx(math.sqrt(variance), rel=1e-10)
        assert found.freedom == pytest.approx(freedom, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_two_kinds_add_up_without_their_intersection(seed: int) -> None:
    y, x, people, questions = unbalanced(seed)
    (one, one_freedom), (two, two_freedom) = (one_way(y, x, 2, g) for g in (people, questions))
    both, _ = one_way(y, x, 2, np.arange(len(y)))
    found = clustered_coefficient(y, x, 2, [people, questions])
    assert found.error == pytest.approx(math.sqrt(max(one + two - both, one, two)), rel=1e-10)
    assert found.freedom == pytest.approx(min(one_freedom, two_freedom), rel=1e-9)
    assert found.clusters == (len(np.unique(people)), len(np.unique(questions)))
    from scipy import stats

    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.coefficient) / found.error, found.freedom))
    half = stats.t.ppf(0.975, found.freedom) * found.error
    assert (found.low, found.high) == pytest.approx((found.coefficient - half, found.coefficient + half))


@pytest.mark.needs("statsmodels")
@pytest.mark.slow
def test_clusters_of_one_trial_are_what_statsmodels_calls_hc2() -> None:
    from statsmodels import api as models

    y, x, _, _ = unbalanced(1)
    found = clustered_coefficient(y, x, 1, [np.arange(len(y))])
    assert found.error == pytest.approx(models.OLS(y, x).fit(cov_type="HC2").bse[1], rel=1e-10)


def test_names_and_order_of_clusters_do_not_matter() -> None:
    y, x, people, questions = unbalanced(2)
    order = np.random.default_rng(3).permutation(len(y))
    names = np.array([f"p{9 - one}" for one in people])
    first = clustered_coefficient(y, x, 2, [people, questions])
    other = clustered_coefficient(y[order], x[order], 2, [questions[order], names[order]])
    assert other[:6] == pytest.approx(first[:6], rel=1e-9)


@pytest.mark.parametrize(
    ("x", "groups", "why"),
    [
        (np.ones((6, 2)), [0, 0, 1, 1, 2, 2], "does not vary"),
        (np.column_stack([np.ones(6), np.arange(6)]), [0] * 6, "one cluster"),
        (np.ones((1, 2)), [0], "1 trials for 2 coefficients"),
    ],
)
def test_undefined_has_a_reason(x: Any, groups: list[int], why: str) -> None:
    found = clustered_coefficient(np.arange(float(len(x))), x, 1, [groups])
    assert math.isnan(found.coefficient)
    assert why in str(found.undefined)
