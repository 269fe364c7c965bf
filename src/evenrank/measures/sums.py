"""Sums over ranks, and quotients, that are the same to the last bit for a query alone and among others.

Lists of one block are padded with zeros to the longest of them. ``numpy.sum`` and products of matrices choose
the order of their additions by the shape of the whole array, so that the last digit of a query's value would
depend on the other queries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenrank.arrays import Floats

_FEW = 16


def divide(numerator: Floats, denominator: Floats) -> Floats:
    """``numerator / denominator``, 0 where the denominator is 0 (those queries are marked undefined)."""
    return np.divide(
        numerator,
        denominator,
        out=np.zeros(np.broadcast(numerator, denominator).shape),
        where=denominator != 0,
    )


def set_sum(values: Any, axis: int = 1) -> Floats:
    """The sum of numbers >= 0 over an axis on which they stand in no order: documents of a pool.

    >>> set_sum(np.array([[0.3, 0.1, 0.2], [0.1, 0.2, 0.3]])).tolist()
    [0.6, 0.6]
    """
    return padded_sum(-np.sort(-np.asarray(values, dtype=np.float64), axis=axis), axis)


def padded_sum(values: Any, axis: int = 1) -> Floats:
    """The sum over an axis, which zeros behind the end do not change.

    Neighbours are added, then neighbours of these sums, and so on; one that is left over stays as it is,
    which is what adding a zero gives.

    >>> padded_sum(np.array([[0.1, 0.2, 0.3], [1.0, 2.0, 0.0]])).tolist()
    [0.6000000000000001, 3.0]
    """
    total = np.moveaxis(np.asarray(values, dtype=np.float64), axis, 0)
    if len(total) == 0:
        return np.zeros(total.shape[1:])
    if len(total) == 1:
        return np.array(total[0])
    # many numbers lie in rows, and are added there; few ones, such as those of groups, each as a plane
    order: Any = "K" if len(total) > _FEW else "C"
    while len(total) > 1:
        pairs = len(total) // 2
        following = np.empty_like(total[: len(total) - pairs], order=order)
        np.add(total[0 : 2 * pairs : 2], total[1::2], out=following[:pairs])
        following[pairs:] = total[2 * pairs :]
        total = following
    return np.asarray(total[0])
