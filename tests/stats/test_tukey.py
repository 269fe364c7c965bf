"""Randomised Tukey HSD of a comparison: against all shuffles there are, under the null, and at the edges."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
import scipy.stats
from drawn import made
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank import ParameterError, compare
from evenrank.comparison import Comparison


def random_values(queries: int, systems: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((queries, systems))


def compared(values, measure: str = "nDCG@10", **more) -> Comparison:
    """Queries by systems, which are called s0, s1, .."""
    columns = np.asarray(values, dtype=float).T
    return compare(made({f"s{place}": {measure: column} for place, column in enumerate(columns)}), **more)


def tukey(values, trials: int, seed: int = 0):
    return compared(values, seed=seed).tukey("nDCG@10", trials=trials)


def above(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.triu_indices(len(matrix), 1)]


def exact_p_values(values: np.ndarray) -> np.ndarray:
    """Over all orders of all rows."""
    means = values.mean(axis=0)
    apart = np.abs(means[:, None] - means)
    count, total = np.zeros_like(apart), 0
    for orders in itertools.product(*(itertools.permutations(row) for row in values.tolist())):
        shuffled = np.mean(orders, axis=0)
        count += np.ptp(shuffled) >= apart - 1e-12
        total += 1
    return count / total


@pytest.mark.parametrize("seed", range(3))
def test_p_is_the_share_of_all_shuffles(seed: int) -> None:
    """60,000 trials of 12 values are more than are drawn at once."""
    values = np.random.default_rng(seed).integers(0, 5, (4, 3)) / 4 + [0.0, 0.2, 0.6]
    exact = exact_p_values(values)
    trials = 60_000
    found = tukey(values, trials).p_values
    error = np.sqrt(exact * (1 - exact) / trials)
    assert (np.abs(found - exact) <= 6 * error + 2 / trials).all()


def test_every_order_is_as_likely() -> None:
    """The second query says which places are the last and the first, the first query who stands there."""
    values = np.array([[0.0, 1.0, 3.0, 7.0], [0.0, 100.0, 1000.0, 10000.0]])
    exact, trials = exact_p_values(values), 30_000
    found = tukey(values, trials, seed=11).p_values
    assert (np.abs(found - exact) <= 6 * np.sqrt(exact * (1 - exact) / trials) + 2 / trials).all()


def test_later_chunks_draw_anew() -> None:
    """A chunk holds 43,690 trials of 12 values. Two that are alike would count each range twice."""
    values = random_values(4, 3)
    once, twice = (
        above(tukey(values, 43_690 * times).p_values) * (43_690 * times + 1) - 1 for times in (1, 2)
    )
    assert (np.round(twice) != 2 * np.round(once)).any()


def test_two_systems_are_the_sign_flip_test() -> None:
    values = random_values(9, 2, seed=4)
    values[:, 1] += 0.3
    comparison = compared(values, test="permutation")
    exact = comparison.pairs[0].p_value
    found = comparison.tukey("nDCG@10", trials=40_000).p_values[0, 1]
    assert abs(found - exact) < 6 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-4


def test_p_is_a_count_over_the_trials() -> None:
    count = tukey(random_values(8, 4), 500, 9).p_values * 501
    np.testing.assert_allclose(count, np.round(count), atol=1e-9)
    assert count.min() >= 1


@pytest.mark.parametrize(("scale", "offset"), [(0.1, 0.7), (1 / 3, 0.0), (1e6 / 3, 1e8 / 3)])
def test_means_that_differ_by_rounding_are_equal(scale: float, offset: float) -> None:
    """Whole numbers have many equal means, found exactly; the same numbers scaled must have as many."""
    whole = np.random.default_rng(2).integers(0, 4, (7, 4)).astype(float)
    exact, found = (tukey(values, 2000).p_values for values in (whole, whole * scale + offset))
    np.testing.assert_array_equal(found, exact)


def test_all_in_one_matrix() -> None:
    values = random_values(12, 5)
    hsd = tukey(values, 200)
    assert (hsd.p_values == hsd.p_values.T).all()
    assert (np.diag(hsd.p_values) == 1).all()
    assert (hsd.differences == -hsd.differences.T).all()
    np.testing.assert_allclose(hsd.means, values.mean(axis=0))
    np.testing.assert_allclose(hsd.differences[1, 3], values[:, 1].mean() - values[:, 3].mean())
    assert (hsd.queries, hsd.dropped, hsd.trials, hsd.seed, hsd.reason) == (12, 0, 200, 0, None)


def test_effect_sizes_divide_by_the_residual_deviation() -> None:
    values = random_values(10, 3)
    queries, systems = values.shape
    total = 0.0
    for q in range(queries):
        for s in range(systems):
            total += (values[q, s] - values[q].mean() - values[:, s].mean() + values.mean()) ** 2
    deviation = math.sqrt(total / ((queries - 1) * (systems - 1)))
    hsd = tukey(values, 10)
    np.testing.assert_allclose(hsd.effect_sizes, hsd.differences / deviation, rtol=1e-9)


def test_more_than_26_systems() -> None:
    values = random_values(40, 30) / 10
    values[:, 29] += 0.5
    values[:, 7] = values[:, 3]
    comparison = compared(values)
    hsd = comparison.tukey("nDCG@10", trials=1000)
    assert hsd.p_values.shape == (30, 30)
    assert hsd.p_values[3, 7] == 1.0
    best, beaten = comparison.conclusions("nDCG@10", trials=1000)[0]
    assert best == "s29"
    assert sorted(beaten) == sorted(f"s{place}" for place in range(29))


def test_identical_systems() -> None:
    comparison = compared(np.full((6, 4), 0.5))
    hsd = comparison.tukey("nDCG@10", trials=100)
    assert (hsd.p_values == 1).all()
    assert (hsd.effect_sizes == 0).all()
    assert comparison.conclusions("nDCG@10", trials=100) == ()
    assert comparison.power(trials=100)["nDCG@10"].tolist() == [1.0] * 6


def test_means_that_differ_by_rounding_differ_by_exactly_0() -> None:
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in the last digit, but the systems are as good."""
    values = np.array([[0.1, 0.3, 0.2, 1.1], [0.2, 0.2, 0.1, 1.2], [0.3, 0.1, 0.3, 1.3]])
    assert np.ptp(values[:, :3].mean(axis=0)) > 0  # else this tests nothing
    hsd = tukey(values, 50)
    assert (hsd.differences[:3, :3] == 0).all()
    assert (hsd.effect_sizes[:3, :3] == 0).all()
    assert (hsd.p_values[:3, :3] == 1).all()
    assert hsd.differences[3, 0] == pytest.approx(1)
    assert {winner for winner, _ in compared(values, alpha=0.9).conclusions("nDCG@10", trials=50)} <= {"s3"}


