"""How far the labels of the first i documents are from a target, for every i, looked up rather than computed.

Where every document has one value and all queries have the same target, a divergence is a function of whole
numbers: how many of the first i documents have each value. Of two values one number n tells all of it; of
more, a divergence that is a sum over values has a term for each n. Lists are many and pairs (i, n) few, so
that each is computed once for all lists of a run, by the same function that computes any others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.evidence.ranked_evidence import Ranked
from evenrank.measures.divergences import SIMILAR, SUMS
from evenrank.measures.sums import padded_sum

FEW, MOST = 1 << 16, 1 << 24  # pairs (i, n) that are always kept, and never: 128 MB for each divergence


class _Known:
    """The values of a function of (i, n), n of the first i, as far as somebody has asked for them."""

    def __init__(self, compute: Callable[[Int64s, Int64s], Floats], depth: int) -> None:
        self._compute = compute  # of n and i
        self._ranks = np.repeat(np.arange(depth + 1), np.arange(1, depth + 2))  # (T,): i has n = 0 .. i
        self._values = np.full(len(self._ranks), np.nan)

    def at(self, places: Int64s) -> Floats:
        """The values at ``i (i + 1) / 2 + n``."""
        found: Floats = self._values.take(places)
        unknown = np.isnan(found)
        if unknown.any():
            asked = np.zeros(len(self._values), dtype=bool)
            asked[places[unknown]] = True
            fresh = np.flatnonzero(asked)
            ranks = self._ranks[fresh]
            self._values[fresh] = self._compute(fresh - ranks * (ranks + 1) // 2, ranks)
            found = self._values.take(places)
        return found


def divergence_of_labels(ranked: Ranked, source: str, div: str, target: Floats) -> Floats | None:
    """(Q, K): what ``SIMILAR[div]`` says of the shares of the first k labels and one target (L,).

    ``source`` is the evidence that has the labels. None for a divergence that has to be computed from all
    shares together, and for lists so long or few that there are more pairs (i, n) than ranks.
    """
    values, depth = len(target), ranked.depth
    if (depth + 1) * (depth + 2) // 2 > min(MOST, max(FEW, ranked.rows.size)):
        return None
    name = f"{div} of labels, target {target.tolist()}, depth {depth}"
    if values == 2:

        def of_both(count: Int64s, rank: Int64s) -> Floats:
            return SIMILAR[div](np.stack([count / rank, (rank - count) / rank], axis=-1), target)

        return ranked.kept(name, lambda: _Known(of_both, depth)).at(_places(ranked, source, 0))
    if div not in SUMS:
        return None
    terms = np.empty((values, *ranked.rows.shape))  # (L, Q, K)
    for value in range(values):
        of_value = partial(_term, div, target, value)
        known = ranked.kept(f"{name}, value {value}", partial(_Known, of_value, depth))
        terms[value] = known.at(_places(ranked, source, value))
    return SUMS[div].whole(padded_sum(terms, axis=0), target)


def _places(ranked: Ranked, source: str, value: int) -> Int64s:
    """(Q, K): where ``_Known`` has the first i labels, n of them this value; below a list i is its length."""

    def compute() -> Int64s:
        ranks = np.arange(1, ranked.depth + 1)
        if ranked.lengths.min() < ranked.depth:
            ranks = np.clip(ranks, 1, np.maximum(ranked.lengths, 1)[:, None])
        counts = np.cumsum(ranked.labels(source) == value, axis=1)
        counts += ranks * (ranks + 1) // 2
        return counts

    return ranked.shared(f"{source} places of value {value}", compute)


def _term(div: str, target: Floats, value: int, count: Int64s, rank: Int64s) -> Floats:
    """What one value adds to a divergence where ``count`` of the first ``rank`` documents have it."""
    return SUMS[div].term(count / rank, *(facts[value] for facts in SUMS[div].facts(target)))
