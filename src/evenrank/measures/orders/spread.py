"""The discounted spread of opinions in a list: ``D(r) = sum_k u_k / log2 k``, k = s, 2s, .. from 2 on."""

from __future__ import annotations

import numpy as np

from evenrank.data.strings import Int64s
from evenrank.evidence.blocks import Bools
from evenrank.measures.base import Floats


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
        mean = x.sum(axis=1) / np.maximum(lengths, 1)
        x = np.where(there, x - mean[:, None], 0.0)
    return x


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
    return prefix_spread(polarity, lengths, center) @ spread_weights(polarity.shape[1], step)