def test_the_same_gap_on_every_query_has_an_infinite_effect() -> None:
    hsd = tukey(np.arange(6)[:, None] + np.array([0.1, 0.2, 0.2]), 10)
    assert hsd.effect_sizes[0].tolist() == [0.0, -math.inf, -math.inf]
    assert hsd.effect_sizes[2].tolist() == [math.inf, 0.0, 0.0]


def test_one_query_proves_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hsd = tukey([[0.1, 0.9, 0.5]], 50)
    assert (above(hsd.p_values) > 0.2).all()  # of six orders of three values, two have the largest range
    assert np.isnan(hsd.effect_sizes).all()
    assert (hsd.queries, hsd.reason) == (1, None)


def test_a_query_without_a_value_for_one_system_is_left_out_for_all() -> None:
    values = random_values(10, 3)
    spoilt = np.vstack([values, [0.1, math.nan, 0.3], [math.inf, 0.2, 0.3], [math.nan] * 3])
    with_them, without = tukey(spoilt, 300), tukey(values, 300)
    np.testing.assert_array_equal(with_them.p_values, without.p_values)
    np.testing.assert_array_equal(with_them.means, without.means)
    assert (with_them.queries, with_them.dropped) == (10, 3)


@pytest.mark.parametrize("values", [np.zeros((0, 3)), [[math.nan, 1.0, 2.0]] * 6], ids=["empty", "undefined"])
def test_no_query_is_undefined_for_a_reason(values) -> None:
    comparison = compared(values)
    hsd = comparison.tukey("nDCG@10", trials=50)
    assert np.isnan(hsd.p_values).all()
    assert np.isnan(hsd.means).all()
    assert hsd.reason
    assert comparison.conclusions("nDCG@10", trials=50) == ()
    assert len(comparison.power(trials=50)["nDCG@10"]) == 0


