"""Choosing a variant by F_beta: the formula, the edges that SPEC fixes, and no leak from a fold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank.errors import DataError, ParameterError
from evenrank.stats.paired import paired_t
from evenrank.stats.selection import (
    BETAS,
    beta_ranges,
    beta_table,
    choose,
    cross_validate,
    f_beta,
    min_max,
)

GRID = st.integers(0, 20).map(lambda whole: whole / 20)
VARIANTS = st.lists(st.tuples(GRID, GRID), min_size=1, max_size=8)


def f_slowly(u: list[float], f: list[float], beta: float) -> list[float]:
    def scaled(values: list[float]) -> list[float]:
        low, high = min(values), max(values)
        return [0.0 if high == low else (value - low) / (high - low) for value in values]

    def combined(du: float, df: float) -> float:
        if beta in (0, math.inf):
            return du if beta == 0 else df
        below = beta**2 * du + df
        return (1 + beta**2) * du * df / below if below else 0.0

    return [combined(du, df) for du, df in zip(scaled(u), scaled(f), strict=True)]


@given(VARIANTS, st.sampled_from([*BETAS, 0.01, 100.0]))
def test_f_beta_is_equation_12(variants: list[tuple[float, float]], beta: float) -> None:
    u, f = map(list, zip(*variants, strict=True))
    assert f_beta(u, f, beta).tolist() == pytest.approx(f_slowly(u, f, beta))


def test_the_edges_of_f_beta() -> None:
    u, f = [0.1, 0.2, 0.3], [0.9, 0.8, 0.6]
    assert f_beta(u, f, 0).tolist() == pytest.approx([0, 0.5, 1])
    assert f_beta(u, f, math.inf).tolist() == pytest.approx([1, 2 / 3, 0])
    assert f_beta([0.5, 0.5], [0.1, 0.9], 1).tolist() == [0, 0]  # constant column: 0, then 0 over f
    assert f_beta([0.5, 0.5], [0.1, 0.1], 1).tolist() == [0, 0]  # 0/0
    assert f_beta([0.5], [0.1], 1).tolist() == [0]
    assert f_beta(u, f, 1e200).tolist() == pytest.approx([0, 2 / 3, 0])  # finite: the unfair are still 0
    assert f_beta(u, f, 1e-200).tolist() == pytest.approx([0, 0.5, 0])
    assert min_max([0.1 + 0.2, 0.3]).tolist() == [0, 0]


@given(VARIANTS, st.sampled_from([0.2, 1.0, 5.0]))
def test_exchanging_the_measures_inverts_beta(variants: list[tuple[float, float]], beta: float) -> None:
    u, f = map(list, zip(*variants, strict=True))
    assert f_beta(u, f, beta).tolist() == pytest.approx(f_beta(f, u, 1 / beta).tolist())


def test_ties_go_to_the_fairer_then_to_the_more_useful_then_to_the_first() -> None:
    assert choose([1.0, 0.0], [0.0, 1.0], 1.0) == 1  # both F are 0
    assert choose([0.4, 0.4, 0.1], [0.1, 0.2, 0.9], 0.0) == 1
    assert choose([0.1, 0.4, 0.2], [0.9, 0.9, 0.1], math.inf) == 1
    assert choose([0.5, 0.5], [0.5, 0.5], 1.0) == 0
    assert choose([0.1 + 0.2, 0.3, 0.0], [0.1, 0.2, 0.0], 0.0) == 1  # the same utility but for rounding


def test_beta_moves_the_choice_from_utility_to_fairness() -> None:
    u, f = [0.40, 0.39, 0.30, 0.10], [0.70, 0.78, 0.88, 0.90]
    assert [choose(u, f, beta) for beta in (0, 0.5, 2, math.inf)] == [0, 1, 2, 3]


def tables(variants: int, queries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Variants trade utility for fairness; queries differ."""
    generator = np.random.default_rng(seed)
    trade = np.linspace(0, 1, variants)[:, None]
    difficulty = generator.random(queries)
    utility = 0.5 * difficulty + 0.2 * (1 - trade**2) + generator.normal(0, 0.05, (variants, queries))
    fairness = 0.7 + 0.2 * np.sqrt(trade) + generator.normal(0, 0.03, (variants, queries))
    return utility, fairness


