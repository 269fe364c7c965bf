"""Which of two sides a list leans to: the mean over ranks of G(a_1) - G(a_2), 1 for the first value."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.attention import Attention
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, grade, parameter
from evenrank.measures.base import EMPTY_LIST, NOT_JUDGED, Direction, reasons
from evenrank.measures.evidence_attention import attention_parameter
from evenrank.measures.groups import GroupMeasure
from evenrank.measures.relevance import ranks
from evenrank.measures.sums import divide, padded_sum

NONE_RETRIEVED = "no relevant document in the list"


class LeaningMeasure(GroupMeasure):
    """A signed measure of an attribute of two values; there is no target."""

    direction = Direction.SIGNED
    bounds = (-1.0, 1.0)
    two_values = True
    undefined_when = reasons(EMPTY_LIST)

    def leaning(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): +1 for a document of the first value, -1 for one of the second; 0 in the padding."""
        shares = self.membership(evidence)
        leaning: Floats = shares[:, :, 0] - shares[:, :, 1]
        return leaning


@declare
class OB(LeaningMeasure):
    """Which of two groups the first t documents lean to on average, over all t down to the cut-off. 1 means
    only documents of the first group, -1 only documents of the second; 0 means that they balance.

    The name stands for output bias.

    When to use: for the political or other leaning of the results to one of two sides, over cut-offs; prefer
    DUO for the order alone and AWRF for more groups.
    """

    in_words = "lean of the groups"
    formula = "1/k sum_{t<=k} 1/t sum_{i<=t} (G_i(a_1) - G_i(a_2)), over min(k, n) ranks"
    reference = "Kulshrestha et al. 2017, Quantifying search bias, CSCW"

    def explain(self, evidence: RankedEvidence) -> Floats:
        reciprocal = evidence.ranked.mask / ranks(evidence)  # (Q, K): 1/t
        # rank i is part of the means of all t >= i
        later = np.cumsum(reciprocal[:, ::-1], axis=1)[:, ::-1]  # (Q, K)
        lengths = evidence.ranked.lengths[:, None].astype(float)  # (Q, 1)
        return divide(self.leaning(evidence) * later, lengths)


@declare
class MeanPolarity(LeaningMeasure):
    """Which of two groups the documents lean to on average, weighted by the attention that they get. 1 means
    only documents of the first group, -1 only documents of the second; 0 means that they balance.

    With ``relevant=True`` only relevant documents count.

    When to use: for the mean leaning of the results to one of two sides or stances, by attention; prefer OB
    for an average over cut-offs and AWRF for a target.
    """

    name = "Polarity"
    in_words = "lean of the groups"
    formula = "sum_{i<=k} v_i (G_i(a_1) - G_i(a_2)) / sum_{i<=k} v_i"
    reference = "Gezici et al. 2021, Evaluation metrics for measuring bias in search engine results, IRJ 24"
    undefined_when = reasons(EMPTY_LIST) | {
        NOT_JUDGED: "the query has no judgements, and only relevant documents count",
        NONE_RETRIEVED: "only relevant documents count, and there is none",
    }

    attention: Attention = attention_parameter()
    relevant: bool = parameter(False, flag(), "count relevant documents only; the others get no attention")
    rel: float = parameter(1, grade(), "smallest grade that is relevant")

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | ({"ranked.relevance"} if self.relevant else set())

    def attended(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): the attention of the ranks that count."""
        counts = evidence.ranked.mask
        if self.relevant:
            counts = counts & (evidence.ranked["relevance"] >= self.rel)
        return self.attention.weights(evidence.ranked.depth) * counts

    def explain(self, evidence: RankedEvidence) -> Floats:
        weights = self.attended(evidence)
        return divide(self.leaning(evidence) * weights, padded_sum(weights)[:, None])

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        reasons = super().undefined(evidence)
        if self.relevant:
            reasons[NOT_JUDGED] = ~evidence.query["relevance.judged"]
            reasons[NONE_RETRIEVED] = self.attended(evidence).sum(axis=1) == 0
        return reasons
