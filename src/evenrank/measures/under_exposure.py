"""Under-exposure: the attention that groups are owed."""

from __future__ import annotations

import numpy as np

from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare
from evenrank.measures.attention_fairness import AttentionShareMeasure
from evenrank.measures.base import Direction, Result


@declare
class UnderExposure(AttentionShareMeasure):
    """The share of attention that groups lack of what they should get, summed over the groups that get too
    little. 0 means that no group gets less than its target; 1, the largest value, means that all attention
    goes to groups with a target of 0.

    What some groups lack others have too much of, so with a target that sums to 1 it is exactly half of
    AWRF with the distance L1: a reader of one need not read the other. Use it where the question is how much
    is missing; prefer AWRF to compare with published values, and Skew or GroupShare to see which group lacks
    how much.

    When to use: where only what groups lack counts; prefer AWRF, of which it is half, where values are
    compared with other studies.
    """

    in_words = "attention that groups lack"
    answers = (
        "how much attention do groups lack of their fair share",
        "are small sellers, brands or sources seen too little",
        "under-exposure",
    )
    formula = "sum_g max(0, q_g - p_g), p_g = sum_r v_r a_g(d_r) / sum_r v_r sum_h a_h(d_r)"
    reference = "Raj and Ekstrand 2022, Measuring fairness in ranked results, SIGIR"
    direction = Direction.LOWER

    def compute(self, evidence: RankedEvidence) -> Result:
        achieved, target, undefined = self.shares(evidence)
        lacking = np.maximum(target - achieved, 0.0).sum(axis=1)
        return Result(np.minimum(lacking, 1.0), undefined)  # targets may sum to a last bit more than 1
