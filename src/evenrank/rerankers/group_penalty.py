"""Scores less a penalty for lists whose groups are far from their targets."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, number, parameter
from evenrank.measures.groups import NO_TARGET
from evenrank.rerankers.base import Reordered
from evenrank.rerankers.grouped import Closed, GroupReranker
from evenrank.rerankers.penalty import looks_to
from evenrank.rerankers.score_scale import SCALE, SCALE_MEANS, largest_first, scaled

_TIE = 1e-12  # equal sums differ in the last bit


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
        closed = Closed.of(evidence, self.groups(evidence))
        ranked = evidence.ranked
        scores = np.take_along_axis(scaled(ranked["scores"], ranked.mask, self.scale), closed.places, axis=1)
        shares = np.take_along_axis(ranked[self.source], closed.places[:, :, None], axis=1)  # (Q, K, L)
        undirected = self.without_target(evidence)  # (Q,)
        weight = np.where(undirected, 0.0, self.lam)[:, None]  # (Q, 1)
        fill = self._filled if self.marginal else self._sorted
        order = fill(scores, shares, self.target(evidence), weight, closed.sizes)
        return Reordered(self.embedded(evidence, closed, order), {NO_TARGET: undirected})

    def _sorted(
        self, scores: Floats, shares: Floats, target: Floats, weight: Floats, sizes: Int64s
    ) -> Int64s:
        there = np.arange(scores.shape[1]) < sizes[:, None]
        order = largest_first(scores - weight * _distance(shares, target), there, None)
        return np.where(order >= 0, order, np.arange(scores.shape[1]))

    def _filled(
        self, scores: Floats, shares: Floats, target: Floats, weight: Floats, sizes: Int64s
    ) -> Int64s:
        count, width = scores.shape
        free = np.arange(width) < sizes[:, None]
        order = np.tile(np.arange(width), (count, 1))
        above = np.zeros_like(target)  # (Q, L): the sum of memberships of those that stand already
        every = np.arange(count)
        for rank in range(int(sizes.max(initial=0))):
            mixed = (above[:, None, :] + shares) / (rank + 1)  # (Q, K, L)
            value = np.where(free, scores - weight * _distance(mixed, target), -np.inf)
            best = value.max(axis=1, keepdims=True, initial=-np.inf)
            close = value >= best - _TIE * np.maximum(1.0, np.abs(best))
            chosen = (close & free).argmax(axis=1)
            now = every[rank < sizes]
            order[now, rank] = chosen[now]
            free[now, chosen[now]] = False
            above[now] += shares[now, chosen[now]]
        return order


def _distance(shares: Floats, target: Floats) -> Floats:
    """(Q, K): half the sum of absolute differences."""
    return np.asarray(np.abs(shares - target[:, None, :]).sum(axis=2) / 2)
