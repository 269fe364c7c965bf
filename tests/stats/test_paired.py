"""Paired tests, effect sizes and counts: against scipy, against enumeration, and at the edges."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
import scipy.stats
from drawn import made
from hypothesis import given
from hypothesis import strategies as st

from evenrank import compare
from evenrank.comparison import Pair

TESTS = ["t", "wilcoxon", "permutation"]
SMALL = st.lists(st.integers(-5, 5).map(lambda whole: whole / 10), min_size=2, max_size=9)
DRAWS = 10_000  # of signs, where there are too many to try all


def pair(differences, test: str = "t", seed: int = 0) -> Pair:
    """A system that differs from its baseline by these."""
    runs = {"base": {"nDCG@10": [0.0] * len(differences)}, "new": {"nDCG@10": differences}}
    (found,) = compare(made(runs), test=test, seed=seed).pairs
    return found


def normal(n: int, seed: int = 0, shift: float = 0.3) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, 1.0, n)


@pytest.mark.parametrize("n", [2, 3, 10, 51, 200])
def test_t_is_that_of_scipy(n: int) -> None:
    d = normal(n)
    expected = scipy.stats.ttest_rel(d, np.zeros(n))
    found = pair(d)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.effects.cohen_dz * math.sqrt(n) == pytest.approx(expected.statistic, rel=1e-12)
    assert (found.queries, found.reason) == (n, None)


@pytest.mark.parametrize(("n", "method"), [(2, "exact"), (9, "exact"), (50, "exact"), (51, "approx")])
def test_wilcoxon_is_that_of_scipy_without_ties(n: int, method: str) -> None:
    d = normal(n, seed=n)
    expected = scipy.stats.wilcoxon(d, method=method)
    assert pair(d, "wilcoxon").p_value == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_wilcoxon_is_that_of_scipy_with_many_ties_and_zeros(sign: int) -> None:
    d = sign * np.random.default_rng(3).integers(-3, 5, 200).astype(float)
    expected = scipy.stats.wilcoxon(d, method="approx", zero_method="wilcox")
    found = pair(d, "wilcoxon")
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.queries == 200


def all_signs(magnitudes: list[float]) -> list[list[float]]:
    return [
        [s * m for s, m in zip(signs, magnitudes, strict=True)]
        for signs in itertools.product([1, -1], repeat=len(magnitudes))
    ]


def wilcoxon_slowly(d: list[float]) -> float:
    moved = [x for x in d if x]
    ranks = scipy.stats.rankdata(np.abs(np.round(moved, 9)))
    plus = sum(r for r, x in zip(ranks, moved, strict=True) if x > 0)
    sums = [sum(r for r in signed if r > 0) for signed in all_signs(ranks.tolist())]
    above = sum(w >= plus for w in sums) / len(sums)
    below = sum(w <= plus for w in sums) / len(sums)
    return min(1.0, 2 * min(above, below))


def sign_flip_slowly(d: list[float]) -> float:
    sums = [sum(signed) for signed in all_signs(d)]  # zeros too: they double every count
    return sum(abs(s) >= abs(sum(d)) - 1e-9 for s in sums) / len(sums)


@given(SMALL)
def test_few_differences_are_enumerated_with_ties(d: list[float]) -> None:
    if any(d):
        assert pair(d, "wilcoxon").p_value == pytest.approx(wilcoxon_slowly(d))
    assert pair(d, "permutation").p_value == pytest.approx(sign_flip_slowly(d))


@pytest.mark.parametrize("n", [3, 8, 13])
def test_sign_flip_is_that_of_scipy(n: int) -> None:
    d = normal(n, seed=n)
    expected = scipy.stats.permutation_test(
        (d, np.zeros(n)), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    # scipy doubles the smaller tail, ours compares absolute means: the same, as every sum has its mirror
    assert pair(d, "permutation").p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_rounding_does_not_break_ties() -> None:
    # 0.1 + 0.2 - 0.3 is not 0 in floating point; 8 of 8 sums are at least as far from 0 as this one
    assert pair([0.1, 0.2, -0.3], "permutation").p_value == 1.0
    # three differences of the same size: W+ is 4 of 6, and 2 of 8 signs have as few negative ranks
    assert pair([0.3 - 0.2, 0.2 - 0.1, -(0.4 - 0.3)], "wilcoxon").p_value == 1.0


def test_sampled_signs_come_near_the_enumerated_ones() -> None:
    d = normal(20, seed=5, shift=0.4)
    sums = np.zeros(1)
    for x in d:
        sums = np.concatenate([sums + x, sums - x])
    exact = (np.abs(sums) >= abs(d.sum()) - 1e-9).mean()
    found = pair(d, "permutation", seed=1)
    assert abs(found.p_value - exact) < 6 * math.sqrt(exact * (1 - exact) / DRAWS) + 1e-4
    assert found.effects.mean == pytest.approx(d.mean())


def test_sampled_p_is_never_0_and_repeats_with_its_seed() -> None:
    assert pair(np.full(100, 0.25), "permutation").p_value == 1 / (DRAWS + 1)
    noisy = normal(100, shift=0.1)
    once, again, other = (pair(noisy, "permutation", seed=seed).p_value for seed in (0, 0, 1))
    assert once == again
    assert once != other


@pytest.mark.parametrize(("n", "trials"), [(16, 2**16), (17, DRAWS + 1)])
def test_zeros_do_not_count_towards_the_limit_of_enumeration(n: int, trials: int) -> None:
    d = np.concatenate([normal(n), np.zeros(40)])
    count = pair(d, "permutation").p_value * trials
    assert count == pytest.approx(round(count), abs=1e-6)
    assert pair(d, "permutation").queries == n + 40


def test_of_many_queries_every_draw_counts() -> None:
    """They are drawn in chunks."""
    d = np.full(1000, 1.0)
    d[0] = -999.0  # the sum is 0, so every draw is as extreme
    assert pair(d, "permutation").p_value == 1.0


@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_have_p_of_1(test: str, n: int) -> None:
    found = pair([0.0] * n, test)
    assert (found.p_value, found.corrected, found.queries, found.verdict) == (1.0, 1.0, n, "")
    assert found.effects[:4] == (0.0, 0.0, 0.0, 0.5)


@pytest.mark.parametrize("test", TESTS)
def test_no_pair_is_undefined_for_a_reason(test: str) -> None:
    found = pair([math.nan] * 3, test)
    assert math.isnan(found.p_value)
    assert all(map(math.isnan, found.effects[:4]))
    assert (found.queries, found.dropped, tuple(found.outcomes)) == (0, 3, (0, 0, 0))
    assert found.reason
    assert found.effects.reason


def test_one_pair() -> None:
    found = pair([-2.0])
    assert math.isnan(found.p_value)
    assert found.reason
    assert (found.effects.mean, found.effects.rank_biserial, found.effects.superiority) == (-2.0, -1.0, 0.0)
    assert math.isnan(found.effects.cohen_dz)
    assert found.effects.reason
    assert pair([0.5], "wilcoxon").p_value == pair([0.5], "permutation").p_value == 1.0


@pytest.mark.parametrize("sign", [1, -1])
def test_equal_differences_have_an_infinite_t(sign: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pair([sign * 0.1] * 7)
    assert (found.p_value, found.effects.cohen_dz) == (0.0, sign * math.inf)
    assert found.verdict == ("better" if sign > 0 else "worse")
    assert {pair([sign * 0.1] * 7, test).p_value for test in TESTS[1:]} == {2 / 2**7}


def test_queries_that_lack_a_value_are_counted_by_what_they_lack() -> None:
    nan, inf = math.nan, math.inf
    first = [0.1, nan, 0.3, inf, nan, 0.6, -inf, 0.9]
    second = [0.2, 0.2, nan, 0.2, inf, 0.5, 1.0, 0.5]
    (found,) = compare(made({"b": {"nDCG@10": second}, "a": {"nDCG@10": first}})).pairs
    assert (found.queries, found.dropped, found.infinite) == (3, 3, 2)
    assert found.difference == pytest.approx((-0.1 + 0.1 + 0.4) / 3)
    assert sum(found.left_out.values()) == 5


def test_values_that_differ_by_rounding_alone_are_ties() -> None:
    assert 0.1 + 0.2 != 0.3
    runs = {"b": {"nDCG@10": [0.3, 1e9, 0.0]}, "a": {"nDCG@10": [0.1 + 0.2, 1e9 + 1e-6, 1e-11]}}
    (found,) = compare(made(runs)).pairs
    assert tuple(found.outcomes) == (1, 2, 0)


@given(SMALL)
@pytest.mark.parametrize("test", TESTS)
def test_changing_sides_changes_no_p(test: str, d: list[float]) -> None:
    assert pair(d, test).p_value == pytest.approx(pair([-x for x in d], test).p_value)


@given(st.lists(st.integers(-30, 30), min_size=20, max_size=60), st.randoms(use_true_random=False))
@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_the_order_of_queries_does_not_matter(test: str, d: list[int], random) -> None:
    shuffled = d.copy()
    random.shuffle(shuffled)
    assert pair(d, test).p_value == pytest.approx(pair(shuffled, test).p_value, rel=1e-9)


@given(SMALL)
def test_effect_sizes_are_those_of_their_formulas(d: list[float]) -> None:
    found = pair(d)
    wins, losses = sum(x > 0 for x in d), sum(x < 0 for x in d)
    assert tuple(found.outcomes) == (wins, len(d) - wins - losses, losses)
    assert found.effects.superiority == pytest.approx((wins + (len(d) - wins - losses) / 2) / len(d))
    assert found.effects.mean == pytest.approx(np.mean(d))
    if np.ptp(d) > 0:
        assert found.effects.cohen_dz == pytest.approx(np.mean(d) / np.std(d, ddof=1))
    moved = [x for x in d if x]
    ranks = scipy.stats.rankdata(np.abs(moved))
    signed = sum(r * np.sign(x) for r, x in zip(ranks, moved, strict=True))
    assert found.effects.rank_biserial == pytest.approx(signed / sum(ranks) if moved else 0.0)
