"""The smallest and the largest D that the documents of a list can have, and the orders that have them.

The largest: start with the two ends, then always add the remaining end, lowest or highest, that is
farther from the mean of what was taken. For every k the k scores of largest variance are so many of the
lowest and so many of the highest, and these sets are nested: one order has the largest variance at every k
at once, whatever the weights. (The spread of a set is convex in each member, so a member between two that
were left out can move outwards; which end gains changes sides once; and from k to k + 1 neither end gives a
member back.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.measures.orders.smallest import LONGEST, least_by_intervals, less_by_subsets, order_by_intervals
from evenrank.measures.orders.spread import centred, inside, spread, spread_weights
from evenrank.measures.sums import padded_sum

CENTERS = ("prefix", "list")
EXACT_UP_TO = LONGEST  # documents; above, the smallest D comes from the programme over intervals
_NEAR = 1e-13  # of the span: distances that differ by less are equal
_MET = 1e-13  # of the programme's D: a fence as near as that is met


class Extremes(NamedTuple):
    """The range of D over all orders of each list; the smallest D lies between ``fence`` and ``least``."""

    least: Floats  # (Q,)
    most: Floats  # (Q,), exact
    fence: Floats  # (Q,), equal to least where that is proved
    proved: Bools  # (Q,)


class OneSided(NamedTuple):
    """An order of small D for each list, and whether it is proved that none has less."""

    order: Int64s  # (Q, K), places in the list, -1 in the padding
    proved: Bools  # (Q,)


def extremes(polarity: Floats, lengths: Int64s, *, step: int = 1, center: str = "prefix") -> Extremes:
    """The smallest and the largest D over all orders of each list (Q, K).

    The largest is exact, and so are both with ``center="list"``. With ``center="prefix"`` the smallest is
    exact for lists of at most 14 documents and where the fence is met; elsewhere it is the programme's.

    >>> found = extremes(np.array([[-2.0, -1, 1, 2]]), np.array([4]))
    >>> found.least.round(3).tolist(), found.most.round(3).tolist(), found.proved.tolist()
    ([2.481], [7.073], [True])
    """
    by_balance = _arranged(polarity, balanced_order(polarity, lengths, center=center))
    most = spread(by_balance, lengths, step=step, center=center)
    if center == "list":
        least = spread(
            _arranged(polarity, _by_deviation(polarity, lengths, 1)), lengths, step=step, center=center
        )
        return Extremes(least, most, least, np.ones(len(lengths), bool))
    x, _ = _sorted(polarity, lengths)
    least, fence, _ = _least(x, lengths, spread_weights(polarity.shape[1], step))
    proved = (lengths <= EXACT_UP_TO) | (least - fence <= _MET * least)
    return Extremes(least, most, np.where(proved, least, fence), proved)


def balanced_order(polarity: Floats, lengths: Int64s, *, center: str = "prefix") -> Int64s:
    """(Q, K): the order of the largest D, for every step at once: DUO is 0.

    Documents of equal polarity keep their order, and of two that would do as well the earlier goes first.

    >>> balanced_order(np.array([[3.0, 2, -1, -2, 1]]), np.array([5])).tolist()
    [[0, 3, 1, 2, 4]]
    """
    if center == "list":
        return _by_deviation(polarity, lengths, -1)
    x, places = _sorted(polarity, lengths)
    falling = np.argsort(np.where(inside(x.shape[1], lengths), -polarity, np.inf), axis=1, kind="stable")
    from_the_end = np.maximum(lengths[:, None] - 1 - np.arange(x.shape[1]), 0)
    above = np.take_along_axis(falling, from_the_end, axis=1)
    return _placed(_ends_first(x, places, above, lengths), x, places, lengths)


def one_sided_order(polarity: Floats, lengths: Int64s, *, step: int = 1, center: str = "prefix") -> OneSided:
    """The order of the smallest D that is known, and whether it is proved to be the smallest: DUO is 1.

    >>> one_sided_order(np.array([[1.0, -1, 1, -1, 1, -1]]), np.array([6])).order.tolist()
    [[1, 3, 5, 0, 2, 4]]
    """
    if center == "list":
        return OneSided(_by_deviation(polarity, lengths, 1), np.ones(len(lengths), bool))
    x, places = _sorted(polarity, lengths)
    weights = spread_weights(polarity.shape[1], step)
    least, fence, less = _least(x, lengths, weights)
    order = np.where(less >= 0, less, order_by_intervals(x, lengths, weights))
    proved = (lengths <= EXACT_UP_TO) | (least - fence <= _MET * least)
    return OneSided(_placed(order, x, places, lengths), proved)


def _ends_first(x: Floats, below: Int64s, above: Int64s, lengths: Int64s) -> Int64s:
    """(Q, K): for each rank the index into the sorted scores. The step over ranks takes all lists along.

    ``x`` (Q, K) is centred and ascends in each list. ``below`` and ``above`` are where the scores stood,
    equal ones in order when they are taken from below and from above: of two ends as far away as each other
    the one that stood earlier comes first, so that no side is preferred.
    """
    queries, depth = x.shape
    order = np.full((queries, depth), -1, np.int64)
    every, end = np.arange(queries), np.maximum(lengths - 1, 0)
    low, high = np.zeros(queries, np.int64), end.copy()
    total, first = np.zeros(queries), np.zeros(queries, bool)
    near = _NEAR * (x[every, end] - x[every, low]) if depth else total
    for k in range(depth):
        lowest, highest = x[every, low], x[every, high]
        further = (highest + lowest) - 2 * (total / max(k, 1))  # > 0 where the highest is farther off
        earlier = above[every, high] < below[every, low]
        take_high = np.where(np.abs(further) <= near, earlier, further > 0)
        if k == 0:  # one score has no spread: the two ends are taken in the order they stood in
            take_high = first = earlier
        elif k == 1:
            take_high = ~first
        order[:, k] = np.where(take_high, high, low)
        total = total + np.where(take_high, highest, lowest)
        high = np.maximum(high - take_high, 0)
        low = np.minimum(low + ~take_high, depth - 1)  # behind the end of a list nothing counts any more
    return np.where(inside(depth, lengths), order, -1)


def _least(x: Floats, lengths: Int64s, weights: Floats) -> tuple[Floats, Floats, Int64s]:
    """(Q,): the smallest D that is known and the fence; (Q, K) the order where it is not the programme's."""
    least, fence = least_by_intervals(x, lengths, weights)
    order = np.full(x.shape, -1, np.int64)
    (short,) = np.nonzero(lengths <= EXACT_UP_TO)
    if len(short):
        n = int(lengths[short].max())
        least[short], order[short, :n] = less_by_subsets(
            x[short, :n], lengths[short], weights, least[short], fence[short, :n]
        )
    return least, padded_sum(fence), order


