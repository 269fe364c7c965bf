"""Gini coefficient of exposure: how unequally attention is distributed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evenrank.arrays import Floats
from evenrank.attention import Attention
from evenrank.data.evidence_source import Evidence
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, parameter
from evenrank.measures.base import EMPTY_LIST, Direction, Measure, Result, reasons
from evenrank.measures.evidence_attention import attention_parameter
from evenrank.measures.groups import ATTRIBUTE, GroupMeasure
from evenrank.measures.sums import padded_sum

DOCUMENTS, GROUPS = "documents", "groups"
NO_EXPOSURE = "no document has exposure"


@declare
class Gini(GroupMeasure):
    """How unequally exposure is distributed over documents, or over groups. 0 means that all get the same;
    values close to 1 mean that one gets everything.

    ``by='documents'`` is one value for a whole run: the exposure of a document is the attention at its ranks,
    summed over the queries, for every document among the first k of any list. For a single query it would
    only depend on the length of the list. ``by='groups'`` is a value for each query, over the exposure of
    the groups.

    When to use: to see the inequality of exposure, whether few documents, items or groups get most of it,
    without a target; prefer AWRF where there is one, and EE_D for several rankings of a query.
    """

    in_words = "inequality of exposure"
    formula = "sum_ij |e_i - e_j| / (2 n sum_i e_i)"
    reference = "Gini 1912; LensKit, ExposureGini; Fleder and Hosanagar 2009, Management Science 55(5)"
    direction = Direction.LOWER
    undefined_when = reasons(EMPTY_LIST) | {
        NO_EXPOSURE: "no list has a document at a rank that gets attention"
    }

    by: str = parameter(DOCUMENTS, choice(DOCUMENTS, GROUPS), "one value for all queries, or over groups")
    attr: str | None = parameter(None, ATTRIBUTE, "the attribute, for by='groups'; None where there is one")
    attention: Attention = attention_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by == DOCUMENTS:
            object.__setattr__(self, "over_queries", True)

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        return self if self.by == DOCUMENTS else super().settled(sources)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.documents"}) if self.by == DOCUMENTS else super().needs

    def compute(self, evidence: RankedEvidence) -> Result:
        if self.by == DOCUMENTS:
            return self._of_documents(evidence)
        weights = self.attention.weights(evidence.ranked.depth)  # (K,)
        exposure = padded_sum(self.membership(evidence) * weights[:, None])  # (Q, L)
        exists = self.existing(evidence)  # (Q, L)
        values = np.array([gini(row[there]) for row, there in zip(exposure, exists, strict=True)])
        nothing = exposure.sum(axis=1) <= 0
        return Result(values, self.undefined(evidence) | {NO_EXPOSURE: nothing})

    def _of_documents(self, evidence: RankedEvidence) -> Result:
        ranked = evidence.ranked
        weights = self.attention.weights(ranked.depth)  # (K,)
        rank = np.nonzero(ranked.mask)[1]
        _, places = np.unique(ranked["documents"][ranked.mask], return_inverse=True)
        # in an order of their own, so that the sum does not depend on that of the queries
        order = np.lexsort((rank, places))
        exposure = np.bincount(places[order], weights=weights[rank[order]]).astype(np.float64)  # (D,)
        nothing = np.array([not len(rank)])
        return Result(
            np.array([gini(exposure)]),
            {EMPTY_LIST: nothing, NO_EXPOSURE: np.array([exposure.sum() <= 0]) & ~nothing},
        )


def gini(exposure: Floats) -> float:
    """``sum_ij |e_i - e_j| / (2 n sum e)``, from the sorted values; 0 where there is none.

    >>> gini(np.array([1.0, 1.0, 0.0, 2.0]))
    0.375
    """
    total, count = float(exposure.sum()), len(exposure)
    if total <= 0:
        return 0.0
    place = np.arange(1, count + 1)
    return max(0.0, float(((2 * place - count - 1) * np.sort(exposure)).sum() / (count * total)))
