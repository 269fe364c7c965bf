"""Which numbers are equal: values computed in another order differ in the last bit, and still are tied."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Floats

TOLERANCE = 1e-12


def slack(values: Floats) -> float:
    """How far apart two of these may lie and still count as equal: ``1e-12 max(1, max |x|)``."""
    return TOLERANCE * max(1.0, float(np.abs(values).max(initial=0.0)))


def tied_ranks(values: Floats) -> Floats:
    """The rank of each value from 1 for the smallest; tied values share the mean of their ranks.

    >>> tied_ranks(np.array([0.3, 0.1 + 0.2, 0.1, 0.9])).tolist()
    [2.5, 2.5, 1.0, 4.0]
    """
    if not len(values):
        return np.empty(0)
    order = np.argsort(values, kind="stable")  # (n,)
    starts = np.concatenate([[True], np.diff(values[order]) > slack(values)])
    group = np.cumsum(starts) - 1  # (n,) which run of equal values each belongs to
    first = np.flatnonzero(starts)
    size = np.bincount(group)
    ranks = np.empty(len(values))
    ranks[order] = (first + (size + 1) / 2)[group]
    return ranks


def tie_sizes(ranks: Floats) -> Floats:
    """How many values share each of the ranks that ``tied_ranks`` gave."""
    return np.unique(ranks, return_counts=True)[1].astype(np.float64)
