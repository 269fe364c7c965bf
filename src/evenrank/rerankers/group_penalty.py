"""Scores less a penalty for lists whose groups are far from their targets."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, number, parameter
from evenrank.measures.base import NO_TARGET
from evenrank.rerankers.base import Reordered
from evenrank.rerankers.grouped import GroupReranker, best_first
from evenrank.rerankers.penalty import looks_to
from evenrank.rerankers.score_scale import SCALE, SCALE_MEANS, largest_first, scaled


@declare
class GroupPenalty(GroupReranker):
    """Lowers the score of a document the more, the farther it takes the list from the groups' targets.
    ``lam=0`` keeps the order by score; the larger ``lam``, the more the targets count.

    With ``marginal=True`` ranks are filled one after the other with the largest ``s(d) - lam D(d)``, where
    D(d) is the distance of the groups' shares from their targets if d were added to the documents that stand
    already. With ``marginal=False`` D(d) is the distance of the document's own membership, so that documents
    of groups with a large target are favoured at every rank. The distance is half the sum of absolute
    differences, 0 to 1.
    """

    reference = "the penalty of a score, with a distance of shares (total variation) in place of words"
    uses_scores = True

    lam: float = parameter(1.0, number(0), "what a list that lacks everything it should have loses")
    scale: str = parameter("sd", SCALE, SCALE_MEANS)
    marginal: bool = parameter(True, flag(), "count the documents above; False: each document by itself")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({*super().needs, "ranked.scores"})

    @property
    def looks_to(self) -> int | None:
        return looks_to(self.cutoff, self.scale)

    def groups(self, evidence: RankedEvidence) -> Int64s:
        """Documents below the cut-off take no part."""
        groups = super().groups(evidence)
        return np.where(np.arange(groups.shape[1]) < (self.cutoff or groups.shape[1]), groups, -1)

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        there, ranked, target = self.groups(evidence) >= 0, evidence.ranked, self.target(evidence)
        scores, shares = scaled(ranked["scores"], ranked.mask, self.scale), ranked[self.source]  # (Q, K, L)
        undirected = self.without_target(evidence)  # (Q,)
        weight = np.where(undirected, 0.0, self.lam)[:, None]  # (Q, 1)
        if not self.marginal:
            chosen = largest_first(scores - weight * _distance(shares, target), there, None)
            return Reordered(self.placed(evidence, there, chosen), {NO_TARGET: undirected})
        above = np.zeros_like(target)  # (Q, L): the sum of memberships of those that stand already

        def value(free: Bools) -> Floats:
            rank = 1 + (there & ~free).sum(axis=1)[:, None, None]
            return np.asarray(scores - weight * _distance((above[:, None, :] + shares) / rank, target))

        def place(queries: Int64s, chosen: Int64s) -> None:
            above[queries] += shares[queries, chosen]

        chosen = best_first(there, value, place)
        return Reordered(self.placed(evidence, there, chosen), {NO_TARGET: undirected})


def _distance(shares: Floats, target: Floats) -> Floats:
    """(Q, K): half the sum of absolute differences."""
    return np.asarray(np.abs(shares - target[:, None, :]).sum(axis=2) / 2)
