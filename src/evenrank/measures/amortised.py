"""Amortised fairness: over all queries, do groups get the attention that their relevance deserves?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare
from evenrank.measures.base import Direction, Note, Result
from evenrank.measures.groups import GroupMeasure
from evenrank.measures.missing import NONE, missing_parameter
from evenrank.measures.relevance import divide
from evenrank.measures.sums import padded_sum, set_sum

NOTHING = "no query has both attention and relevance"
LEFT_OUT = "{count} of {of} queries have no ranked document of a group, or no relevant one, and add nothing"


@declare
class Amortised(GroupMeasure):
    """How far the attention that groups get over all queries together is from the attention that their
    relevance deserves: one value for a whole run. 0 means that each group gets what it deserves in the long
    run; the largest value is twice the number of queries.

    In each query the groups share an attention of 1, by the discount of DCG at their ranks, and a relevance
    of 1, by the grades of all judged documents; both are weighted by membership. What a group gets too much
    in one query makes up for what it lacks in another. Documents without a group are left out of both.
    With ``queries=`` the value of the first ten queries, the first twenty, .. shows how the difference grows.

    When to use: where fairness may be reached over many queries together; prefer AWRF where every list
    has to be fair on its own.
    """

    in_words = "long-run exposure error"
    answers = (
        "do groups get what they deserve over many queries, in the long run",
        "amortised fairness: attention compared with relevance over all queries",
    )
    formula = "sum_g |sum_q a_gq - sum_q r_gq|, a_gq attention of g in q, r_gq its relevance, each of sum 1"
    reference = "Biega, Gummadi and Weikum 2018, Equity of attention, SIGIR, Eq. 4"
    direction = Direction.LOWER
    bounds = (0.0, np.inf)
    undefined_when: ClassVar[Mapping[str, str]] = {
        NOTHING: "no query has a ranked document and a relevant one that belong to a group"
    }
    over_queries = True

    missing: str = missing_parameter(NONE, "error")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(
            {f"ranked.{self.source}", f"judged.{self.source}", "judged.relevance", "ranked.relevance"}
        )

    def compute(self, evidence: RankedEvidence) -> Result:
        curve, counted = self.curve(evidence)
        value = curve[-1:] if len(curve) else np.zeros(1)
        left = int((~counted).sum())
        notes = (Note(LEFT_OUT, left, len(counted)),) if left else ()
        return Result(value, {NOTHING: np.array([not counted.any()])}, notes=notes)

    def curve(self, evidence: RankedEvidence) -> tuple[Floats, Bools]:
        """(Q,) twice: the value after each query, and which queries add to it."""
        weights = attention.log2().weights(evidence.ranked.depth)  # (K,)
        given = padded_sum(self.membership(evidence) * weights[:, None])  # (Q, L)
        judged = evidence.reference["judged"]
        grades = np.maximum(judged.padded("relevance"), 0).astype(float)  # (Q, J)
        due = set_sum(judged.padded(self.source) * grades[:, :, None])  # (Q, L)
        all_given, all_due = given.sum(axis=1, keepdims=True), due.sum(axis=1, keepdims=True)
        counted = (all_given > 0) & (all_due > 0)  # (Q, 1)
        apart = (divide(given, all_given) - divide(due, all_due)) * counted
        return np.abs(np.cumsum(apart, axis=0)).sum(axis=1), counted[:, 0]
