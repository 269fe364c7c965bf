"""Randomised Tukey HSD: against a plain loop, against all shuffles, and under the null hypothesis."""

from __future__ import annotations

import functools
import itertools
import math
import sys
import warnings
from types import ModuleType

import numpy as np
import pytest
import scipy.stats
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenrank.errors import DataError, MissingExtraError, ParameterError
from evenrank.stats.power import discriminative_power, discriminative_power_curve, pairwise
from evenrank.stats.shuffles import draw, shuffled_ranges
from evenrank.stats.tukey import Conclusion, TukeyHSD, conclusions, leaders, randomised_tukey_hsd

BOTH_WAYS = pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "numba"])


def random_values(queries: int, systems: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((queries, systems))


def ranges_slowly(values: np.ndarray, trials: int, seed: int) -> list[float]:
    """Fisher-Yates as in the textbook, on the numbers that a single chunk draws."""
    queries, systems = values.shape
    draws = draw(np.random.default_rng(seed), (systems - 1, trials * queries)).tolist()
    ranges = []
    for trial in range(trials):
        rows = [list(row) for row in values.tolist()]
        for query, row in enumerate(rows):
            for k in range(systems - 1, 0, -1):
                place = draws[k - 1][trial * queries + query] * (k + 1) // 2**32
                row[k], row[place] = row[place], row[k]
        means = [sum(column) / queries for column in zip(*rows, strict=True)]
        ranges.append(max(means) - min(means))
    return ranges


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


@BOTH_WAYS
@pytest.mark.parametrize("shape", [(1, 2), (4, 3), (7, 30), (50, 21), (130, 4)])
def test_shuffles_are_those_of_a_plain_loop(shape: tuple[int, int], compiled: bool) -> None:
    values = random_values(*shape)
    found = shuffled_ranges(values, 20, 3, compiled=compiled)
    np.testing.assert_allclose(found, ranges_slowly(values, 20, 3), rtol=1e-12)


def test_both_ways_agree_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = random_values(6, 5)
    monkeypatch.setattr("evenrank.stats.shuffles._NUMBERS_AT_ONCE", 100)
    plain, fast = (randomised_tukey_hsd(values, trials=1000, compiled=way) for way in (False, True))
    np.testing.assert_array_equal(plain.p_values, fast.p_values)
    assert len(set(shuffled_ranges(values, 50, 0).tolist())) > 40  # chunks do not repeat


@BOTH_WAYS
def test_every_order_is_as_likely(compiled: bool) -> None:
    """The second row says which places are the last and the first, the first row who stands there."""
    values = np.array([[0.0, 1.0, 3.0, 7.0], [0.0, 100.0, 1000.0, 10000.0]])
    ranges = shuffled_ranges(values, 24_000, 11, compiled=compiled)
    possible = [(10000 + last - first) / 2 for last, first in itertools.permutations((0, 1, 3, 7), 2)]
    observed = [int(np.isclose(ranges, value, rtol=1e-9).sum()) for value in possible]
    assert len(set(possible)) == 12
    assert sum(observed) == 24_000
    assert scipy.stats.chisquare(observed).pvalue > 1e-7


@BOTH_WAYS
@pytest.mark.parametrize("seed", range(3))
def test_three_systems_on_four_queries_equal_enumeration(seed: int, compiled: bool) -> None:
    values = np.random.default_rng(seed).integers(0, 5, (4, 3)) / 4 + [0.0, 0.2, 0.6]
    exact = exact_p_values(values)
    trials = 40_000
    found = randomised_tukey_hsd(values, trials=trials, compiled=compiled).p_values
    error = np.sqrt(exact * (1 - exact) / trials)
    assert (np.abs(found - exact) <= 6 * error + 2 / trials).all()


@functools.cache
def every_shuffle(queries: int, systems: int) -> np.ndarray:
    """Random numbers, as ``draw`` gives them, that make every order of every row once: (m-1, trials * n)."""
    swaps = list(itertools.product(*(range(k + 1) for k in range(1, systems))))  # one row, in all its orders
    trials = [row for rows in itertools.product(swaps, repeat=queries) for row in rows]
    return np.array(
        [[-(-(row[k - 1] << 32) // (k + 1)) for row in trials] for k in range(1, systems)], np.uint32
    )


@BOTH_WAYS
@pytest.mark.parametrize("seed", range(3))
def test_all_shuffles_of_three_systems_on_four_queries_give_the_enumerated_p(
    seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same as above without chance: 6^4 trials that are all there are, and the one that was observed."""
    values = np.random.default_rng(seed).integers(0, 5, (4, 3)) / 4 + [0.0, 0.2, 0.6]
    draws, trials = every_shuffle(4, 3), 6**4
    monkeypatch.setattr("evenrank.stats.shuffles.draw", lambda generator, shape: draws.reshape(shape))
    found = randomised_tukey_hsd(values, trials=trials, compiled=compiled).p_values
    np.testing.assert_allclose(found, (exact_p_values(values) * trials + 1) / (trials + 1), rtol=1e-12)


def test_two_systems_are_the_sign_flip_test() -> None:
    values = random_values(9, 2, seed=4)
    values[:, 1] += 0.3
    exact = exact_p_values(values)[0, 1]
    found = randomised_tukey_hsd(values, trials=40_000).p_values[0, 1]
    assert abs(found - exact) < 6 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-4


def test_p_is_a_count_over_the_trials() -> None:
    values = random_values(8, 4)
    hsd = randomised_tukey_hsd(values, trials=500, seed=9)
    ranges = ranges_slowly(values, 500, 9)
    for one, two in itertools.product(range(4), repeat=2):
        apart = abs(values[:, one].mean() - values[:, two].mean())
        count = sum(q >= apart - 1e-12 for q in ranges)
        assert hsd.p_values[one, two] == (count + 1) / 501


@BOTH_WAYS
@pytest.mark.parametrize(("scale", "offset"), [(0.1, 0.7), (1 / 3, 0.0), (1e6 / 3, 1e8 / 3)])
def test_means_that_differ_by_rounding_are_equal(scale: float, offset: float, compiled: bool) -> None:
    """Whole numbers have many equal means, found exactly; the same numbers scaled must have as many."""
    whole = np.random.default_rng(2).integers(0, 4, (7, 4)).astype(float)
    exact = randomised_tukey_hsd(whole, trials=2000).p_values
    found = randomised_tukey_hsd(whole * scale + offset, trials=2000, compiled=compiled).p_values
    np.testing.assert_array_equal(found, exact)


def test_all_in_one_matrix() -> None:
    values = random_values(12, 5)
    hsd = randomised_tukey_hsd(values, trials=200)
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
    hsd = randomised_tukey_hsd(values, trials=10)
    np.testing.assert_allclose(hsd.effect_sizes, hsd.differences / deviation, rtol=1e-9)


def test_more_than_26_systems() -> None:
    values = random_values(40, 30) / 10
    values[:, 29] += 0.5
    values[:, 7] = values[:, 3]
    hsd = randomised_tukey_hsd(values, trials=1000)
    assert hsd.p_values.shape == (30, 30)
    assert hsd.p_values[3, 7] == 1.0
    best = conclusions(hsd)[0]
    assert best.system == 29
    assert sorted(best.beaten) == list(range(29))


def test_identical_systems() -> None:
    hsd = randomised_tukey_hsd(np.full((6, 4), 0.5), trials=100)
    assert (hsd.p_values == 1).all()
    assert (hsd.effect_sizes == 0).all()
    assert conclusions(hsd) == ()
    assert leaders(conclusions(hsd)) == ()


def test_means_that_differ_by_rounding_differ_by_exactly_0() -> None:
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 in the last digit, but the systems are as good."""
    values = np.array([[0.1, 0.3, 0.2, 1.1], [0.2, 0.2, 0.1, 1.2], [0.3, 0.1, 0.3, 1.3]])
    assert np.ptp(values[:, :3].mean(axis=0)) > 0  # else this tests nothing
    hsd = randomised_tukey_hsd(values, trials=50)
    assert (hsd.differences[:3, :3] == 0).all()
    assert (hsd.effect_sizes[:3, :3] == 0).all()
    assert (hsd.p_values[:3, :3] == 1).all()
    assert hsd.differences[3, 0] == pytest.approx(1)
    assert {one.system for one in conclusions(hsd, alpha=0.9)} <= {3}


def test_the_same_gap_on_every_query_has_an_infinite_effect() -> None:
    hsd = randomised_tukey_hsd(np.arange(6)[:, None] + np.array([0.1, 0.2, 0.2]), trials=10)
    assert hsd.effect_sizes[0].tolist() == [0.0, -math.inf, -math.inf]
    assert hsd.effect_sizes[2].tolist() == [math.inf, 0.0, 0.0]


@BOTH_WAYS
def test_one_query_proves_nothing(compiled: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hsd = randomised_tukey_hsd([[0.1, 0.9, 0.5]], trials=50, compiled=compiled)
    assert (hsd.p_values == 1).all()
    assert np.isnan(hsd.effect_sizes).all()


def test_a_query_without_a_value_for_one_system_is_left_out_for_all() -> None:
    values = random_values(10, 3)
    spoilt = np.vstack([values, [0.1, math.nan, 0.3], [math.inf, 0.2, 0.3]])
    with_them, without = randomised_tukey_hsd(spoilt, trials=300), randomised_tukey_hsd(values, trials=300)
    np.testing.assert_array_equal(with_them.p_values, without.p_values)
    np.testing.assert_array_equal(with_them.means, without.means)
    assert (with_them.queries, with_them.dropped) == (10, 2)


@pytest.mark.parametrize("values", [np.empty((0, 3)), [[math.nan, 1.0, 2.0]]], ids=["empty", "undefined"])
def test_no_query_is_undefined_for_a_reason(values) -> None:
    hsd = randomised_tukey_hsd(values)
    assert np.isnan(hsd.p_values).all()
    assert np.isnan(hsd.means).all()
    assert hsd.reason == "no query has a defined value for every system"
    assert conclusions(hsd) == ()
    assert math.isnan(discriminative_power(hsd.p_values).share)


def test_bad_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"at least two systems, got shape \(5, 1\)"):
        randomised_tukey_hsd(np.ones((5, 1)))
    with pytest.raises(DataError, match=r"got shape \(5,\)"):
        randomised_tukey_hsd(np.ones(5))
    with pytest.raises(ParameterError, match="trials must be at least 1, got 0"):
        randomised_tukey_hsd(np.ones((5, 2)), trials=0)
    hsd = randomised_tukey_hsd(np.ones((5, 2)), trials=1)
    with pytest.raises(ParameterError, match="alpha must be between 0 and 1"):
        conclusions(hsd, alpha=5)
    with pytest.raises(ParameterError, match="alpha must be between 0 and 1"):
        discriminative_power(hsd.p_values, alpha=0)
    with pytest.raises(DataError, match=r"square matrix.*shape \(3,\)"):
        pairwise([0.1, 0.2, 0.3])
    monkeypatch.setattr("evenrank.stats.shuffles.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[scan\]'"):
        randomised_tukey_hsd(np.ones((5, 2)), trials=1, compiled=True)


def test_the_seed_decides_and_0_is_a_seed() -> None:
    values = random_values(20, 4)
    again = [randomised_tukey_hsd(values, trials=300, seed=0).p_values for _ in range(2)]
    np.testing.assert_array_equal(*again)
    assert (again[0] != randomised_tukey_hsd(values, trials=300, seed=1).p_values).any()


def test_the_input_is_untouched() -> None:
    values = random_values(20, 4)
    before = values.copy()
    for compiled in (False, True):
        randomised_tukey_hsd(values, trials=100, compiled=compiled)
    np.testing.assert_array_equal(values, before)


@settings(max_examples=examples(20))
@given(st.permutations(range(5)), st.integers(0, 100))
@example([4, 1, 3, 0, 2], 100)
def test_relabelling_systems_relabels_the_answers(order: list[int], seed: int) -> None:
    """Over all shuffles there are, so that no chance is left between the two."""
    values = random_values(2, 5, seed) + np.linspace(0, 0.5, 5)
    draws = every_shuffle(2, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenrank.stats.shuffles.draw", lambda generator, shape: draws.reshape(shape))
        plain, relabelled = (
            randomised_tukey_hsd(table, trials=120**2) for table in (values, values[:, order])
        )
    np.testing.assert_allclose(relabelled.differences, plain.differences[np.ix_(order, order)], atol=1e-12)
    np.testing.assert_array_equal(relabelled.p_values, plain.p_values[np.ix_(order, order)])


@settings(max_examples=examples(20))
@given(st.integers(0, 100))
def test_larger_differences_have_smaller_p(seed: int) -> None:
    hsd = randomised_tukey_hsd(random_values(15, 6, seed), trials=500)
    apart, p = pairwise(np.abs(hsd.differences)), pairwise(hsd.p_values)
    assert (np.diff(p[np.argsort(apart)]) <= 0).all()


@settings(max_examples=examples(20))
@given(st.integers(0, 100))
def test_negated_values_turn_the_conclusions(seed: int) -> None:
    values = random_values(15, 5, seed) + np.linspace(0, 0.8, 5)
    higher = conclusions(randomised_tukey_hsd(values))
    assert higher == conclusions(randomised_tukey_hsd(-values), lower_is_better=True)
    assert higher != conclusions(randomised_tukey_hsd(values), lower_is_better=True) or not higher


def published(p: dict[tuple[int, int], float], means: list[float]) -> TukeyHSD:
    count = len(means)
    p_values = np.ones((count, count))
    for (one, two), value in p.items():
        p_values[one, two] = p_values[two, one] = value
    average = np.array(means)
    apart = average[:, None] - average
    return TukeyHSD(average, apart, p_values, apart, 418, 0, 5000, 0)


def test_conclusions_are_written_as_in_table_4_of_gfr_2022() -> None:
    """(b), revcnt-GF(JSD): five pairs, in the order of the paper."""
    base, base_uc, rating, rating_uc = range(4)
    hsd = published(
        {
            (base_uc, rating_uc): 0.001,
            (base_uc, base): 0.001,
            (base_uc, rating): 0.001,
            (rating_uc, rating): 0.002,
            (base, rating): 0.002,
        },
        [0.50, 0.53, 0.48, 0.506],
    )
    assert conclusions(hsd) == (
        Conclusion(base_uc, (rating_uc, base, rating)),
        Conclusion(rating_uc, (rating,)),
        Conclusion(base, (rating,)),
    )
    assert leaders(conclusions(hsd)) == (base_uc,)
    assert discriminative_power(hsd.p_values) == (5, 6, 5 / 6)
    assert discriminative_power(hsd.p_values, alpha=0.002).significant == 3
    assert discriminative_power_curve(hsd.p_values).tolist() == [1.0, 0.002, 0.002, 0.001, 0.001, 0.001]
    assert conclusions(hsd, alpha=0.002) == (Conclusion(base_uc, (rating_uc, base, rating)),)


def test_pairs_without_p_are_not_pairs() -> None:
    p = [[1.0, math.nan, 0.01], [math.nan, 1.0, 0.2], [0.01, 0.2, 1.0]]
    assert discriminative_power(p) == (1, 2, 0.5)
    assert discriminative_power_curve(p).tolist() == [0.2, 0.01]


@pytest.mark.parametrize(
    ("large", "installed", "loaded", "expected"),
    [
        (False, True, False, "numpy"),  # starting the compiler would take longer than the work
        (False, True, True, "numba"),
        (True, True, False, "numba"),
        (True, False, False, "numpy"),
    ],
)
def test_it_is_compiled_where_that_pays(
    large: bool, installed: bool, loaded: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    kernel = ModuleType("evenrank.stats.shuffles_kernel")
    kernel.ranges_of_shuffled = lambda *arguments: seen.append("numba")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "evenrank.stats.shuffles_kernel", kernel)
    monkeypatch.setattr("evenrank.stats.shuffles._ranges", lambda *arguments: seen.append("numpy") or 0.0)
    monkeypatch.setattr("evenrank.stats.shuffles.find_spec", lambda name: installed or None)
    monkeypatch.setattr("evenrank.stats.shuffles._WORTH_COMPILING", 90 if large else 91)
    if loaded:
        monkeypatch.setitem(sys.modules, "numba", ModuleType("numba"))
    else:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    shuffled_ranges(random_values(3, 3), 10, 0)
    assert seen == [expected]


@pytest.mark.slow
def test_family_wise_error_under_the_null() -> None:
    """Systems that are all alike: the smallest p of a table is uniform, below .05 in 5 tables of 100."""
    generator = np.random.default_rng(0)
    tables, trials = 1000, 199
    smallest = []
    for table in range(tables):
        difficulty = generator.beta(0.5, 0.5, (12, 1))
        values = np.clip(difficulty + generator.normal(0, 0.2, (12, 6)), 0, 1)
        smallest.append(randomised_tukey_hsd(values, trials=trials, seed=table, compiled=True).p_values.min())
    errors = sum(p <= 0.05 for p in smallest)
    assert abs(errors - tables * 0.05) <= 6 * math.sqrt(tables * 0.05 * 0.95)
    assert scipy.stats.kstest(smallest, "uniform").pvalue > 1e-7
