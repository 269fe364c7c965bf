"""What re-rankers by the aspects of a query share: how likely a document is, for the query and for a group.

P(d|q) is the score of a document as a share of the scores that are re-ranked; P(d|g) is that times its
membership of the group. A document without a group has P(d|g) = 0 for all of them.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, number, parameter
from evenrank.measures.groups import NO_TARGET
from evenrank.measures.relevance import divide
from evenrank.rerankers.base import Reordered
from evenrank.rerankers.grouped import STAY, GroupReranker, around_unlabelled

TIE = 1e-12  # equal sums differ in the last bit
NONE, ERROR = "none", "error"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class AspectReranker(GroupReranker):
    """Takes at each rank the document of largest value; subclasses say what it is worth after the others."""

    uses_scores: ClassVar[bool] = True

    lam: float = parameter(0.5, number(0, 1), "weight of diversity; the rest is that of relevance")
    missing: str = parameter(
        STAY,
        choice(STAY, NONE, ERROR),
        "documents without a group: at their rank, relevant to no group, or an error",
    )

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({*super().needs, "ranked.scores"})

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        if self.missing != STAY:
            return self.filled(evidence)
        (found,) = around_unlabelled(evidence, self.source, lambda labelled: [self.filled(labelled)])
        return found

    def filled(self, evidence: RankedEvidence) -> Reordered:
        """Rank after rank the document of largest value."""
        ranked = evidence.ranked
        likely = likelihood(ranked["scores"], ranked.mask)  # (Q, K)
        by_group = likely[:, :, None] * ranked[self.source]  # (Q, K, L)
        target = self.target(evidence)  # (Q, L)
        free = ranked.mask.copy()  # (Q, K)
        state = np.zeros(target.shape)  # (Q, L): what the documents that stand already have done for a group
        order = np.full(ranked.mask.shape, -1, dtype=np.int64)
        every = np.arange(len(order))
        for rank in range(ranked.depth):
            value = np.where(free, self.values(likely, by_group, target, state, free), -np.inf)
            best = value.max(axis=1, keepdims=True)
            chosen: Int64s = np.argmax(value >= best - TIE, axis=1)
            live = rank < ranked.lengths
            order[live, rank] = chosen[live]
            free[every, chosen] &= ~live
            taken = by_group[every, chosen] * live[:, None]  # (Q, L)
            state = self.after(state, taken)
        return Reordered(order, {NO_TARGET: self.without_target(evidence)})

    def values(self, likely: Floats, by_group: Floats, target: Floats, state: Floats, free: Bools) -> Floats:
        """(Q, K): what each document is worth next."""
        raise NotImplementedError(f"{type(self).__name__} does not value documents")

    def after(self, state: Floats, taken: Floats) -> Floats:
        """(Q, L): the state after documents of P(d|g) ``taken`` (Q, L) have been placed."""
        raise NotImplementedError(f"{type(self).__name__} has no state")


def likelihood(scores: Floats, mask: Bools) -> Floats:
    """(Q, K): scores as shares of their sum; where one is below 0, of what they are above the smallest.

    >>> likelihood(np.array([[3.0, 1.0], [1.0, -1.0], [0.0, 0.0]]), np.ones((3, 2), bool)).tolist()
    [[0.75, 0.25], [1.0, 0.0], [0.5, 0.5]]
    """
    least = np.where(mask, scores, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    above = np.where(mask, scores - np.where(least < 0, least, 0.0), 0.0)
    total = above.sum(axis=1, keepdims=True)
    even = divide(mask.astype(float), mask.sum(axis=1, keepdims=True).astype(float))
    return np.where(total > 0, divide(above, total), even)
