"""The orders between which DUO lies: opinions mixed from the top, and one side first."""

from __future__ import annotations

import dataclasses

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, integer, parameter
from evenrank.measures import orders
from evenrank.measures.indexical import polarity_scores
from evenrank.rerankers.base import Reordered, Reranker

NOT_PROVED = "no order with a larger DUO is known, but that there is none is not proved"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class OpinionOrder(Reranker):
    """An order by where documents stand on an axis of opinion."""

    reference = "Ziems et al. 2024 (pair-duo-2024), Section 3 (the orders that Eq. 6 is scaled by)"

    center: str = parameter(
        "prefix", choice(*orders.CENTERS), "variance about the mean of the prefix or the list"
    )
    axis: int = parameter(1, integer(1), "which axis of polarity")
    missing: str = parameter(
        "error", choice("error", "behind"), "documents without polarity: an error, or behind the others"
    )

    needs = frozenset({"ranked.polarity"})

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        ranked = evidence.ranked
        scores = polarity_scores(self, evidence, self.axis)
        known = ranked.known("polarity") & ranked.mask  # (Q, K)
        closed = np.lexsort((~known, ~ranked.mask), axis=1)  # those with polarity, those without, padding
        polarity = np.take_along_axis(scores[:, :, self.axis - 1] * known, closed, axis=1)
        sizes = known.sum(axis=1)
        order, proved = self.arranged(polarity, sizes)
        order = np.where(np.arange(ranked.depth) < sizes[:, None], order, np.arange(ranked.depth))
        places = np.take_along_axis(closed, order, axis=1)
        return Reordered(np.where(ranked.mask, places, -1), {NOT_PROVED: ~proved})

    def arranged(self, polarity: Floats, sizes: Int64s) -> tuple[Int64s, Bools]:
        """(Q, K): an order of the first ``sizes`` places, and (Q,) whether it is proved to be extreme."""
        raise NotImplementedError(f"{type(self).__name__} does not re-rank")


@declare
class MinDUO(OpinionOrder):
    """Mixes the opinions from the top: gives the order in which the measure DUO is 0.

    Every prefix spreads as much as any of its length can. Documents of equal polarity keep their order.
    """

    def arranged(self, polarity: Floats, sizes: Int64s) -> tuple[Int64s, Bools]:
        return orders.balanced_order(polarity, sizes, center=self.center), np.ones(len(sizes), dtype=bool)


@declare
class MaxDUO(OpinionOrder):
    """Puts the documents of one opinion first: gives the order in which the measure DUO is 1.

    Exact for lists of at most 14 documents and wherever a bound is met; the best that is known for others,
    which a warning counts. Documents of equal polarity keep their order.
    """

    step: int = parameter(1, integer(1), "DUO looks at every step-th rank")

    def arranged(self, polarity: Floats, sizes: Int64s) -> tuple[Int64s, Bools]:
        found = orders.one_sided_order(polarity, sizes, step=self.step, center=self.center)
        return found.order, found.proved
