"""How far the labels of the first i documents are from a target, for every i, looked up rather than computed.

Where every document has one value and all queries have the same target, a divergence is a function of whole
numbers: how many of the first i documents have each value. Of two values one number n tells all of it; of
more, a divergence that is a sum over values has a term for each n. Lists are many and pairs (i, n) few, so
that each is computed once for all lists of a run, by the same function that computes any others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats, Int64s, ragged
from evenrank.evidence.ranked_evidence import Ranked
from evenrank.measures.divergences import SIMILAR, SUMS
from evenrank.measures.sums import padded_sum

FEW, MOST = 1 << 16, 1 << 20  # pairs (i, n) that are always kept, and never: 8 MB for each value


class _Known:
    """The values of a function of (i, n), n of the first i: for each i those of a range of n, which grows."""

    def __init__(self, compute: Callable[[Int64s, Int64s], Floats], depth: int) -> None:
        self._compute = compute  # of n and i
        ranks = np.arange(depth + 1)
        self._firsts = ranks * (ranks + 1) // 2  # (K + 1,): where i has n = 0
        self._values = np.empty(pairs_of(depth))
        self._begins = np.zeros(depth + 1, dtype=np.int64)  # (K + 1,): of each i the first n that is known,
        self._ends = np.zeros(depth + 1, dtype=np.int64)  # and the one behind the last

    def at(self, places: Int64s, least: Int64s, most: Int64s, out: Floats | None = None) -> Floats:
        """The values at ``i (i + 1) / 2 + n``, where n of the first i is in ``least`` .. ``most``, (K,) each;
        where no list has so many ranks, least is above most."""
        self._extend(least, most)
        # every place is known; "clip" only says that none needs to be checked before it is copied
        found: Floats = self._values.take(places, out=out, mode="clip")
        return found

    def _extend(self, least: Int64s, most: Int64s) -> None:
        begins, ends = self._begins[1:], self._ends[1:]  # views: no document is before the first rank
        empty, asked = begins == ends, least <= most
        if not (asked & (empty | (least < begins) | (most >= ends))).any():
            return  # most of what a block has came before
        every = np.arange(1, len(least) + 1)
        room = np.sqrt(every).astype(np.int64)  # the next lists differ by about so much: they find it known
        low = np.where(asked & (empty | (least < begins)), np.maximum(least - room, 0), begins)
        high = np.where(asked & (empty | (most >= ends)), np.minimum(most + room, every) + 1, ends)
        # in front of what is known and behind it; where nothing is known, all of it is behind
        begins = np.where(empty, low, begins)
        ends = np.where(empty, low, ends)
        numbers = np.concatenate([ragged(low, begins - low), ragged(ends, high - ends)])
        ranks = np.concatenate([np.repeat(every, begins - low), np.repeat(every, high - ends)])
        self._values[self._firsts[ranks] + numbers] = self._compute(numbers, ranks)
        self._begins[1:], self._ends[1:] = low, high


def pairs_of(depth: int) -> int:
    """How many pairs (i, n) there are, n of the first i, down to a depth."""
    return (depth + 1) * (depth + 2) // 2


def match_distance_of_labels(ranked: Ranked, source: str, targets: Floats) -> Floats:
    """(Q, K): what NMD says of the shares of the first k labels and targets (Q, L), for any number of values.

    Whole numbers are counted up to each value, and divided once: shares are not added up. So the distance is
    the same whether it is looked up or computed.
    """
    counted = np.zeros(ranked.rows.shape, dtype=np.int64)  # (Q, K): labels up to a value
    upto = np.cumsum(targets, axis=1)  # (Q, L)
    common = _has_room(ranked) and bool((targets == targets[0]).all())
    terms = np.empty((targets.shape[1] - 1, *ranked.rows.shape))  # up to the last value all are counted
    for value in range(len(terms)):
        counted += _counts(ranked, source, value)
        if common:
            target = float(upto[0, value])
            name = f"distance of labels up to a value, target {target!r}, depth {ranked.depth}"
            known = ranked.kept(name, partial(_Known, partial(_distance, target), ranked.depth))
            known.at(counted + _first_places(ranked), *_range(ranked, counted), out=terms[value])
        else:
            terms[value] = _distance(upto[:, value, None], counted, _ranks(ranked))
    return padded_sum(terms, axis=0) / len(terms)


def _distance(target: Floats | float, count: Int64s, rank: Int64s) -> Floats:
    return np.asarray(np.abs(count / rank - target))


def _has_room(ranked: Ranked) -> bool:
    """Whether pairs (i, n) are fewer than the ranks of all lists, and not too many to be kept."""
    return pairs_of(ranked.depth) <= min(MOST, max(FEW, ranked.lists_in_all * ranked.depth))


def divergence_of_labels(ranked: Ranked, source: str, div: str, target: Floats) -> Floats | None:
    """(Q, K): what ``SIMILAR[div]`` says of the shares of the first k labels and one target (L,).

    ``source`` is the evidence that has the labels. None for a divergence that has to be computed from all
    shares together, and for lists so long or few that there are more pairs (i, n) than ranks.
    """
    values, depth = len(target), ranked.depth
    if not _has_room(ranked):
        return None
    name = f"{div} of labels, target {target.tolist()}, depth {depth}"
    if values == 2:

        def of_both(count: Int64s, rank: Int64s) -> Floats:
            return SIMILAR[div](np.stack([count / rank, (rank - count) / rank], axis=-1), target)

        return ranked.kept(name, lambda: _Known(of_both, depth)).at(*_places(ranked, source, 0))
    if div not in SUMS:
        return None
    terms = np.empty((values, *ranked.rows.shape))  # (L, Q, K)
    for value in range(values):
        of_value = partial(_term, div, target, value)
        known = ranked.kept(f"{name}, value {value}", partial(_Known, of_value, depth))
        known.at(*_places(ranked, source, value), out=terms[value])
    return SUMS[div].whole(padded_sum(terms, axis=0), target)


def _places(ranked: Ranked, source: str, value: int) -> tuple[Int64s, Int64s, Int64s]:
    """(Q, K): where ``_Known`` has the first i labels, n of them this value; (K,) the range of n."""

    def compute() -> tuple[Int64s, Int64s, Int64s]:
        counts = _counts(ranked, source, value)
        return counts + _first_places(ranked), *_range(ranked, counts)

    return ranked.remembered(f"{source} places of value {value}", compute)


def _range(ranked: Ranked, counts: npt.NDArray[Any]) -> tuple[Int64s, Int64s]:
    """(K,): the least and the largest count at each rank, of the lists that have it."""
    if ranked.lengths.min(initial=ranked.depth) == ranked.depth:
        least, most = counts.min(axis=0), counts.max(axis=0)
    else:
        there = ranked.mask.copy()
        there[:, :1] = True  # an empty list has its 0 of the first rank
        least = counts.min(axis=0, where=there, initial=ranked.depth + 1)
        most = counts.max(axis=0, where=there, initial=-1)
    return least.astype(np.int64), most.astype(np.int64)


def _counts(ranked: Ranked, source: str, value: int) -> npt.NDArray[np.int32]:
    """(Q, K): how many of the first i labels are this value."""
    return ranked.shared(
        f"{source} counts of value {value}",
        lambda: np.cumsum(ranked.labels(source) == value, axis=1, dtype=np.int32),  # many times as fast
    )


def _first_places(ranked: Ranked) -> Int64s:
    """(K,) or (Q, K): where ``_Known`` has the first i labels, none of them a value."""
    ranks = _ranks(ranked)
    return ranks * (ranks + 1) // 2


def _ranks(ranked: Ranked) -> Int64s:
    """(K,) or (Q, K): i; below a list its length."""
    ranks = np.arange(1, ranked.depth + 1)
    if ranked.lengths.min(initial=ranked.depth) < ranked.depth:
        ranks = np.clip(ranks, 1, np.maximum(ranked.lengths, 1)[:, None])
    return ranks


def _term(div: str, target: Floats, value: int, count: Int64s, rank: Int64s) -> Floats:
    """What one value adds to a divergence where ``count`` of the first ``rank`` documents have it."""
    return SUMS[div].term(count / rank, *(facts[value] for facts in SUMS[div].facts(target)))
