"""Scores less a penalty: for group words, or for a list whose groups are far from their targets.

Scores are divided by their deviation, so that a penalty means the same for every ranker.
"""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, flag, integer, number, parameter
from evenrank.measures.base import NO_TARGET
from evenrank.measures.neutrality import ranked_neutrality
from evenrank.rerankers.base import Reordered, Reranker
from evenrank.rerankers.grouped import GroupReranker, best_first

DEPTH = 100
"""The deviation is that of so many first scores, so that it does not depend on how long a list is."""

_ROUNDING = 1e-12  # by so little at most differ the mean of equal scores from them, and sums that are equal

SCALE = choice("sd", "none")
SCALE_MEANS = (
    f"'sd': scores are divided by their standard deviation over the query's first {DEPTH} ranks; "
    "'none': they are taken as they are, as for cosines"
)


def scaled(scores: Floats, mask: Bools, scale: str) -> Floats:
    """(Q, K): the scores divided by their deviation (divisor n); where that is 0 they are left as they are.

    >>> scaled(np.array([[4.0, 2.0], [1.0, 1.0]]), np.ones((2, 2), dtype=bool), "sd").tolist()
    [[4.0, 2.0], [1.0, 1.0]]
    """
    if scale == "none":
        return scores
    values = np.where(mask, scores, 0.0) / _unit(scores, mask)
    deviation = deviations(values, mask)  # (Q, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(deviation > 0, values / deviation, scores))


def deviations(scores: Floats, mask: Bools) -> Floats:
    """(Q, 1): the standard deviation (divisor n) of the first scores of each list.

    >>> deviations(np.array([[4.0, 2.0]]), np.ones((1, 2), dtype=bool)).tolist()
    [[1.0]]
    """
    head = mask & (np.arange(mask.shape[1]) < DEPTH)
    unit = _unit(scores, mask)
    values = np.where(mask, scores, 0.0) / unit
    count = np.maximum(head.sum(axis=1, keepdims=True), 1)
    mean = (values * head).sum(axis=1, keepdims=True) / count
    spread = np.sqrt((((values - mean) * head) ** 2).sum(axis=1, keepdims=True) / count)
    return np.asarray(unit * np.where(spread > _ROUNDING, spread, 0.0))


def _unit(scores: Floats, mask: Bools) -> Floats:
    """(Q, 1): the largest score, since squares of very large and very small ones have no place."""
    largest = np.where(mask, np.abs(scores), 0.0).max(axis=1, keepdims=True, initial=0.0)
    return np.where(largest > 0, largest, 1.0)


def largest_first(values: Floats, mask: Bools, cutoff: int | None) -> Int64s:
    """(Q, K): the places of the first ``cutoff`` ranks by falling value, of equal ones the first first; then
    the others as they were, and -1 where the list has ended.

    Values that differ by no more than rounding are equal: 2 - 1/3 and 1 + 2/3 are, though not as floats.

    >>> largest_first(np.array([[1 + 2 / 3, 2 - 1 / 3, 3.0]]), np.ones((1, 3), dtype=bool), None).tolist()
    [[2, 0, 1]]
    """
    ranks = np.arange(mask.shape[1])
    part = np.where(mask, (ranks >= (cutoff or len(ranks))).astype(np.int64), 2)
    falling = np.where(part == 0, -values, 0.0)
    order = np.lexsort((falling, part), axis=1)
    falling, part = (np.take_along_axis(array, order, axis=1) for array in (falling, part))
    apart = np.diff(falling, axis=1) > _ROUNDING * np.maximum(1.0, np.abs(falling[:, 1:]))
    begins = np.pad(apart | (np.diff(part, axis=1) > 0), ((0, 0), (min(1, mask.shape[1]), 0)))
    level = np.cumsum(begins, axis=1)  # (Q, K)
    order = np.take_along_axis(order, np.lexsort((order, level), axis=1), axis=1)
    return np.where(ranks < mask.sum(axis=1, keepdims=True), order, -1)


@declare
class Penalty(Reranker):
    """Lowers the score of a document the more, the less neutral its words are. ``lam=0`` keeps the order by
    score; the larger ``lam``, the more neutrality counts.

    The order is that of ``s(d) - lam (1 - w(d))``, where w is the neutrality that NFaiRR measures and s the
    score. Documents without counts are taken as neutral. The scores of a run that was re-ranked before are
    ranks, and ``lam`` is then weighed against ranks. A penalty removes the words of its list and little else:
    judge it by words that it never saw.
    """

    reference = (
        "Rekabsaz, Kopeinik and Schedl 2021 (nfairc-advbert-2021), Eq. 2 (neutrality), taken off the score"
    )
    uses_scores = True

    lam: float = parameter(1.0, number(0), "what a document without any neutrality loses")
    scale: str = parameter("sd", SCALE, SCALE_MEANS)
    tau: int = parameter(1, integer(0), "a document with at most so many group words is neutral")
    missing: str = parameter(
        "neutral", choice("neutral", "error"), "documents without counts: neutral, or an error"
    )

    needs = frozenset({"ranked.words", "ranked.scores"})

    @property
    def looks_to(self) -> int | None:
        return looks_to(self.cutoff, self.scale)

    def lacking(self, evidence: RankedEvidence) -> Bools:
        lacks = super().lacking(evidence)
        return np.asarray(lacks & (np.arange(lacks.shape[1]) < (self.cutoff or lacks.shape[1])))

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        ranked = evidence.ranked
        w = np.where(ranked.known("words"), ranked_neutrality(evidence, self.tau), 1.0)  # (Q, K)
        values = scaled(ranked["scores"], ranked.mask, self.scale) - self.lam * (1 - w)
        return Reordered(largest_first(values, ranked.mask, self.cutoff))


def looks_to(cutoff: int | None, scale: str) -> int | None:
    """The ranks whose scores are needed: the deviation is that of more than are re-ranked."""
    return cutoff if cutoff is None or scale == "none" else max(cutoff, DEPTH)


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
