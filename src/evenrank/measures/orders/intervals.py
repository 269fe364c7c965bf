"""The order of the smallest spread, nearly: a programme over intervals of the sorted scores.

``f_k(l) = min(f_{k-1}(l), f_{k-1}(l+1)) + w_k var(x_l .. x_{l+k-1})`` is the least D of an order whose
prefixes are all intervals; ``f_n(1)`` is the answer. That no other order has less is not proved, and it is
false for arbitrary weights. What is proved is the fence ``sum_k w_k min_l var(x_l .. x_{l+k-1})``: no k
scores have a smaller variance than the best k neighbours, so no order has less than that.
"""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.measures.orders.spread import inside

_NUMBERS_AT_ONCE = 1 << 16  # so that the arrays of a pass stay in the cache
_CHOICES_AT_ONCE = 1 << 26
_MIXED = 1.25  # lists that differ in length by so much go through one pass


def least_by_intervals(x: Floats, lengths: Int64s, weights: Floats) -> tuple[Floats, Floats]:
    """(Q,): the programme's D for sorted, centred lists (Q, K); (Q, K) the fence, what each k must add."""
    least, fence = np.zeros(len(x)), np.zeros(x.shape)
    for queries in _batches(lengths, _NUMBERS_AT_ONCE, 1):
        depth = int(lengths[queries].max())
        least[queries], fence[queries, :depth], _ = _programme(x[queries, :depth], lengths[queries], weights)
    return least, fence


def order_by_intervals(x: Floats, lengths: Int64s, weights: Floats) -> Int64s:
    """(Q, K): an order that has the programme's D, as indexes into the sorted scores."""
    order = np.full(x.shape, -1, np.int64)
    for queries in _batches(lengths, _CHOICES_AT_ONCE, 2):
        n = lengths[queries]
        depth = int(n.max())
        choices = _programme(x[queries, :depth], n, weights, choices=True)[2]
        rows, left = np.arange(len(n)), np.zeros(len(n), np.int64)  # the interval of the first k begins there
        for k in range(depth, 0, -1):
            take_left = choices[k - 1, left, rows] & (k <= n)
            order[queries, k - 1] = np.where(k <= n, np.where(take_left, left, left + k - 1), -1)
            left = left + take_left
    return order


def _batches(lengths: Int64s, numbers: int, power: int) -> list[Int64s]:
    """All lists in groups of similar length, none of which takes more than so many numbers."""
    by_length = np.argsort(lengths, kind="stable")
    batches, begin = [], int((lengths < 1).sum())
    while begin < len(by_length):
        shortest = int(lengths[by_length[begin]])
        longest = max(int(shortest * _MIXED), shortest + 4)
        end = begin + max(1, numbers // longest**power)
        end = min(end, int(np.searchsorted(lengths[by_length], longest, side="right")))
        batches.append(by_length[begin:end])
        begin = end
    return batches


def _programme(
    x: Floats, lengths: Int64s, weights: Floats, *, choices: bool = False
) -> tuple[Floats, Floats, Bools]:
    """The step over k takes all lists and all intervals along: (Q,) and the fence (Q, K). With ``choices``
    (K, K, Q) also where the last score to be added to an interval was its lowest."""
    queries, n = x.shape
    x = _spaced(x, lengths)
    total, squares = np.zeros((n + 1, queries)), np.zeros((n + 1, queries))
    np.cumsum(x.T, axis=0, out=total[1:])
    np.cumsum(x.T * x.T, axis=0, out=squares[1:])
    cost, fence, least = np.zeros((n, queries)), np.zeros((n, queries)), np.zeros(queries)
    take_left = np.zeros((n, n, queries) if choices else (0, 0, 0), bool)
    whole = np.bincount(lengths, minlength=n + 1)
    for k in range(2, n + 1):
        m = n - k + 1  # intervals
        if choices:
            np.less(cost[1 : m + 1], cost[:m], out=take_left[k - 1, :m])
        now = np.minimum(cost[:m], cost[1 : m + 1], out=cost[:m])
        if weights[k - 1]:
            mean = (total[k:] - total[:m]) * (1 / k)
            variance = np.maximum((squares[k:] - squares[:m]) * (1 / k) - mean * mean, 0.0) * weights[k - 1]
            now += variance
            variance.min(axis=0, out=fence[k - 1])
        if whole[k]:
            least = np.where(lengths == k, cost[0], least)
    return least, np.where(inside(n, lengths), fence.T, 0.0), take_left


def _spaced(x: Floats, lengths: Int64s) -> Floats:
    """The lists with a padding so far apart that no interval which reaches into it is ever the best."""
    depth = x.shape[1]
    span = x.max(axis=1, initial=0.0) - x.min(axis=1, initial=0.0)
    far = np.maximum(1e3 * span, 1.0)[:, None] * (np.arange(depth) + 2)
    return np.where(inside(depth, lengths), x, far)
