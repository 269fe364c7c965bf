"""The older measures of gender bias in a list: the mean difference between two groups' words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, parameter
from evenrank.measures.base import EMPTY_LIST, Direction, Measure, Result, reasons
from evenrank.measures.missing import missing_parameter
from evenrank.measures.sums import padded_sum


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class RankBiasMeasure(Measure):
    """A measure of the first group's words minus the second's."""

    form: str = parameter("tc", choice("tc", "tf", "bool"), "count, log(1 + count), or whether there is any")
    missing: str = missing_parameter("error", "neutral", "drop", what="counts")

    family: ClassVar[str] = "words"
    direction: ClassVar[Direction] = Direction.SIGNED
    bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    undefined_when: ClassVar[Mapping[str, str]] = reasons(EMPTY_LIST)

    needs = frozenset({"ranked.words"})

    def range(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.form == "bool" else self.bounds

    def document_bias(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): ``m_a(d) - m_b(d)``, groups in the order of the lexicon; 0 in the padding."""
        counts = evidence.ranked["words.counts"]  # (Q, K, 2)
        if counts.shape[2] != 2:
            raise ParameterError(f"{self.name} compares two groups, the lexicon has {counts.shape[2]}")
        magnitude = {"tc": counts, "tf": np.log1p(counts), "bool": np.sign(counts)}[self.form]
        bias: Floats = magnitude[:, :, 0] - magnitude[:, :, 1]
        return bias

    def mean_bias(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): RaB_t, the mean bias of the first t documents, for every t."""
        return np.cumsum(self.document_bias(evidence), axis=1) / np.arange(1, evidence.ranked.depth + 1)


@declare
class RaB(RankBiasMeasure):
    """How much more the first k documents mention the first group than the second, averaged over the
    documents. 0 means that both are mentioned equally; positive values mean that the first group leads,
    negative values that the second does, without limits.

    The name stands for rank bias.

    When to use: to repeat studies that count the words of two genders by it; prefer ARaB over cut-offs, and
    TExFAIR, which compares with a target.
    """

    in_words = "lean of the words"
    formula = "mean_{i<=k} (m_a(d_i) - m_b(d_i))"
    reference = "Rekabsaz and Schedl 2020, Do neural ranking models intensify gender bias?, SIGIR"

    def compute(self, evidence: RankedEvidence) -> Result:
        lengths = evidence.ranked.lengths  # (Q,)
        values = padded_sum(self.document_bias(evidence)) / np.maximum(lengths, 1)
        return Result(values, self.undefined(evidence))


@declare
class ARaB(RankBiasMeasure):
    """How much more the documents at the top mention the first group than the second, averaged over all
    cut-offs down to k. 0 means that both are mentioned equally; positive values mean that the first group
    leads, negative values that the second does, without limits.

    The name stands for average rank bias, the mean of RaB; early ranks weigh more.

    When to use: to repeat studies that average RaB over cut-offs; prefer TExFAIR, which compares with a
    target and weighs ranks.
    """

    in_words = "lean of the words"
    formula = "mean_{t<=k} RaB_t"
    reference = "Rekabsaz and Schedl 2020, Do neural ranking models intensify gender bias?, SIGIR"

    def compute(self, evidence: RankedEvidence) -> Result:
        lengths = evidence.ranked.lengths  # (Q,)
        total = padded_sum(self.mean_bias(evidence) * evidence.ranked.mask)
        return Result(total / np.maximum(lengths, 1), self.undefined(evidence))