def _sorted(polarity: Floats, lengths: Int64s) -> tuple[Floats, Int64s]:
    """(Q, K): each list's centred scores ascending, and where they stood; the padding stays behind."""
    there = inside(polarity.shape[1], lengths)
    places = np.argsort(np.where(there, polarity, np.inf), axis=1, kind="stable")
    return centred(np.take_along_axis(polarity, places, axis=1), lengths), places


def _placed(order: Int64s, x: Floats, places: Int64s, lengths: Int64s) -> Int64s:
    """An order of sorted scores as one of places, in which equal scores keep the order they had."""
    there = inside(order.shape[1], lengths)
    scores = np.where(there, np.take_along_axis(x, np.maximum(order, 0), axis=1), np.inf)
    ranks = np.argsort(scores, axis=1, kind="stable")  # the rank that each sorted score gets
    placed = np.full_like(order, -1)
    np.put_along_axis(placed, ranks, np.where(there, places, -1), axis=1)
    return placed


def _arranged(polarity: Floats, order: Int64s) -> Floats:
    return np.take_along_axis(polarity, np.maximum(order, 0), axis=1)


def _by_deviation(polarity: Floats, lengths: Int64s, sign: int) -> Int64s:
    """(Q, K): by distance from the list's mean, nearest first for 1, farthest first for -1.

    About the list's mean ``D = sum_j (p_j - mean)^2 W_j``, ``W_j = sum_{k>=j} w_k / k``, and W falls with j.
    """
    deviation = np.where(inside(polarity.shape[1], lengths), sign * centred(polarity, lengths) ** 2, np.inf)
    order = np.argsort(deviation, axis=1, kind="stable")
    return np.where(inside(polarity.shape[1], lengths), order, -1)