@pytest.mark.parametrize("beta", [0, 0.5, 2.0, math.inf])
def test_each_fold_is_answered_by_the_choice_on_the_others(beta: float) -> None:
    utility, fairness = tables(6, 23)
    found = cross_validate(utility, fairness, beta, seed=4)
    assert sorted(np.bincount(found.fold).tolist()) == [4, 4, 5, 5, 5]
    assert found.dropped == 0
    for number, choice in enumerate(found.choices):
        training = found.fold != number
        expected = choose(utility[:, training].mean(axis=1), fairness[:, training].mean(axis=1), beta)
        assert choice == expected
        assert (found.chosen[~training] == choice).all()
    pooled = found.pool(utility)
    assert pooled.tolist() == [utility[v, q] for q, v in enumerate(found.chosen)]


def test_held_out_queries_do_not_take_part_in_the_choice() -> None:
    utility, fairness = tables(6, 25)
    found = cross_validate(utility, fairness, 1.0)
    for number in range(5):
        spoiled = utility.copy()
        spoiled[:, found.fold == number] = np.random.default_rng(1).random((6, 5)) * 1000
        assert cross_validate(spoiled, fairness, 1.0).choices[number] == found.choices[number]


def test_folds_are_shuffled_by_the_seed_and_the_same_for_every_beta() -> None:
    utility, fairness = tables(4, 40)
    folds = [cross_validate(utility, fairness, beta, seed=7).fold.tolist() for beta in BETAS]
    assert all(fold == folds[0] for fold in folds)
    assert folds[0] != cross_validate(utility, fairness, 1.0, seed=8).fold.tolist()
    assert folds[0] != sorted(folds[0])


def test_a_query_that_a_variant_lacks_is_left_out_for_all() -> None:
    utility, fairness = tables(4, 30)
    utility[2, 5], fairness[0, 9], fairness[1, 11] = math.nan, math.inf, math.nan
    found = cross_validate(utility, fairness, 1.0)
    assert found.dropped == 3
    assert np.flatnonzero(found.chosen < 0).tolist() == np.flatnonzero(found.fold < 0).tolist() == [5, 9, 11]
    assert np.flatnonzero(np.isnan(found.pool(np.ones((4, 30))))).tolist() == [5, 9, 11]
    assert set(np.unique(found.fold).tolist()) == {-1, 0, 1, 2, 3, 4}


def test_a_single_variant_is_chosen() -> None:
    utility, fairness = tables(1, 10)
    assert cross_validate(utility, fairness, 1.0).choices == (0,) * 5


def test_the_table_of_betas() -> None:
    utility, fairness = tables(8, 120)
    recall = np.clip(utility * 2, 0, 1)
    rows = beta_table(utility, fairness, baseline=0, others={"R@10": recall}, betas=reversed(BETAS), seed=2)
    assert [row.beta for row in rows] == list(BETAS)
    for row in rows:
        expected = cross_validate(utility, fairness, row.beta, seed=2)
        assert row.selection.chosen.tolist() == expected.chosen.tolist()
        for change, values in (
            (row.utility, utility),
            (row.fairness, fairness),
            (row.others["R@10"], recall),
        ):
            pooled = expected.pool(values)
            assert change.value == pytest.approx(pooled.mean())
            assert change.baseline == pytest.approx(values[0].mean())
            test = paired_t(pooled - values[0])
            assert change.test.p_value == pytest.approx(test.p_value)
            assert change.gained == (test.p_value < 0.05 and test.statistic > 0)
            assert change.lost == (test.p_value < 0.05 and test.statistic < 0)
        lost = row.utility.lost or row.others["R@10"].lost
        assert row.chosen == choose(utility.mean(axis=1), fairness.mean(axis=1), row.beta)
        assert row.acceptable == (row.chosen != 0 and row.fairness.gained and not lost)
    assert rows[-1].fairness.gained
    assert rows[-1].utility.lost
    assert not rows[-1].acceptable


def test_a_loss_in_another_measure_is_a_loss() -> None:
    utility, fairness = tables(8, 120)
    utility[:] = utility[0]  # no variant costs any
    plain = beta_table(utility, fairness, baseline=0, betas=[math.inf])[0]
    assert plain.acceptable
    other = beta_table(utility, fairness, baseline=0, betas=[math.inf], others={"novelty": -fairness})[0]
    assert other.others["novelty"].lost
    assert not other.acceptable


