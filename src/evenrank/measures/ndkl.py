"""Normalised discounted cumulative KL divergence of the first k documents, for every k."""

from __future__ import annotations

from evenrank import attention
from evenrank.evidence.blocks import RankedEvidence
from evenrank.grammar import alias, declare
from evenrank.measures.base import Direction, Floats, Result
from evenrank.measures.divergences import kullback_leibler, kullback_leibler_of_labels
from evenrank.measures.groups import GroupMeasure
from evenrank.measures.relevance import divide


@declare
class NDKL(GroupMeasure):
    """How far the groups among the first i documents are from the target, over all i, early ones first.

    Infinite where a value with a target of 0 is in the list. The mean is over the documents there are, up
    to the cut-off.
    """

    formula = "sum_i KL(p_i || q) / log2(1 + i), divided by sum_i 1 / log2(1 + i), i <= min(k, n)"
    reference = "Geyik, Ambler and Kenthapadi 2019, KDD; gfr-2022, Eq. 1"
    direction = Direction.LOWER
    bounds = (0.0, float("inf"))

    def compute(self, evidence: RankedEvidence) -> Result:
        return Result(self.explain(evidence).sum(axis=1), self.undefined(evidence))

    def explain(self, evidence: RankedEvidence) -> Floats:
        target, labels = self.target_shares(evidence), self.labels(evidence)  # (Q, L), (Q, K)
        if labels is None:
            apart = kullback_leibler(self.prefix_shares(evidence), target[:, None, :])  # (Q, K)
        else:
            apart = kullback_leibler_of_labels(labels, target)  # (Q, K)
        weights = attention.log2().weights(evidence.ranked.depth) * evidence.ranked.mask  # (Q, K)
        shares = divide(weights, weights.sum(axis=1, keepdims=True))
        # below the list, the divergence of the whole list stands: it may be infinite, and counts nothing
        apart[~evidence.ranked.mask] = 0.0
        return apart.clip(min=0.0) * shares


alias("measure", "nDKL", "NDKL")
