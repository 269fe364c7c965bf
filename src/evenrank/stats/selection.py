"""Choosing among variants of a ranker by how much fairness weighs against utility: ``F_beta``.

Higher is better in both measures here: negate one where lower is. Only differences count, so that changes
nothing else. Reference: Rekabsaz, Kopeinik and Schedl 2021, Eq. 12 and Table 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import ParameterError
from evenrank.stats.paired import PairedTest, paired_differences, paired_t
from evenrank.stats.ties import TOLERANCE, slack

Indices = npt.NDArray[np.int64]

FOLDS = 5
BETAS = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0, math.inf)  # those of Table 4


def min_max(values: npt.ArrayLike) -> Floats:
    """``(x - min) / (max - min)``; 0 for all where all are equal.

    >>> min_max([2.0, 4.0, 3.0]).tolist(), min_max([2.0, 2.0]).tolist()
    ([0.0, 1.0, 0.5], [0.0, 0.0])
    """
    x = np.asarray(values, dtype=np.float64)
    low, high = float(x.min()), float(x.max())
    return np.zeros(len(x)) if high - low <= slack(x) else (x - low) / (high - low)


def f_beta(utility: npt.ArrayLike, fairness: npt.ArrayLike, beta: float) -> Floats:
    """``(1 + beta^2) dU dF / (beta^2 dU + dF)`` of each variant, dU and dF scaled over the variants.

    ``F_0`` is dU, ``F_inf`` is dF, and 0/0 is 0.

    >>> f_beta([0.2, 0.3, 0.4], [0.9, 0.8, 0.7], 1.0).round(3).tolist()
    [0.0, 0.5, 0.0]
    """
    if not beta >= 0:
        raise ParameterError(f"beta must be a number >= 0, or infinity; got {beta!r}")
    u, f = min_max(utility), min_max(fairness)  # (V,)
    if beta == 0:
        return u
    if math.isinf(beta):
        return f
    weight = beta**2 / (1 + beta**2) if beta <= 1 else 1 / (1 + beta**-2)  # neither overflows
    below = weight * u + (1 - weight) * f
    return np.divide(u * f, below, out=np.zeros_like(u), where=below > 0)


def choose(utility: npt.ArrayLike, fairness: npt.ArrayLike, beta: float) -> int:
    """The variant with the highest ``F_beta``; of those within 1e-12 the fairest, then the most useful."""
    scores = f_beta(utility, fairness, beta)
    candidates = np.flatnonzero(scores >= scores.max() - TOLERANCE)
    for values in (min_max(fairness), min_max(utility)):
        candidates = candidates[values[candidates] >= values[candidates].max() - TOLERANCE]
    return int(candidates[0])


def pareto_front(values: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """(N,): the rows of (N, M) that no other is at least as good as everywhere, and better somewhere.

    Larger is better in every column. A row with a value that is not finite is not on the front.

    >>> pareto_front([[0.9, 0.1], [0.5, 0.5], [0.4, 0.5], [0.1, float("nan")]]).tolist()
    [True, True, False, False]
    """
    table: npt.NDArray[np.float64] = np.asarray(values, dtype=np.float64)  # (N, M)
    known = np.asarray(np.isfinite(table).all(axis=1))
    # what is not known beats nothing
    table = np.where(known[:, None], table, -np.inf)
    with np.errstate(invalid="ignore"):
        ahead = table[:, None, :] - table[None, :, :]  # (N, N, M): of the first over the second
    beats = (ahead >= -TOLERANCE).all(axis=2) & (ahead > TOLERANCE).any(axis=2)
    return np.asarray(known & ~beats.any(axis=0))


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Which variant cross-validation chose for each query."""

    chosen: Indices  # (Q,) the variant that answers for the query, -1 where the query does not count
    choices: tuple[int, ...]  # by fold

    def pool(self, values: Floats) -> Floats:
        """(Q,): the chosen variant's value on each query, of any measure, from variants by queries."""
        pooled: Floats = values[np.maximum(self.chosen, 0), np.arange(len(self.chosen))]
        return np.where(self.chosen < 0, np.nan, pooled)


