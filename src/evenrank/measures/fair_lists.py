"""What each rank adds to a relevance measure that FAIR can divide by rank, and the most that a list can have.

``irm`` is a relevance measure that is a sum over ranks, the paper's IRM. One that looks at groups takes the
relevance of a document to a group to be its relevance times its share of the group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats, Int64s
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.measures.base import Measure
from evenrank.measures.diversity import ERR_IA, NRBP, alpha_nDCG, greedy_ideal, novelty_gain
from evenrank.measures.relevance import (
    ABOVE_ZERO,
    AP,
    ERR,
    RBP,
    best_grade,
    nDCG,
    share_of_largest,
    stop_probability,
)
from evenrank.measures.sums import padded_sum

BY_GROUP = (alpha_nDCG, ERR_IA, NRBP)
BY_DOCUMENT = (nDCG, RBP, AP, ERR)
JUDGED_ONLY = (AP, ERR)  # what a rank adds depends on grades that only judgements have
NAMES = "alpha_nDCG, nDCG, RBP, AP, ERR, ERR_IA or NRBP"


class ListArrays(NamedTuple):
    """The documents of ranked lists."""

    worth: Floats  # (Q, K): gain, for measures that do not look at groups
    relevant: Floats  # (Q, K): relevance, for those that do
    shares: Floats  # (Q, K, L)
    mask: Bools  # (Q, K)

    @property
    def covers(self) -> Floats:
        """(Q, K, L): J(d_i, g), relevance times share of a group."""
        return self.relevant[:, :, None] * self.shares

    def cut(self, depth: int | None) -> ListArrays:
        return ListArrays(
            self.worth[:, :depth], self.relevant[:, :depth], self.shares[:, :depth], self.mask[:, :depth]
        )

    def reordered(self, places: Int64s) -> ListArrays:
        """The same documents in another order: ``places`` (Q, K) are their old ranks, from 0 on."""
        rows, at, there = np.arange(len(places))[:, None], np.maximum(places, 0), places >= 0
        return ListArrays(
            self.worth[rows, at] * there,
            self.relevant[rows, at] * there,
            self.shares[rows, at] * there[:, :, None],
            there,
        )


def smallest_grade(irm: Measure) -> float:
    """The smallest grade that counts as relevant; any above 0 for a measure of graded gain."""
    rel: float | None = getattr(irm, "rel", None)
    return ABOVE_ZERO if rel is None else rel


def worth_of_grades(irm: Measure, grades: Floats, evidence: RankedEvidence) -> Floats:
    """(Q, D): the gain of a grade, for measures that do not look at groups."""
    if isinstance(irm, nDCG):
        return irm.gain(grades, best_grade(evidence))
    if isinstance(irm, ERR):
        most = evidence.query["relevance.max_grade"][:, None] if irm.max_grade is None else irm.max_grade
        return stop_probability(grades, most)
    if isinstance(irm, RBP) and irm.rel is None:
        return share_of_largest(grades, evidence)
    return (grades >= smallest_grade(irm)).astype(float)


def rank_gains(irm: Measure, lists: ListArrays) -> Floats:
    """(Q, K): IRM_i, what each rank adds, before it is divided by anything."""
    depth = lists.worth.shape[1]
    rank = np.arange(1, depth + 1)
    if isinstance(irm, nDCG):
        return lists.worth * attention.log2().weights(depth)
    if isinstance(irm, RBP):
        return lists.worth * irm.p ** (rank - 1)
    if isinstance(irm, AP):  # times the number of relevant documents, as the ideal is, too
        return np.asarray(lists.worth * np.cumsum(lists.worth, axis=1) / rank)
    if isinstance(irm, ERR):
        return attention.cascade(lists.worth) / rank
    if isinstance(irm, alpha_nDCG):
        return novelty_gain(lists.covers, irm.alpha) * attention.log2().weights(depth)
    if isinstance(irm, ERR_IA):
        return novelty_gain(lists.covers, irm.alpha) / rank
    if isinstance(irm, NRBP):
        return novelty_gain(lists.covers, irm.alpha) * irm.beta ** (rank - 1)
    raise ParameterError(f"FAIR: {irm!r} is no sum over ranks")  # refused when it was made


def ideal_by_document(irm: Measure, worth: Floats, cutoff: int | None) -> Floats:
    """(Q,): M of a measure that does not look at groups; ``worth`` (Q, J) is that of all documents."""
    if isinstance(irm, RBP):  # over k ranks even where the list is shorter
        most = 1 - irm.p**cutoff if cutoff is not None else 1.0
        return np.full(len(worth), most / (1 - irm.p))
    best = -np.sort(-worth, axis=1)[:, :cutoff]  # (Q, I)
    if isinstance(irm, AP):
        return padded_sum(best)  # precision is 1 down to the last of min(R, k) relevant documents
    if isinstance(irm, ERR):
        return padded_sum(attention.cascade(best) / np.arange(1, best.shape[1] + 1))
    return padded_sum(best * attention.log2().weights(best.shape[1]))


def ideal_by_group(irm: Measure, covers: Floats, cutoff: int | None) -> Floats:
    """(Q,): M of a measure that looks at groups; ``covers`` (Q, J, L) is that of all documents."""
    if isinstance(irm, alpha_nDCG):
        gains = greedy_ideal(covers, irm.alpha, cutoff)  # (Q, D)
        return padded_sum(gains * attention.log2().weights(gains.shape[1]))
    served = covers.any(axis=1).sum(axis=1).astype(float)  # (Q,): |A|
    if isinstance(irm, ERR_IA):
        steps = np.arange(cutoff or 1)
        return np.asarray(served * ((1 - irm.alpha) ** steps / (steps + 1)).sum())
    if isinstance(irm, NRBP):
        return np.asarray(served / (1 - (1 - irm.alpha) * irm.beta))
    raise ParameterError(f"FAIR: {irm!r} is no sum over ranks")
