"""Neutral documents first, as far as relevance allows."""

from __future__ import annotations

import numpy as np

from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, integer, parameter
from evenrank.measures.neutrality import ranked_neutrality
from evenrank.rerankers.base import Reordered, Reranker

_DECIMALS = 12  # equal neutralities differ in the last bit


@declare
class Neutral(Reranker):
    """Puts the most neutral documents first, within bands of ranks that count as equally relevant.

    ``band=10`` sorts ranks 1 to 10, 11 to 20, and so on; 1 changes nothing, None sorts the whole list.
    """

    reference = (
        "Rekabsaz, Kopeinik and Schedl 2021 (nfairc-advbert-2021), Eq. 2 (neutrality), as a sorting key"
    )

    band: int | None = parameter(10, integer(1, optional=True), "ranks in a band; None: all of them")
    tau: int = parameter(1, integer(0), "a document with at most so many group words is neutral")
    missing: str = parameter(
        "error",
        choice("error", "neutral", "behind"),
        "documents without counts: an error, without group words, or last of their band",
    )

    needs = frozenset({"ranked.words"})

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        mask = evidence.ranked.mask  # (Q, K)
        w = np.round(ranked_neutrality(evidence, self.tau), _DECIMALS)
        if self.missing == "behind":
            w = np.where(evidence.ranked.known("words"), w, -np.inf)
        width = mask.shape[1]
        bands = np.where(mask, np.arange(width) // (self.band or max(width, 1)), width)
        order = np.lexsort((-w, bands), axis=1)
        return Reordered(np.where(mask, order, -1))
