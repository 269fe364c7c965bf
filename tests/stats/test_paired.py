"""Paired tests, effect sizes and counts: against scipy, against enumeration, and at the edges."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from evenrank.errors import DataError, ParameterError
from evenrank.stats.effects import effect_sizes, win_tie_loss
from evenrank.stats.paired import Alternative, paired_t, sign_flip, wilcoxon

TESTS = [paired_t, wilcoxon, sign_flip]
ALTERNATIVES: list[Alternative] = ["two-sided", "greater", "less"]
SMALL = st.lists(st.integers(-5, 5).map(lambda whole: whole / 10), min_size=2, max_size=9)


def normal(n: int, seed: int = 0, shift: float = 0.3) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, 1.0, n)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [2, 3, 10, 51, 200])
def test_t_is_that_of_scipy(n: int, alternative: Alternative) -> None:
    d = normal(n)
    expected = scipy.stats.ttest_rel(d, np.zeros(n), alternative=alternative)
    found = paired_t(d, alternative=alternative)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert (found.n, found.method, found.reason) == (n, "t", None)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n", "method"), [(2, "exact"), (9, "exact"), (50, "exact"), (51, "approx")])
def test_wilcoxon_is_that_of_scipy_without_ties(n: int, method: str, alternative: Alternative) -> None:
    d = normal(n, seed=n)
    expected = scipy.stats.wilcoxon(d, alternative=alternative, method=method)
    found = wilcoxon(d, alternative=alternative)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.method == {"exact": "exact", "approx": "normal"}[method]
    one_sided = scipy.stats.wilcoxon(d, alternative="greater")
    assert found.statistic == one_sided.statistic  # W+, whichever the alternative


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wilcoxon_is_that_of_scipy_with_many_ties_and_zeros(alternative: Alternative) -> None:
    d = np.random.default_rng(3).integers(-3, 5, 200).astype(float)
    expected = scipy.stats.wilcoxon(d, alternative=alternative, method="approx", zero_method="wilcox")
    found = wilcoxon(d, alternative=alternative)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert (found.n, found.method) == (200, "normal")


def all_signs(magnitudes: list[float]) -> list[list[float]]:
    return [
        [s * m for s, m in zip(signs, magnitudes, strict=True)]
        for signs in itertools.product([1, -1], repeat=len(magnitudes))
    ]


def wilcoxon_slowly(d: list[float], alternative: Alternative) -> float:
    moved = [x for x in d if x]
    ranks = scipy.stats.rankdata(np.abs(np.round(moved, 9)))
    plus = sum(r for r, x in zip(ranks, moved, strict=True) if x > 0)
    sums = [sum(r for r in signed if r > 0) for signed in all_signs(ranks.tolist())]
    above = sum(w >= plus for w in sums) / len(sums)
    below = sum(w <= plus for w in sums) / len(sums)
    return {"two-sided": min(1.0, 2 * min(above, below)), "greater": above, "less": below}[alternative]


def sign_flip_slowly(d: list[float], alternative: Alternative) -> float:
    total = sum(d)
    sums = [sum(signed) for signed in all_signs(d)]  # zeros too: they double every count
    hits = {
        "two-sided": [abs(s) >= abs(total) - 1e-9 for s in sums],
        "greater": [s >= total - 1e-9 for s in sums],
        "less": [s <= total + 1e-9 for s in sums],
    }[alternative]
    return sum(hits) / len(hits)


@given(SMALL, st.sampled_from(ALTERNATIVES))
def test_few_differences_are_enumerated_with_ties(d: list[float], alternative: Alternative) -> None:
    if any(d):
        assert wilcoxon(d, alternative=alternative).p_value == pytest.approx(wilcoxon_slowly(d, alternative))
    assert sign_flip(d, alternative=alternative).p_value == pytest.approx(sign_flip_slowly(d, alternative))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [3, 8, 13])
def test_sign_flip_is_that_of_scipy(n: int, alternative: Alternative) -> None:
    d = normal(n, seed=n)
    expected = scipy.stats.permutation_test(
        (d, np.zeros(n)), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf,
        alternative=alternative,
    )  # fmt: skip
    # scipy doubles the smaller tail, ours compares absolute means: the same, as every sum has its mirror
    found = sign_flip(d, alternative=alternative)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(expected.statistic)


def test_rounding_does_not_break_the_ties_of_signed_sums() -> None:
    # 0.1 + 0.2 - 0.3 is not 0 in floating point; 8 of 8 sums are at least as far from 0 as this one
    assert sign_flip([0.1, 0.2, -0.3]).p_value == 1.0
    assert wilcoxon([0.3 - 0.2, 0.2 - 0.1, -(0.4 - 0.3)]).statistic == 4.0


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sampled_signs_come_near_the_enumerated_ones(alternative: Alternative) -> None:
    d = normal(20, seed=5, shift=0.4)
    sums = np.zeros(1)
    for x in d:
        sums = np.concatenate([sums + x, sums - x])
    exact = {
        "two-sided": np.abs(sums) >= abs(d.sum()) - 1e-9,
        "greater": sums >= d.sum() - 1e-9,
        "less": sums <= d.sum() + 1e-9,
    }[alternative].mean()
    found = sign_flip(d, alternative=alternative, resamples=40_000, seed=1)
    assert found.method == "sampled"
    assert abs(found.p_value - exact) < 6 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-4
    assert found.statistic == pytest.approx(d.mean())


def test_sampled_p_is_never_0_and_repeats_with_its_seed() -> None:
    d = np.full(100, 0.25)
    assert sign_flip(d, resamples=99).p_value == 1 / 100
    noisy = normal(100, shift=0.1)
    assert sign_flip(noisy, seed=0) == sign_flip(noisy, seed=0)
    assert sign_flip(noisy, seed=0).p_value != sign_flip(noisy, seed=1).p_value


@pytest.mark.parametrize(("n", "method"), [(16, "exact"), (17, "sampled")])
def test_zeros_do_not_count_towards_the_limit_of_enumeration(n: int, method: str) -> None:
    d = np.concatenate([normal(n), np.zeros(40)])
    assert sign_flip(d).method == method
    assert sign_flip(d).n == n + 40


def test_sampling_in_chunks_uses_every_resample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenrank.stats.paired._NUMBERS_AT_ONCE", 40)
    d = np.full(30, 1.0)
    d[0] = -29.0  # the sum is 0, so every draw is as extreme
    assert sign_flip(d, resamples=1001).p_value == 1.0


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_have_p_of_1(test, n: int, alternative: Alternative) -> None:
    found = test([0.0] * n, alternative=alternative)
    assert (found.statistic, found.p_value, found.n, found.reason) == (0.0, 1.0, n, None)


@pytest.mark.parametrize("test", TESTS)
def test_no_pair_is_undefined_for_a_reason(test) -> None:
    found = test([])
    assert math.isnan(found.p_value)
    assert found.reason == "no pair of defined values"


def test_one_pair() -> None:
    assert math.isnan(paired_t([0.5]).p_value)
    assert paired_t([0.5]).reason == "one pair has no variance"
    assert wilcoxon([0.5]).p_value == sign_flip([0.5]).p_value == 1.0
    assert wilcoxon([0.5], alternative="greater").p_value == 0.5


@pytest.mark.parametrize("sign", [1, -1])
def test_equal_differences_have_an_infinite_t(sign: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = paired_t([sign * 0.1] * 7)
        assert (found.statistic, found.p_value) == (sign * math.inf, 0.0)
        assert paired_t([sign * 0.1] * 7, alternative="greater").p_value == (0.0 if sign > 0 else 1.0)
        assert effect_sizes([sign * 0.1] * 7).cohen_dz == sign * math.inf
    assert sign_flip([sign * 0.1] * 7).p_value == wilcoxon([sign * 0.1] * 7).p_value == 2 / 2**7


@pytest.mark.parametrize("test", [*TESTS, effect_sizes, win_tie_loss])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_differences_that_are_not_finite_are_refused(test, bad: float) -> None:
    with pytest.raises(DataError, match="paired_differences"):
        test([0.1, bad])


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="two-sided, greater or less, got 'both'"):
        paired_t([0.1, 0.2], alternative="both")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="resamples must be at least 1, got 0"):
        sign_flip([0.1, 0.2], resamples=0)
    with pytest.raises(ParameterError, match="tie must be a number >= 0"):
        win_tie_loss([0.1], tie=math.nan)
    with pytest.raises(DataError, match=r"shape \(1, 1\)"):
        wilcoxon([[0.1]])


@given(SMALL)
@pytest.mark.parametrize("test", TESTS)
def test_changing_sides_swaps_the_alternatives(test, d: list[float]) -> None:
    turned = [-x for x in d]
    assert test(d).p_value == pytest.approx(test(turned).p_value)
    assert test(d, alternative="greater").p_value == pytest.approx(test(turned, alternative="less").p_value)


@given(st.lists(st.integers(-30, 30), min_size=20, max_size=60), st.randoms(use_true_random=False))
@pytest.mark.parametrize("test", [paired_t, wilcoxon])
def test_the_order_of_queries_does_not_matter(test, d: list[int], random) -> None:
    shuffled = d.copy()
    random.shuffle(shuffled)
    assert test(d).p_value == pytest.approx(test(shuffled).p_value, rel=1e-9)


@given(SMALL)
def test_effect_sizes_are_those_of_their_formulas(d: list[float]) -> None:
    found = effect_sizes(d)
    wins, losses = sum(x > 0 for x in d), sum(x < 0 for x in d)
    assert win_tie_loss(d) == (wins, len(d) - wins - losses, losses)
    assert found.superiority == pytest.approx((wins + (len(d) - wins - losses) / 2) / len(d))
    assert found.mean == pytest.approx(np.mean(d))
    if np.ptp(d) > 0:
        assert found.cohen_dz == pytest.approx(paired_t(d).statistic / math.sqrt(len(d)))
    moved = [x for x in d if x]
    ranks = scipy.stats.rankdata(np.abs(moved))
    signed = sum(r * np.sign(x) for r, x in zip(ranks, moved, strict=True))
    assert found.rank_biserial == pytest.approx(signed / sum(ranks) if moved else 0.0)


def test_effect_sizes_at_the_edges() -> None:
    assert effect_sizes([0.0, 0.0])[:4] == (0.0, 0.0, 0.0, 0.5)
    nothing = effect_sizes([])
    assert all(math.isnan(value) for value in nothing[:4])
    assert nothing.reason == "no pair of defined values"
    one = effect_sizes([-2.0])
    assert (one.mean, one.rank_biserial, one.superiority) == (-2.0, -1.0, 0.0)
    assert math.isnan(one.cohen_dz)
    assert one.reason == "one pair has no variance"


def test_a_wider_tie() -> None:
    assert win_tie_loss([0.05, -0.05, 0.2, -0.3, 0.1], tie=0.1) == (1, 3, 1)