def cross_validate(u: Floats, f: Floats, beta: float, *, folds: int, seed: int) -> CrossValidated:
    """Choose a variant for each fold of queries by its means on the other folds.

    Utility u and fairness f are variants by queries. The queries are shuffled once by ``seed`` and cut
    into folds of nearly equal size, the same for every beta. Scaling and choosing see the training queries.
    A query that one variant has no finite value for is left out, so that all means are over the same queries.
    """
    complete = np.flatnonzero((np.isfinite(u) & np.isfinite(f)).all(axis=0))  # (n,) places of queries
    if not 2 <= folds <= len(complete):
        raise ParameterError(
            f"folds must be from 2 to the {len(complete)} queries that all variants have values for, "
            f"got {folds!r}"
        )
    order = np.random.default_rng(seed).permutation(complete)
    chosen, choices = np.full(u.shape[1], -1), []
    for held_out in np.array_split(order, folds):
        training = np.setdiff1d(complete, held_out)
        choices.append(choose(u[:, training].mean(axis=1), f[:, training].mean(axis=1), beta))
        chosen[held_out] = choices[-1]
    return CrossValidated(chosen, tuple(choices))


class ValueChange(NamedTuple):
    """A measure under the chosen variants, and under the unmitigated one, on the same queries."""

    value: float
    baseline: float
    test: PairedTest  # of value - baseline
    gained: bool  # significantly
    lost: bool  # significantly


class BetaRow(NamedTuple):
    """A line of Table 4: what a beta chooses, and what that changes."""

    beta: float
    chosen: int  # by all queries: the variant to take
    selection: CrossValidated
    fairness: ValueChange
    utility: ValueChange
    others: dict[str, ValueChange]
    acceptable: bool  # another variant than the baseline is chosen, fairness gained, nothing lost


def beta_table(
    u: Floats,
    f: Floats,
    *,
    baseline: int,
    betas: Sequence[float],
    others: Mapping[str, Floats],
    folds: int,
    seed: int,
    alpha: float,
) -> tuple[BetaRow, ...]:
    """Cross-validate each beta, in ascending order, against the variant at place ``baseline``.

    Utility u, fairness f and ``others``, further utility measures, are variants by queries. Others take no
    part in the choice, but a significant loss in one makes a beta unacceptable. Significant is ``p < alpha``
    in a two-sided paired t-test, as in the paper. A beta by which all queries together choose the baseline
    is not acceptable: single folds may choose a fairer variant, but the one to take is there already.
    """
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must be between 0 and 1, as 0.05; got {alpha!r}")
    rows = []
    for beta in sorted(betas):
        selection = cross_validate(u, f, beta, folds=folds, seed=seed)
        fairer = _change(selection, f, baseline, alpha)
        useful = _change(selection, u, baseline, alpha)
        rest = {name: _change(selection, values, baseline, alpha) for name, values in others.items()}
        there = selection.chosen >= 0
        chosen = choose(u[:, there].mean(axis=1), f[:, there].mean(axis=1), beta)
        lost = any(change.lost for change in (useful, *rest.values()))
        acceptable = chosen != baseline and fairer.gained and not lost
        rows.append(BetaRow(beta, chosen, selection, fairer, useful, rest, acceptable))
    return tuple(rows)


def beta_ranges(rows: Sequence[BetaRow]) -> tuple[tuple[float, float], ...]:
    """The stretches of neighbouring betas that gain fairness without a significant loss, as (from, to).

    They hold for the betas that were tried; nothing is known of those between. Empty where none will do.
    """
    stretches: list[tuple[float, float]] = []
    open_stretch = False
    for row in sorted(rows, key=lambda row: row.beta):
        if row.acceptable:
            begin = stretches.pop()[0] if open_stretch else row.beta
            stretches.append((begin, row.beta))
        open_stretch = row.acceptable
    return tuple(stretches)


def _change(selection: CrossValidated, values: Floats, baseline: int, alpha: float) -> ValueChange:
    """Means over the queries that have both values, so that they differ by what the test tests."""
    pooled = selection.pool(values)
    unmitigated = np.where(selection.chosen < 0, np.nan, values[baseline])
    differences = paired_differences(pooled, unmitigated).values
    both = np.isfinite(pooled) & np.isfinite(unmitigated)
    test = paired_t(differences)
    significant = test.p_value < alpha  # False where it is NaN
    if not both.any():
        return ValueChange(math.nan, math.nan, test, gained=False, lost=False)
    gain = float(differences.mean())
    means = float(pooled[both].mean()), float(unmitigated[both].mean())
    return ValueChange(*means, test, significant and gain > 0, significant and gain < 0)
