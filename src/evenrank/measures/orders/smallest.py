"""The order of the smallest spread, nearly: a programme over intervals of the sorted scores.

``f_k(l) = min(f_{k-1}(l), f_{k-1}(l+1)) + w_k var(x_l .. x_{l+k-1})`` is the least D of an order whose
prefixes are all intervals; ``f_n(1)`` is the answer. That no other order has less is not proved, and it is
false for arbitrary weights. What is proved is the fence ``sum_k w_k min_l var(x_l .. x_{l+k-1})``: no k
scores have a smaller variance than the best k neighbours, so no order has less than that.

Of short lists it is exact, by the best way to every set of documents: the spread of the first k depends on
which documents they are and not on their order, so the least cost of a set is its own spread plus the least
cost among the sets that lack one of its members. Of the 2^n sets only those are looked at from which D could
still come out below what is known already: a set is left out when its cost, plus the least that the longer
prefixes must cost, reaches that.
"""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.measures.orders.spread import inside
from evenrank.measures.sums import padded_sum

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


LONGEST = 14  # documents
_SETS_AT_ONCE = 1 << 22
_LESS = 1e-13  # of the known D: what is not less by that much is not less


class _Sets(NamedTuple):
    """Sets of one size, each once."""

    query: Int64s  # (F,)
    members: Int64s  # (F,) bits
    cost: Floats  # (F,): the least D of an order of the set
    total: Floats  # (F,)
    squares: Floats  # (F,)
    before: Int64s  # (F,): the set, among those one smaller, that it came from
    added: Int64s  # (F,): the document that was added to it

    def select(self, rows: Bools | Int64s) -> _Sets:
        columns: Any = (column[rows] for column in self)
        return _Sets(*columns)


def less_by_subsets(
    x: Floats, lengths: Int64s, weights: Floats, known: Floats, fence: Floats
) -> tuple[Floats, Int64s]:
    """Where some order of a sorted, centred list (Q, K <= 14) has a smaller D than ``known`` (Q,): the
    smallest D there is, and an order (Q, K) that has it. Elsewhere ``known`` itself, and -1: that is proved.

    ``fence`` (Q, K) has for each k the least that the first k can add to D.
    """
    queries, depth = x.shape
    least, order = known.copy(), np.full((queries, depth), -1, np.int64)
    at_once = max(1, _SETS_AT_ONCE // max(1, comb(depth, depth // 2) * depth))
    for begin in range(0, queries, at_once):
        part = slice(begin, begin + at_once)
        _search(x[part], lengths[part], weights, fence[part], least[part], order[part])
    return least, order


def _search(x: Floats, lengths: Int64s, weights: Floats, fence: Floats, least: Floats, order: Int64s) -> None:
    """Fill ``least`` and ``order`` where there is less than ``least``."""
    depth = x.shape[1]
    enough = least * (1 - _LESS)
    ahead = padded_sum(fence)[:, None] - np.cumsum(fence, axis=1)  # (Q, K): what is behind k must cost
    same = np.zeros(x.shape, bool)  # of equal scores the first is taken first: other orders cost the same
    same[:, 1:] = x[:, 1:] == x[:, :-1]
    possible = padded_sum(fence) < enough
    (start,) = np.nonzero(possible)
    none = np.zeros(len(start))
    sizes = [_Sets(start, np.zeros(len(start), np.int64), none, none, none, start, start)]
    for k in range(1, depth + 1):
        sets = _one_more(sizes[-1], x, lengths, same, weights[k - 1], k)
        keep = sets.cost + ahead[sets.query, k - 1] < enough[sets.query]
        sets = _each_once(sets.select(keep), depth)
        sizes.append(sets)
        if not len(sets.query):
            return
        (found,) = np.nonzero(lengths[sets.query] == k)
        least[sets.query[found]] = sets.cost[found]
        for place in range(k, 0, -1):
            order[sets.query[found], place - 1] = sizes[place].added[_back(sizes, found, k, place)]


def _one_more(sets: _Sets, x: Floats, lengths: Int64s, same: Bools, weight: float, k: int) -> _Sets:
    """Each set with each document that it lacks."""
    documents = np.arange(x.shape[1])
    member = (sets.members[:, None] >> documents) & 1 == 1  # (F, K)
    can_be_added = ~member & (documents < lengths[sets.query, None])
    can_be_added[:, 1:] &= ~same[sets.query, 1:] | member[:, :-1]
    before, added = np.nonzero(can_be_added)
    query = sets.query[before]
    score = x[query, added]
    total, squares = sets.total[before] + score, sets.squares[before] + score * score
    mean = total / k
    cost = sets.cost[before] + weight * np.maximum(squares / k - mean * mean, 0.0)
    return _Sets(query, sets.members[before] | (1 << added), cost, total, squares, before, added)


def _each_once(sets: _Sets, depth: int) -> _Sets:
    """Of the ways to one set the cheapest."""
    names = (sets.query << depth) | sets.members
    cheapest = np.lexsort((sets.cost, names))
    first = np.ones(len(names), bool)
    first[1:] = names[cheapest][1:] != names[cheapest][:-1]
    return sets.select(cheapest[first])


def _back(sizes: list[_Sets], found: Int64s, k: int, place: int) -> Int64s:
    """The sets of size ``place`` on the way to those found at size ``k``."""
    for size in range(k, place, -1):
        found = sizes[size].before[found]
    return found