def test_without_trials_there_is_no_test() -> None:
    with pytest.raises(ParameterError, match="trials"):
        tukey(np.ones((5, 2)), 0)


def test_the_seed_decides_and_the_scores_are_untouched() -> None:
    comparison = compared(random_values(20, 4))
    before = comparison.scores.to_dict()
    once, again = (comparison.tukey("nDCG@10", trials=300).p_values for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert (once != tukey(random_values(20, 4), 300, seed=1).p_values).any()
    assert comparison.scores.to_dict() == before


@settings(max_examples=examples(20))
@given(st.integers(0, 100))
def test_larger_differences_have_smaller_p(seed: int) -> None:
    hsd = tukey(random_values(15, 6, seed), 500)
    apart, p = above(np.abs(hsd.differences)), above(hsd.p_values)
    assert (np.diff(p[np.argsort(apart)]) <= 0).all()


@settings(max_examples=examples(20))
@given(st.integers(0, 100))
def test_who_beats_whom_follows_from_p_and_the_direction(seed: int) -> None:
    values = random_values(15, 5, seed) + np.linspace(0, 0.8, 5)
    hsd = tukey(values, 200)
    ranked = np.argsort(-hsd.means)
    wanted = tuple(
        (f"s{one}", tuple(f"s{other}" for other in ranked[place + 1 :] if hsd.p_values[one, other] < 0.05))
        for place, one in enumerate(ranked)
    )
    wanted = tuple(row for row in wanted if row[1])
    assert compared(values).conclusions("nDCG@10", trials=200) == wanted
    assert compared(-values, "NDKL@10").conclusions("NDKL@10", trials=200) == wanted
    curve = compared(values).power(trials=200)["nDCG@10"]
    np.testing.assert_array_equal(curve, np.sort(above(hsd.p_values))[::-1])


def test_a_smaller_alpha_concludes_less() -> None:
    values = random_values(12, 5, 3) + np.linspace(0, 0.6, 5)
    beaten = {}
    for alpha in (0.5, 0.05, 0.001):
        found = compared(values, alpha=alpha).conclusions("nDCG@10", trials=1000)
        beaten[alpha] = sum(len(others) for _, others in found)
    p = above(tukey(values, 1000).p_values)
    assert beaten == {alpha: int((p < alpha).sum()) for alpha in beaten}
    assert beaten[0.5] > beaten[0.05] > beaten[0.001]


@pytest.mark.slow
def test_family_wise_error_under_the_null() -> None:
    """Systems that are all alike: the smallest p of a table is uniform, below .05 in 5 tables of 100."""
    generator = np.random.default_rng(0)
    tables, trials = 1000, 199
    smallest = []
    for table in range(tables):
        difficulty = generator.beta(0.5, 0.5, (12, 1))
        values = np.clip(difficulty + generator.normal(0, 0.2, (12, 6)), 0, 1)
        smallest.append(tukey(values, trials, seed=table).p_values.min())
    errors = sum(p <= 0.05 for p in smallest)
    assert abs(errors - tables * 0.05) <= 6 * math.sqrt(tables * 0.05 * 0.95)
    assert scipy.stats.kstest(smallest, "uniform").pvalue > 1e-7
