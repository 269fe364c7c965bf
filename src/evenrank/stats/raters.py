"""How far raters agree: per cent, Cohen's, Fleiss' and Krippendorff's coefficients, with intervals.

Votes are codes (N, R): items by raters, -1 where a rater gave none. Every coefficient is a function of sums
over items, so that drawing the items again is one product of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.stats.intervals import FEWEST, expanded_level

RESAMPLES = 2000

TOO_FEW_VOTES = "no item has two votes"
ONE_LABEL = "all votes are the same, so chance agreement is 1"
MISSING_VOTES = "some items lack votes"
NOT_TWO = "there are not two raters"


class Agreement(NamedTuple):
    """A coefficient with its 95% interval over items; NaN with the reason where it is undefined."""

    name: str
    value: float
    low: float
    high: float
    items: int
    reason: str | None = None


def agreements(votes: Int64s, labels: int, *, seed: int = 0) -> tuple[Agreement, ...]:
    """All coefficients of these votes.

    >>> [round(one.value, 3) for one in agreements(np.array([[0, 0], [1, 1], [0, 1], [1, 1]]), 2)]
    [0.75, 0.5, 0.467, 0.533]
    """
    return (
        percent_agreement(votes, labels, seed=seed),
        cohen_kappa(votes, labels, seed=seed),
        fleiss_kappa(votes, labels, seed=seed),
        krippendorff_alpha(votes, labels, seed=seed),
    )


def percent_agreement(votes: Int64s, labels: int, *, seed: int = 0) -> Agreement:
    """The mean over items of the share of pairs of votes that are equal; items with one vote are left out."""
    counts = _counts(votes, labels)
    total = counts.sum(axis=1)
    used = total >= 2
    if not used.any():
        return _undefined("per cent", TOO_FEW_VOTES)
    pairs = (counts * (counts - 1)).sum(axis=1)[used] / (total * (total - 1))[used]
    features = np.stack([pairs, np.ones(len(pairs))], axis=1)
    return _estimated("per cent", features, lambda sums: sums[..., 0] / sums[..., 1], seed)


def cohen_kappa(votes: Int64s, labels: int, *, seed: int = 0) -> Agreement:
    """``(p_o - p_e) / (1 - p_e)`` of two raters, ``p_e`` by the labels of each. Items with both votes count.

    Reference: Cohen, A coefficient of agreement for nominal scales, 1960.
    """
    name = "Cohen's kappa"
    if votes.shape[1] != 2:
        return _undefined(name, NOT_TWO)
    both = votes[(votes >= 0).all(axis=1)]
    if not len(both):
        return _undefined(name, TOO_FEW_VOTES)
    one, two = (np.eye(labels)[both[:, rater]] for rater in (0, 1))  # (N, C)
    features = np.concatenate([(one * two).sum(axis=1, keepdims=True), one, two], axis=1)

    def kappa(sums: Floats) -> Floats:
        first, second = sums[..., 1 : labels + 1], sums[..., labels + 1 :]
        n = first.sum(axis=-1)
        observed, chance = sums[..., 0] / n, (first * second).sum(axis=-1) / n**2
        return _beyond_chance(observed, chance)

    return _estimated(name, features, kappa, seed)


def fleiss_kappa(votes: Int64s, labels: int, *, seed: int = 0) -> Agreement:
    """``(P - P_e) / (1 - P_e)`` of any number of raters, all of whom rated every item.

    Reference: Fleiss, Measuring nominal scale agreement among many raters, 1971.
    """
    name = "Fleiss' kappa"
    counts = _counts(votes, labels)
    n = int(counts.sum(axis=1).max(initial=0))
    if n < 2:
        return _undefined(name, TOO_FEW_VOTES)
    if (counts.sum(axis=1) != n).any():
        return _undefined(name, MISSING_VOTES)
    pairs = (counts * (counts - 1)).sum(axis=1, keepdims=True) / (n * (n - 1))
    features = np.concatenate([pairs, counts], axis=1)

    def kappa(sums: Floats) -> Floats:
        shares = sums[..., 1:] / sums[..., 1:].sum(axis=-1, keepdims=True)
        return _beyond_chance(sums[..., 0] / (sums[..., 1:].sum(axis=-1) / n), (shares**2).sum(axis=-1))

    return _estimated(name, features, kappa, seed)


def krippendorff_alpha(votes: Int64s, labels: int, *, seed: int = 0) -> Agreement:
    """``1 - D_o / D_e`` for labels without an order; votes may be missing.

    ``D_o = (1/n) sum_u sum_c n_uc (m_u - n_uc) / (m_u - 1)``, ``D_e = sum_c n_c (n - n_c) / (n (n - 1))``
    over items u with ``m_u >= 2`` votes. Reference: Krippendorff, Computing Krippendorff's
    alpha-reliability, 2011.
    """
    name = "Krippendorff's alpha"
    counts = _counts(votes, labels)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return _undefined(name, TOO_FEW_VOTES)
    unlike = 1 - np.eye(labels)
    features = np.concatenate([_apart(counts, unlike)[:, None], counts], axis=1)
    return _estimated(name, features, lambda sums: _alpha(sums[..., 0], sums[..., 1:], unlike), seed)


def ordinal_alpha(items: Sequence[Sequence[float]]) -> float:
    """Krippendorff's alpha of ratings that have an order; NaN where there is nothing to disagree on.

    ``items`` has the ratings of each. The squared distance of ratings c < k is
    ``(n_c/2 + sum of n_g between + n_k/2)^2``, where n_g counts the ratings g of items with two or more.

    >>> round(ordinal_alpha([[1, 1], [2, 2], [3, 4]]), 4)
    0.9495
    """
    shared = [np.asarray(ratings, dtype=np.float64) for ratings in items if len(ratings) > 1]
    if not shared:
        return math.nan
    values = np.unique(np.concatenate(shared))
    counts = np.array([(ratings[:, None] == values).sum(axis=0) for ratings in shared], dtype=np.float64)
    totals = counts.sum(axis=0)  # (V,)
    middle = np.cumsum(totals) - totals / 2
    distance = (middle[:, None] - middle) ** 2
    return float(_alpha(_apart(counts, distance).sum(), totals, distance))


def _apart(counts: Floats, distance: Floats) -> Floats:
    """(N,): what the pairs of votes of each item lie apart, for one of its votes with all others."""
    votes = counts.sum(axis=1)
    return np.asarray((counts * (counts @ distance)).sum(axis=1) / (votes - 1))


def _alpha(apart: Floats, totals: Floats, distance: Floats) -> Floats:
    """Krippendorff's alpha of the sum of ``_apart`` and of how often each label was given, (..., C)."""
    n = totals.sum(axis=-1)
    expected = (totals * (totals @ distance)).sum(axis=-1) / (n * (n - 1))
    return _beyond_chance(1 - apart / n, 1 - expected)


