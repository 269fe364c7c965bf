"""The discounted spread of opinions in a list: ``D(r) = sum_k u_k / log2 k``, k = s, 2s, .. from 2 on."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.measures.sums import padded_sum

_ROUNDING = 16 * np.finfo(np.float64).eps  # of deviations from the mean, for scores of at most 1


def spread_weights(depth: int, step: int = 1) -> Floats:
    """(K,): ``1 / log2 k`` at every step-th rank, 0 at the others and at rank 1, whose spread is 0."""
    k = np.arange(1, depth + 1)
    return np.where((k % step == 0) & (k > 1), 1 / np.log2(np.maximum(k, 2)), 0.0)


def inside(depth: int, lengths: Int64s) -> Bools:
    """(Q, K): True at the ranks that a list has."""
    there: Bools = np.arange(depth) < lengths[:, None]
    return there


def centred(polarity: Floats, lengths: Int64s) -> Floats:
    """(Q, K): scores less their list's mean, 0 in the padding: squares lose no digits to an offset.

    Twice, since the mean of scores far from 0 is itself rounded.
    """
    there = inside(polarity.shape[1], lengths)
    x = np.where(there, polarity, 0.0)
    for _ in range(2):
        mean = padded_sum(x) / np.maximum(lengths, 1)
        x = np.where(there, x - mean[:, None], 0.0)
    return x


def rescaled(polarity: Floats, lengths: Int64s) -> tuple[Floats, Bools]:
    """(Q, K): scores times a power of two of their list's own, and (Q,) where all are equal but for rounding.

    The farthest from the list's mean is then between 1/2 and 1 away: ranges of D over orders compare with
    fixed tolerances, and squares neither vanish nor overflow, however small or large the scores are.

    >>> rescaled(np.array([[1e-9, -1e-9]]), np.array([2]))[0].round(3).tolist()
    [[0.537, -0.537]]
    """
    x = np.where(inside(polarity.shape[1], lengths), polarity, 0.0)
    x = np.ldexp(x, -_exponents(x))
    apart = centred(x, lengths)
    same: Bools = np.abs(apart).max(axis=1, initial=0.0) <= _ROUNDING
    return np.ldexp(x, np.where(same[:, None], 0, -_exponents(apart))), same


def _exponents(x: Floats) -> Int64s:
    """(Q, 1): the power of two just above the largest size of each row."""
    exponents: Int64s = np.frexp(np.abs(x).max(axis=1, initial=0.0, keepdims=True))[1]
    return exponents


def prefix_spread(polarity: Floats, lengths: Int64s, center: str = "prefix") -> Floats:
    """(Q, K): ``u_k``, the mean square distance of the first k scores from their own mean, or the list's.

    >>> prefix_spread(np.array([[1.0, 1, -1, -1]]), np.array([4])).round(3).tolist()
    [[0.0, 0.0, 0.889, 1.0]]
    """
    depth = polarity.shape[1]
    x = centred(polarity, lengths)
    k = np.arange(1, depth + 1)
    u = np.cumsum(x * x, axis=1) / k
    if center == "prefix":
        u = np.maximum(u - (np.cumsum(x, axis=1) / k) ** 2, 0.0)
    return np.where(inside(depth, lengths), u, 0.0)


def spread(polarity: Floats, lengths: Int64s, *, step: int = 1, center: str = "prefix") -> Floats:
    """(Q,): D of the lists as they stand."""
    return padded_sum(prefix_spread(polarity, lengths, center) * spread_weights(polarity.shape[1], step))
