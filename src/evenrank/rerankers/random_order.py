"""Lists in random order: what any method should do better than."""

from __future__ import annotations

import numpy as np

from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, integer, parameter
from evenrank.rerankers.base import Reordered, Reranker


@declare
class Random(Reranker):
    """Puts the documents into a random order; every order is equally likely."""

    reference = "Durstenfeld 1964, Algorithm 235: random permutation, CACM"
    stochastic = True

    seed: int = parameter(0, integer(0), "of the random order")

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        mask = evidence.ranked.mask  # (Q, K)
        keys = np.where(mask, generator.random(mask.shape), np.inf)
        return Reordered(np.where(mask, np.argsort(keys, axis=1, kind="stable"), -1))
