"""The order of the largest spread, prefix by prefix.

Start with the two ends, then always add the remaining end, lowest or highest, that is farther from the mean
of what was taken. For every k the k scores of largest variance are so many of the lowest and so many of the
highest, and these sets are nested: one order has the largest variance at every k at once, whatever the
weights. (The spread of a set is convex in each member, so a member between two that were left out can move
outwards; which end gains changes sides once; and from k to k + 1 neither end gives a member back.)
"""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.measures.orders.compiled import kernel

_NEAR = 1e-13  # of the span: distances that differ by less are equal
_STEPS_OF_NUMPY = 100  # a rank costs what so many intervals cost


def ends_first(x: Floats, below: Int64s, above: Int64s, lengths: Int64s) -> Int64s:
    """(Q, K): for each rank the index into the sorted scores. The step over ranks takes all lists along.

    ``x`` (Q, K) is centred and ascends in each list. ``below`` and ``above`` are where the scores stood,
    equal ones in order when they are taken from below and from above: of two ends as far away as each other
    the one that stood earlier comes first, so that no side is preferred.
    """
    queries, depth = x.shape
    order = np.full((queries, depth), -1, np.int64)
    if not order.size:
        return order
    first_of = np.arange(queries) * depth  # (Q,): where each list begins in the flat arrays
    flat_x, flat_below, flat_above = (np.ascontiguousarray(a).ravel() for a in (x, below, above))
    near = _NEAR * (flat_x[first_of + np.maximum(lengths - 1, 0)] - flat_x[first_of])
    fast = kernel(order.size * _STEPS_OF_NUMPY)
    if fast is not None:
        flat = (a.reshape(x.shape) for a in (flat_x, flat_below, flat_above))
        fast.ends_first(*flat, lengths, near, order)
        return order
    low, high = first_of.copy(), first_of + np.maximum(lengths - 1, 0)
    last = first_of + depth - 1
    total, first = np.zeros(queries), np.zeros(queries, bool)
    for k in range(depth):
        lowest, highest = flat_x[low], flat_x[high]
        further = (highest + lowest) - 2 * (total / max(k, 1))  # > 0 where the highest is farther off
        earlier = flat_above[high] < flat_below[low]
        take_high = np.where(np.abs(further) <= near, earlier, further > 0)
        if k == 0:  # one score has no spread: the two ends are taken in the order they stood in
            take_high = first = earlier
        elif k == 1:
            take_high = ~first
        order[:, k] = np.where(take_high, high, low) - first_of
        total = total + np.where(take_high, highest, lowest)
        high = np.maximum(high - take_high, first_of)
        low = np.minimum(low + ~take_high, last)  # behind the end of a list nothing counts any more
    return np.where(np.arange(depth) < lengths[:, None], order, -1)
