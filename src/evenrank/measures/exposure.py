"""Content fairness of the list as a whole: how much attention the words of each group get.

Counts are (Q, K, G), attention is (K,). RaB and ARaB are the older measures: the mean difference between two
groups' words.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank.arrays import Floats
from evenrank.attention import Attention
from evenrank.data.evidence_source import Evidence
from evenrank.data.words import WordCounts
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, flag, parameter
from evenrank.measures.base import EMPTY_LIST, Direction, Measure, Note, Result, reasons
from evenrank.measures.evidence_attention import attention_parameter
from evenrank.measures.missing import missing_parameter
from evenrank.measures.sums import divide, padded_sum

NO_GROUP_WORD = "no group word"
SILENT = "{count} of {of} lists have no group word: they count as fair (rbdf=False leaves them out)"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class WordExposureMeasure(Measure):
    """A measure of the attention that group words get in a list."""

    attention: Attention = attention_parameter()  # noqa: RUF009
    missing: str = missing_parameter("error", "neutral", "drop", what="counts")

    family: ClassVar[str] = "words"
    direction: ClassVar[Direction] = Direction.NONE
    undefined_when: ClassVar[Mapping[str, str]] = reasons(EMPTY_LIST)

    needs = frozenset({"ranked.words"})

    def exposure(self, evidence: RankedEvidence, counted: str = "counts") -> Floats:
        """(Q, G): ``sum_r (c_g(d_r) / len(d_r)) v_r``, of the words of each group, or of each term."""
        ranked = evidence.ranked
        frequency = (
            ranked[f"words.{counted}"] / np.maximum(ranked["words.length"], 1)[:, :, None]
        )  # (Q, K, G)
        return padded_sum(frequency * self.attention.weights(ranked.depth)[:, None])

    def group_share(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        """(Q, G): each group's share p(g) of the exposure, and (Q,) the exposure of all groups."""
        exposure = self.exposure(evidence)
        total = exposure.sum(axis=1)  # (Q,)
        return divide(exposure, total[:, None]), total

    def representative_share(self, evidence: RankedEvidence) -> Floats:
        """(Q,): RBDF, the share of attention that goes to documents with at least one group word."""
        has_words = evidence.ranked["words.tokens"] > 0  # (Q, K)
        weights = self.attention.weights(evidence.ranked.depth)  # (K,)
        return divide(padded_sum(has_words * weights), padded_sum(evidence.ranked.mask * weights))


UNDEFINED_SHARE = reasons(EMPTY_LIST) | {NO_GROUP_WORD: "no document of the list has a group word"}


@declare
class RBDF(WordExposureMeasure):
    """The share of attention that goes to documents with group words. 0 means that no document contains a
    group word; 1 means that every document does.

    The name stands for rank-biased discounting factor.

    When to use: to see how much of a list group words touch at all; prefer TExFAIR for the balance among
    those that do.
    """

    in_words = "lean of the words"
    formula = "sum_{r<=k} v_r [c(d_r) > 0] / sum_{r<=k} v_r"
    reference = "Abolghasemi et al. 2024, Measuring bias in a ranked list, ECIR, Eq. 11"

    def compute(self, evidence: RankedEvidence) -> Result:
        return Result(self.representative_share(evidence), self.undefined(evidence))


@declare
class TED(WordExposureMeasure):
    """How far the exposure that each group gets through its words is from its target. 0 means that every
    group has exactly its target share; the largest value, 1 for two groups with equal targets, means that
    only the group with the smallest target is mentioned.

    The name stands for term exposure-based divergence; its largest value is 2 (1 - smallest target). With
    ``rbdf=True`` the divergence is scaled by the share of attention that goes to documents with group words
    (``RBDF``): a list that has none does not diverge. Without it such a list is undefined.

    When to use: as the distance behind TExFAIR; prefer TExFAIR, where higher is fairer.
    """

    in_words = "words away from target"
    formula = "sum_g |p(g) - J_g| RBDF, p(g) = sum_r (c_g(d_r)/len(d_r)) v_r, over all groups"
    reference = "Abolghasemi et al. 2024, ECIR, Eq. 9-12"
    direction = Direction.LOWER
    bounds = (0.0, 2.0)
    undefined_when = UNDEFINED_SHARE

    rbdf: bool = parameter(
        True, flag(), "scale by RBDF, the share of attention to documents with group words"
    )

    def compute(self, evidence: RankedEvidence) -> Result:
        share, total = self.group_share(evidence)
        difference = np.abs(share - evidence.query["words.target"]).sum(axis=1)  # (Q,)
        bounds = (0.0, float(self.largest(evidence).max(initial=0.0)))
        if not self.rbdf:
            return Result(difference, {**self.undefined(evidence), NO_GROUP_WORD: total <= 0}, bounds=bounds)
        scaled = np.where(total > 0, difference, 0.0) * self.representative_share(evidence)
        there = evidence.ranked.lengths > 0
        silent = int((there & (total <= 0)).sum())
        notes = (Note(SILENT, silent, int(there.sum())),) if silent else ()
        return Result(scaled, self.undefined(evidence), notes=notes, bounds=bounds)

    def largest(self, evidence: RankedEvidence) -> Floats:
        """(Q,): ``2 (1 - min_g J_g)``, the divergence of a list that mentions only the rarest group."""
        return np.asarray(2 * (1 - evidence.query["words.target"].min(axis=1)))


