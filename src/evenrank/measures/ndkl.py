"""Normalised discounted cumulative KL divergence of the first k documents, for every k."""

from __future__ import annotations

from evenrank import attention
from evenrank.arrays import Floats
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import alias, declare
from evenrank.measures.base import Direction, Result
from evenrank.measures.divergences import kullback_leibler
from evenrank.measures.groups import GroupMeasure
from evenrank.measures.relevance import divide
from evenrank.measures.sums import padded_sum


@declare
class NDKL(GroupMeasure):
    """How far the groups among the first documents are from the target, over all cut-offs, where the top
    counts most. 0 means that every part of the list from the top matches the target; infinity means that a
    group with a target of 0 is in the list.

    The name stands for normalised discounted Kullback-Leibler divergence. The mean is
    over the documents there are, up to the cut-off.

    When to use: to compare with studies of re-ranking that use it; prefer GF, which is bounded and knows
    ordinal groups.
    """

    in_words = "groups away from target"
    answers = (
        "are the groups represented as the target says, from the top",
        "candidates in a talent search",
        "distance of groups from a target over the whole list",
    )
    formula = "sum_i KL(p_i || q) / log2(1 + i), divided by sum_i 1 / log2(1 + i), i <= min(k, n)"
    reference = "Geyik, Ambler and Kenthapadi 2019, KDD; gfr-2022, Eq. 1"
    direction = Direction.LOWER
    bounds = (0.0, float("inf"))

    def compute(self, evidence: RankedEvidence) -> Result:
        return Result(padded_sum(self.explain(evidence)), self.undefined(evidence))

    def explain(self, evidence: RankedEvidence) -> Floats:
        target = self.target_shares(evidence)[:, None, :]  # (Q, 1, L)
        apart = kullback_leibler(self.prefix_shares(evidence), target)  # (Q, K)
        weights = attention.log2().weights(evidence.ranked.depth) * evidence.ranked.mask  # (Q, K)
        shares = divide(weights, padded_sum(weights)[:, None])
        # below the list, the divergence of the whole list stands: it may be infinite, and counts nothing
        apart[~evidence.ranked.mask] = 0.0
        return apart.clip(min=0.0) * shares


alias("measure", "nDKL", "NDKL")
