"""The order of the smallest spread of a short list, exactly: the best way to every set of documents.

The spread of the first k depends on which documents they are and not on their order, so the least cost of a
set is its own spread plus the least cost among the sets that lack one of its members. Of the 2^n sets only
those are looked at from which D could still come out below what is known already: a set is left out when its
cost, plus the least that the longer prefixes must cost, reaches that.
"""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.measures.sums import padded_sum

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