@declare
class TExFAIR(TED):
    """How close the exposure that each group gets through its words is to its target. 0 means that only the
    group with the smallest target is mentioned; the largest value, 1 for two groups with equal targets, means
    that every group has exactly its target share.

    The name stands for term exposure-based fairness, the largest possible divergence (TED) minus the list's
    own. ``rbdf=False`` leaves out proportionality; ``normalized=True`` divides by the largest divergence, so
    that 1 is fair for all targets.

    When to use: to see whether women and men, or other groups, are mentioned equally in the list as a whole;
    prefer NFaiRR where every document should be neutral, and AWRF with labelled documents.
    """

    in_words = "even exposure by words"
    formula = "max(TED) - TED, max(TED) = 2 (1 - min_g J_g)"
    reference = "Abolghasemi et al. 2024, ECIR, Eq. 13"
    direction = Direction.HIGHER

    normalized: bool = parameter(False, flag(), "divide by the largest divergence")

    def compute(self, evidence: RankedEvidence) -> Result:
        divergence, worst = super().compute(evidence), self.largest(evidence)
        fairness = worst - divergence.values  # (Q,)
        if self.normalized:
            return dataclasses.replace(divergence, values=fairness / worst, bounds=(0.0, 1.0))
        return dataclasses.replace(divergence, values=fairness)


@declare
class GroupExposure(WordExposureMeasure):
    """The share that each group has of the exposure of all group words, with one column for each group. 0
    means that the list never mentions the group; 1 means that it mentions no other group.

    The paper calls it group representation.

    When to use: to see which gender, or other group, the documents mention more; prefer TExFAIR for one
    number, and GroupShare for labelled documents.
    """

    in_words = "exposure by words"
    formula = "p(g) = sum_r (c_g(d_r)/len(d_r)) v_r / sum over the groups; one column for each group"
    reference = "Abolghasemi et al. 2024, ECIR, Eq. 9"
    undefined_when = UNDEFINED_SHARE

    def compute(self, evidence: RankedEvidence) -> Result:
        share, total = self.group_share(evidence)
        undefined = {**self.undefined(evidence), NO_GROUP_WORD: total <= 0}
        return Result(share, undefined, evidence.labels["words.groups"])


@declare
class TermExposure(WordExposureMeasure):
    """How much exposure each word of the lexicon gets, with one column for each word. 0 means that the word
    does not occur in the list; larger values, up to infinity, mean more exposure.

    It needs counts by term (``evenrank scan --terms``).

    When to use: to see which words cause the bias towards a group; prefer GroupExposure for the groups and
    TExFAIR for one number.
    """

    in_words = "exposure of each word"
    formula = "TE(t) = sum_{r<=k} (tf(t, d_r) / len(d_r)) v_r"
    reference = "Abolghasemi et al. 2024, ECIR, Eq. 8"
    bounds = (0.0, np.inf)

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        words = sources.get("words")
        if isinstance(words, WordCounts) and not words.has_terms:
            raise ParameterError(
                f"{self!r}: the counts are not by term: scan again with terms=True (--terms)"
            )
        return self

    def compute(self, evidence: RankedEvidence) -> Result:
        exposure = self.exposure(evidence, "terms")  # (Q, T)
        return Result(exposure, self.undefined(evidence), evidence.labels["words.terms"])


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