def test_what_is_within_noise_is_neither_gained_nor_lost() -> None:
    utility, fairness = tables(2, 12)
    utility[1] += 10  # so that beta = 0 chooses it on every fold
    for sign in (1, -1):
        fairness[1] = fairness[0] + sign * np.resize([0.2, -0.18], 12)
        change = beta_table(utility, fairness, baseline=0, betas=[0.0])[0].fairness
        assert sign * (change.value - change.baseline) == pytest.approx(0.01)
        assert (change.gained, change.lost) == (False, False)


def test_choosing_the_baseline_changes_nothing() -> None:
    utility, fairness = tables(3, 50)
    utility[0] += 10
    row = beta_table(utility, fairness, baseline=0, betas=[0.0])[0]
    assert row.selection.choices == (0,) * 5
    assert row.fairness.test.p_value == row.utility.test.p_value == 1.0
    assert not row.acceptable
    assert beta_ranges([row]) == ()


def test_means_are_over_the_queries_that_are_tested() -> None:
    utility, fairness = tables(3, 30)
    recall = utility.copy()
    recall[0, 4] = recall[2, 7] = math.nan  # a measure that takes no part in the choice
    change = beta_table(utility, fairness, baseline=0, betas=[math.inf], others={"R": recall})[0].others["R"]
    kept = np.isin(np.arange(30), [4, 7], invert=True)
    assert change.test.n == 28
    assert change.baseline == pytest.approx(utility[0, kept].mean())
    assert change.value == pytest.approx(utility[2, kept].mean())
    everything_undefined = np.full_like(utility, math.nan)
    nothing = beta_table(utility, fairness, baseline=0, betas=[1.0], others={"R": everything_undefined})[0]
    assert math.isnan(nothing.others["R"].value)
    assert nothing.others["R"].test.reason == "no pair of defined values"
    assert (nothing.others["R"].gained, nothing.others["R"].lost) == (False, False)


def test_ranges_are_stretches_of_neighbours() -> None:
    utility, fairness = tables(3, 30)
    row = beta_table(utility, fairness, baseline=0, betas=[1.0])[0]

    def rows(*flags: bool) -> list:
        return [row._replace(beta=beta, acceptable=flag) for beta, flag in zip(BETAS, flags, strict=False)]

    assert beta_ranges(rows(False, True, True, True, True, True, False)) == ((0.2, 5.0),)
    assert beta_ranges(rows(True, False, True, True, False, False, True)) == (
        (0.0, 0.0),
        (0.5, 1.0),
        (math.inf, math.inf),
    )
    assert beta_ranges(rows(False, False)) == ()
    assert beta_ranges(rows(False, True, True, False)[::-1]) == ((0.2, 0.5),)
    assert beta_ranges([]) == ()


@given(st.permutations(range(5)), st.sampled_from(BETAS))
def test_the_order_of_variants_does_not_matter(order: list[int], beta: float) -> None:
    utility, fairness = tables(5, 30)
    found = cross_validate(utility, fairness, beta)
    moved = cross_validate(utility[order], fairness[order], beta)
    assert [order[choice] for choice in moved.choices] == list(found.choices)


def test_bad_input_is_refused() -> None:
    utility, fairness = tables(3, 10)
    for beta in (-1, math.nan):
        with pytest.raises(ParameterError, match="beta must be a number >= 0, or infinity"):
            f_beta([0.1], [0.2], beta)
    with pytest.raises(DataError, match="same variants; got 2 and 1"):
        f_beta([0.1, 0.2], [0.2], 1)
    for values in ([], [math.nan], [math.inf, 0.0], [[0.1]]):
        with pytest.raises(DataError, match="one finite value each"):
            min_max(values)
    for folds in (1, 11):
        with pytest.raises(ParameterError, match="folds must be from 2 to the 10 queries"):
            cross_validate(utility, fairness, 1, folds=folds)
    with pytest.raises(DataError, match=r"got shapes \(3, 10\) and \(2, 10\)"):
        cross_validate(utility, fairness[:2], 1)
    with pytest.raises(ParameterError, match="place of a variant, 0 to 2; got 3"):
        beta_table(utility, fairness, baseline=3)
    with pytest.raises(ParameterError, match="alpha must be between 0 and 1"):
        beta_table(utility, fairness, baseline=0, alpha=5)
    with pytest.raises(DataError, match=r"variants by 10 queries, got shape \(3, 9\)"):
        cross_validate(utility, fairness, 1).pool(utility[:, :9])
    with pytest.raises(DataError, match="variants by 10 queries"):
        cross_validate(utility, fairness, math.inf).pool(utility[:1])
