"""Scores less a penalty for group words."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, integer, number, parameter
from evenrank.measures.neutrality import neutrality
from evenrank.rerankers.base import Reordered, Reranker
from evenrank.rerankers.score_scale import DEPTH, SCALE, SCALE_MEANS, largest_first, scaled


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
        target = evidence.query["words.target"][:, None, :]  # (Q, 1, G)
        w = neutrality(ranked["words.counts"], target, self.tau, ranked["words.tokens"])  # (Q, K)
        w = np.where(ranked.known("words"), w, 1.0)
        values = scaled(ranked["scores"], ranked.mask, self.scale) - self.lam * (1 - w)
        return Reordered(largest_first(values, ranked.mask, self.cutoff))


def looks_to(cutoff: int | None, scale: str) -> int | None:
    """The ranks whose scores are needed: the deviation is that of more than are re-ranked."""
    return cutoff if cutoff is None or scale == "none" else max(cutoff, DEPTH)
