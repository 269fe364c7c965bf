"""One document of each value: a shop of each company, an article of each source."""

from __future__ import annotations

import dataclasses

import numpy as np

from evenrank.data.attribute import UNIFORM
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.evidence.align import Sources
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, parameter
from evenrank.rerankers.base import Reordered, Reranking
from evenrank.rerankers.grouped import GroupReranker


@declare
class Unique(GroupReranker):
    """Keeps only the best document of each group among the ranks that are re-ranked, such as one product for
    each seller.

    A document without a value is one of its own, as a shop that belongs to no chain.
    """

    reference = "Sakai, Kim and Kang 2022 (gfr-2022), Section 6 (Base-UC)"
    shortens = True

    missing: str = parameter(
        "own", choice("own", "behind", "error"), "documents without a value: kept, kept behind, or an error"
    )

    def apply(self, run: Run, sources: Sources, draw: int = 0) -> Reranking:
        membership = sources.evidence.get(self.source)
        if isinstance(membership, Membership):  # no target is needed, nor the pool that one may come from
            plain = {**sources.evidence, self.source: membership.with_target(UNIFORM)}
            sources = dataclasses.replace(sources, evidence=plain)
        return super().apply(run, sources, draw)

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        groups = self.groups(evidence)  # (Q, K)
        alone = groups < 0
        order = np.argsort(groups, axis=1, kind="stable")
        again = np.zeros(groups.shape, dtype=bool)
        again[:, 1:] = np.diff(np.take_along_axis(groups, order, axis=1), axis=1) == 0
        repeated = np.empty_like(again)
        np.put_along_axis(repeated, order, again, axis=1)
        keep = evidence.ranked.mask & (alone | ~repeated)
        behind = (self.missing == "behind") & alone
        places = np.argsort(np.where(keep, behind, 2), axis=1, kind="stable")
        return Reordered(np.where(np.take_along_axis(keep, places, axis=1), places, -1))