def _counts(votes: Int64s, labels: int) -> Floats:
    """(N, C): how many votes each item has for each label."""
    return np.stack([(votes == label).sum(axis=1) for label in range(labels)], axis=1).astype(float)


def _beyond_chance(observed: Floats, chance: Floats) -> Floats:
    room = 1 - np.asarray(chance)
    some = room > 1e-12
    return np.where(some, (observed - chance) / np.where(some, room, 1.0), np.nan)


def _estimated(name: str, features: Floats, statistic: Callable[[Floats], Floats], seed: int) -> Agreement:
    """The statistic of the sums over items, and percentiles of it over items that are drawn again."""
    n = len(features)
    value = float(statistic(features.sum(axis=0)))
    if math.isnan(value):
        return _undefined(name, ONE_LABEL, n)
    if n < FEWEST:
        return Agreement(name, value, math.nan, math.nan, n, f"no interval: fewer than {FEWEST} items")
    generator = np.random.default_rng(seed)
    drawn = []
    for begin in range(0, RESAMPLES, step := max(1, (1 << 22) // n)):
        times = generator.multinomial(n, np.full(n, 1 / n), min(step, RESAMPLES - begin))
        drawn.append(statistic(times @ features))
    values = np.concatenate(drawn)
    values = values[np.isfinite(values)]
    level = expanded_level(0.95, n)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Agreement(name, value, float(min(low, value)), float(max(high, value)), n)


def _undefined(name: str, reason: str, items: int = 0) -> Agreement:
    return Agreement(name, math.nan, math.nan, math.nan, items, reason)
