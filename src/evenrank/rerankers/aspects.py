"""Re-rankers by the aspects of a query: how likely a document is, for the query and for each of its groups.

P(d|q) is the score of a document as a share of the scores that are re-ranked; P(d|g) is that times its
membership of the group. A document without a group has P(d|g) = 0 for all of them.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, number, parameter
from evenrank.measures.base import NO_TARGET
from evenrank.measures.sums import divide
from evenrank.rerankers.base import Reordered
from evenrank.rerankers.grouped import STAY, TIE, GroupReranker, around_unlabelled, best_first

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
        state = np.zeros(target.shape)  # (Q, L): what the documents that stand already have done for a group

        def value(free: Bools) -> Floats:
            return self.values(likely, by_group, target, state, free)

        def place(queries: Int64s, chosen: Int64s) -> None:
            state[queries] = self.after(state[queries], by_group[queries, chosen])

        return Reordered(best_first(ranked.mask, value, place), {NO_TARGET: self.without_target(evidence)})

    def values(self, likely: Floats, by_group: Floats, target: Floats, state: Floats, free: Bools) -> Floats:
        """(Q, K): what each document is worth next."""
        raise NotImplementedError(f"{type(self).__name__} does not value documents")

    def after(self, state: Floats, taken: Floats) -> Floats:
        """(Q, L): the state after documents of P(d|g) ``taken`` have been placed."""
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


@declare
class PM2(AspectReranker):
    """Gives groups seats in proportion to their targets, as an election does, and fills each seat with the
    document that is most relevant to the group, and somewhat to others. ``lam=1`` looks at the group of the
    seat alone.

    The name stands for proportionality model 2. The quotient of a group is ``q_g / (2 s_g + 1)`` for s_g
    seats so far (Sainte-Lague); the group g* of the largest one that has documents left gets the next rank.
    Its document has the largest ``lam qt_g* P(d|g*) + (1 - lam) sum_{g != g*} qt_g P(d|g)``, and takes for
    every group a part of a seat. P(d|q) is the score as a share of all scores (above the smallest one where a
    score is negative), P(d|g) that times membership. Use it where groups should have shares and
    documents may belong to several; prefer DetGreedy for one label each.
    """

    reference = "Dang and Croft 2012, Diversity by proportionality, SIGIR, Algorithm 2"

    def values(self, likely: Floats, by_group: Floats, target: Floats, state: Floats, free: Bools) -> Floats:
        """``state`` is s_g, the seats so far."""
        quotient = target / (2 * state + 1)  # (Q, L)
        left = np.asarray(((by_group > 0) & free[:, :, None]).any(axis=1))  # (Q, L)
        rated = np.where(left, quotient, -np.inf)
        best = rated.max(axis=1, keepdims=True, initial=-np.inf)
        chosen = np.argmax(rated >= best - TIE, axis=1)  # (Q,): the first of the largest
        weight = (1 - self.lam) * quotient
        every = np.arange(len(target))
        weight[every, chosen] = self.lam * quotient[every, chosen]
        some = left.any(axis=1, keepdims=True)  # without any, all are worth the same and keep their order
        return np.asarray((by_group * weight[:, None, :]).sum(axis=2) * some)

    def after(self, state: Floats, taken: Floats) -> Floats:
        return np.asarray(state + divide(taken, taken.sum(axis=1, keepdims=True)))


@declare
class xQuAD(AspectReranker):
    """Takes at each rank a document that is relevant and belongs to groups that the documents before it have
    served least. ``lam=0`` keeps the order by score; ``lam=1`` counts the groups alone.

    The name stands for explicit query aspect diversification; groups are the aspects and their targets how
    likely each is. The next document has the largest ``(1 - lam) P(d|q) + lam sum_g q_g P(d|g) prod_s (1 -
    P(s|g))`` over the documents s that stand already. P(d|q) is the score as a share of all scores (above the
    smallest one where a score is negative), P(d|g) that times membership. It does not apportion: a group with
    a large target comes early but need not get its share. Use PM2 or the Det family where shares matter.
    """

    reference = "Santos, Macdonald and Ounis 2010, Exploiting query reformulations for web search, WWW, Eq. 3"

    def values(self, likely: Floats, by_group: Floats, target: Floats, state: Floats, free: Bools) -> Floats:
        """``state`` is the logarithm of prod_s (1 - P(s|g))."""
        fresh = (by_group * (target * np.exp(state))[:, None, :]).sum(axis=2)  # (Q, K)
        return np.asarray((1 - self.lam) * likely + self.lam * fresh)

    def after(self, state: Floats, taken: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(state + np.log1p(-np.minimum(taken, 1.0)))
