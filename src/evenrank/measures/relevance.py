"""Measures of relevance, equal to trec_eval's where it has them.

Each is a sum over ranks, so each kernel gives the contributions (Q, K) and the value is their sum.
Grades below 0 count as 0. A query without a relevant document is undefined; a list that finds none
of those there are scores 0, and so does a judged query that the run lacks.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, flag, grade, number, parameter
from evenrank.measures.base import NO_RELEVANT, NOT_JUDGED, Direction, Measure, reasons
from evenrank.measures.sums import divide, padded_sum

ABOVE_ZERO = sys.float_info.min
"""The smallest relevant grade of measures with graded gain, to which any grade above 0 counts."""


class RelevanceMeasure(Measure):
    """A sum over the ranks of something that depends on the grades down to there."""

    family = "relevance"
    direction = Direction.HIGHER
    undefined_when: ClassVar[Mapping[str, str]] = reasons(NOT_JUDGED, NO_RELEVANT)

    @property
    def smallest_grade(self) -> float:
        """The smallest grade that is relevant: any above 0."""
        return ABOVE_ZERO

    @property
    def drops_unjudged(self) -> bool:
        return False

    needs = frozenset({"ranked.relevance", "judged.relevance"})

    @property
    def depth(self) -> int | None:
        return None if self.drops_unjudged else self.cutoff

    def prepared(self, evidence: RankedEvidence) -> RankedEvidence:
        evidence = super().prepared(evidence)
        if not self.drops_unjudged:
            return evidence
        return evidence.compact(evidence.ranked.known("relevance")).cut(self.cutoff)

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        return without_judgements(evidence, self.smallest_grade)

    def relevant(self, evidence: RankedEvidence) -> Bools:
        """(Q, K): True at ranks that hold a relevant document."""
        relevant: Bools = (evidence.ranked["relevance"] >= self.smallest_grade) & evidence.ranked.mask
        return relevant

    def relevant_count(self, evidence: RankedEvidence) -> Floats:
        """(Q, 1): how many judged documents are relevant."""
        judged = evidence.reference["judged"]
        count = ((judged.padded("relevance") >= self.smallest_grade) & judged.mask()).sum(
            axis=1, keepdims=True
        )
        return np.asarray(count, dtype=np.float64)


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class BinaryMeasure(RelevanceMeasure):
    """A measure to which a document is relevant or not."""

    rel: float = parameter(1, grade(), "smallest grade that is relevant")
    judged_only: bool = parameter(False, flag(), "leave out unjudged documents before ranks are counted")

    @property
    def smallest_grade(self) -> float:
        return self.rel

    @property
    def drops_unjudged(self) -> bool:
        return self.judged_only


def without_judgements(evidence: RankedEvidence, smallest_grade: float = ABOVE_ZERO) -> dict[str, Bools]:
    """The queries without judgements, and those without a relevant document."""
    best = evidence.reference["judged"].padded("relevance", 1)  # (Q, 1): judged come best first
    relevant = np.asarray((best >= smallest_grade).any(axis=1))
    return {NOT_JUDGED: ~evidence.query["relevance.judged"], NO_RELEVANT: ~relevant}


def ranks(evidence: RankedEvidence) -> Floats:
    """(K,): 1, 2, .."""
    return np.arange(1, evidence.ranked.depth + 1, dtype=float)


def stop_probability(grades: Floats, max_grade: Floats | float) -> Floats:
    """``(2**g - 1) / 2**g_max``, the chance that a document of grade g satisfies the reader."""
    return scaled_gain(np.clip(grades, 0, max_grade), np.asarray(max_grade, dtype=np.float64))


def best_grade(evidence: RankedEvidence) -> Floats:
    """(Q, 1): the best grade of the documents judged, or ranked where a re-ranker asks; at least 0."""
    judged = evidence.reference.get("judged")
    # judged documents come best first
    best = evidence.ranked["relevance"] if judged is None else judged.padded("relevance", 1)
    return np.asarray(np.maximum(best, 0).max(axis=1, initial=0, keepdims=True), dtype=np.float64)


def scaled_gain(grades: Floats, top: Floats) -> Floats:
    """``(2**g - 1) / 2**top`` for grades >= 0: neither power alone would hold a grade of thousands."""
    gain: Floats = np.exp2(grades - top) - np.exp2(-top)
    return gain


def share_of_largest(grades: Floats, evidence: RankedEvidence) -> Floats:
    """(Q, D): grades over the largest of all judgements; 0 where no grade is above 0."""
    return divide(np.maximum(grades, 0), np.maximum(evidence.query["relevance.max_grade"], 0)[:, None])


def stops(evidence: RankedEvidence, max_grade: float | None) -> Floats:
    """(Q, K): the chance that the reader stops at a rank, coming from the top."""
    top = evidence.query["relevance.max_grade"][:, None] if max_grade is None else max_grade  # (Q, 1)
    return attention.cascade(stop_probability(evidence.ranked["relevance"], top))


@declare
class nDCG(RelevanceMeasure):
    """How close the list is to the ideal order, in which the most relevant documents come first. 0 means that
    no document is relevant; 1 means that the order is ideal.

    The name stands for normalised discounted cumulative gain. The ideal list holds the judged documents, best
    grade first, to the same cut-off. ``dcg='log2'`` takes the grade as gain (trec_eval), ``'exp-log2'`` takes
    ``2**g - 1``.

    When to use: as the first measure of relevance with grades; prefer RR for one right answer and R for
    completeness.
    """

    in_words = "relevance"
    formula = "sum_{i<=k} gain(g_i) / log2(1 + i), divided by the same sum over the ideal list"
    reference = "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques, TOIS 20(4)"

    dcg: str = parameter("log2", choice("log2", "exp-log2"), "gain of a grade: the grade itself, or 2**g - 1")
    judged_only: bool = parameter(False, flag(), "leave out unjudged documents before ranks are counted")

    @property
    def drops_unjudged(self) -> bool:
        return self.judged_only

    def gain(self, grades: Floats, top: Floats | float = 0.0) -> Floats:
        """The gain of each grade; ``2**g - 1`` as a share of ``2**top``, by which an ideal is divided too."""
        grades = np.maximum(grades, 0)
        return grades if self.dcg == "log2" else scaled_gain(grades, np.asarray(top, dtype=np.float64))

    def explain(self, evidence: RankedEvidence) -> Floats:
        judged, top = evidence.reference["judged"], best_grade(evidence)
        discounted = self.gain(evidence.ranked["relevance"], top) * attention.log2().weights(
            evidence.ranked.depth
        )  # (Q, K)
        ideal = self.gain(judged.padded("relevance", self.cutoff), top)  # (Q, I), best first
        best = padded_sum(ideal * attention.log2().weights(ideal.shape[1]))  # (Q,)
        return divide(discounted, best[:, None])


@declare
class P(BinaryMeasure):
    """The share of relevant documents among the first k; a list with fewer than k documents counts as k long.
    0 means that none is relevant; 1 means that all are.

    The name stands for precision.

    When to use: where the first k documents are seen as a set; prefer nDCG where the order matters.
    """

    in_words = "relevant among the first"
    formula = "#{i <= k: g_i >= rel} / k"
    reference = "van Rijsbergen 1979, Information Retrieval"
    needs_cutoff = True

    def explain(self, evidence: RankedEvidence) -> Floats:
        return self.relevant(evidence) / float(self.cutoff or 1)


@declare
class R(BinaryMeasure):
    """The share of all relevant documents that are among the first k. 0 means that none is there; 1 means
    that all are.

    The name stands for recall.

    When to use: where all relevant documents must be found; prefer AP or nDCG where the order matters.
    """

    in_words = "relevant documents found"
    formula = "#{i <= k: g_i >= rel} / #{judged d: g(d) >= rel}"
    reference = "van Rijsbergen 1979, Information Retrieval"
    needs_cutoff = True

    def explain(self, evidence: RankedEvidence) -> Floats:
        return divide(self.relevant(evidence).astype(float), self.relevant_count(evidence))


@declare
class RR(BinaryMeasure):
    """How early the first relevant document comes: 1 divided by its rank. 1 means that it is at the top; 0
    means that there is none down to the cut-off.

    The name stands for reciprocal rank; its mean over queries is known as MRR.

    When to use: where one right answer is enough; prefer ERR with grades and AP where all matter.
    """

    in_words = "first relevant document"
    formula = "1 / min{i <= k: g_i >= rel}"
    reference = "Kantor and Voorhees 2000, The TREC-5 confusion track, Information Retrieval 2"

    def explain(self, evidence: RankedEvidence) -> Floats:
        relevant = self.relevant(evidence)  # (Q, K)
        first = relevant & (np.cumsum(relevant, axis=1) == 1)
        return np.asarray(first / ranks(evidence))


@declare
class AP(BinaryMeasure):
    """How early the relevant documents come: the precision at the rank of each one, averaged over all of
    them. 0 means that none is found; 1 means that all come before any other document.

    The name stands for average precision; its mean over queries is known as MAP. A relevant document that is
    not found counts 0.

    When to use: where all relevant documents matter and grades do not; prefer nDCG for grades and RR for
    one right answer.
    """

    in_words = "early relevant documents"
    formula = "sum_{i<=k} [g_i >= rel] P@i / #{judged d: g(d) >= rel}"
    reference = "Harman 1992, Evaluation issues in information retrieval, IPM 28(4)"

    def explain(self, evidence: RankedEvidence) -> Floats:
        relevant = self.relevant(evidence)  # (Q, K)
        precision = np.cumsum(relevant, axis=1) / ranks(evidence)
        return divide(relevant * precision, self.relevant_count(evidence))


@declare
class RBP(RelevanceMeasure):
    """The rate at which a reader meets relevant documents, if the reader goes on to the next document with
    probability p. 0 means that no document is relevant; values close to 1 mean that all are.

    The name stands for rank-biased precision. Without ``rel`` the gain is the grade over the largest grade of
    the judgements; with it, 0 or 1. ``normalized=True`` divides by the most a list of k documents can have,
    short lists included.

    When to use: for a reader of known patience, without a cut-off; prefer nDCG where values are compared
    with other studies.
    """

    in_words = "relevant documents met"
    formula = "(1 - p) sum_{i<=k} gain_i p**(i - 1)"
    reference = (
        "Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1)"
    )

    p: float = parameter(0.8, number(0, 1, open_high=True), "probability of going on to the next rank")
    rel: float | None = parameter(
        None, grade(optional=True), "smallest grade that is relevant; None for graded gain"
    )
    normalized: bool = parameter(False, flag(), "divide by 1 - p**k, so that a perfect list has 1")

    @property
    def smallest_grade(self) -> float:
        return ABOVE_ZERO if self.rel is None else self.rel

    def explain(self, evidence: RankedEvidence) -> Floats:
        if self.rel is None:
            gain = share_of_largest(evidence.ranked["relevance"], evidence)
        else:
            gain = self.relevant(evidence).astype(float)
        weights = attention.rbp(p=self.p).weights(evidence.ranked.depth)  # (K,)
        most = 1 - self.p**self.cutoff if self.normalized and self.cutoff else 1.0
        return gain * weights / most


@declare
class ERR(RelevanceMeasure):
    """How soon a reader who goes down the list finds a document that satisfies them. 0 means that no document
    is relevant; values close to 1 mean that the first document satisfies almost every reader.

    The name stands for expected reciprocal rank. ``max_grade`` is the largest grade of the whole judgements
    unless given; gdeval uses 4.

    When to use: where one satisfying document is enough and grades differ; prefer RR without grades, and
    nDCG where further documents count.
    """

    in_words = "soon satisfied"
    formula = "sum_{i<=k} P_i prod_{j<i}(1 - P_j) / i, with P_i = (2**g_i - 1) / 2**g_max"
    reference = (
        "Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded relevance, CIKM"
    )

    max_grade: float | None = parameter(
        None, grade(optional=True), "largest grade there is; None takes the judgements'"
    )

    def explain(self, evidence: RankedEvidence) -> Floats:
        return stops(evidence, self.max_grade) / ranks(evidence)


@declare
class iRBU(RelevanceMeasure):
    """How useful the list is to a reader who stops at the first document that satisfies them and loses a
    little patience at every rank. 0 means that no document is relevant; values close to 1 mean that the first
    documents satisfy almost every reader.

    The name stands for intentwise rank-biased utility: stopping at rank i has the utility phi**i.

    When to use: as the relevance part of GFR; prefer ERR or nDCG where relevance is reported alone.
    """

    in_words = "usefulness"
    formula = "sum_{i<=k} P_i prod_{j<i}(1 - P_j) phi**i, with P_i = (2**g_i - 1) / 2**g_max"
    reference = (
        "Sakai and Zeng 2019, Which diversity evaluation measures are 'good'?, SIGIR; "
        "Sakai, Kim and Kang 2022 (gfr-2022), Eq. 3"
    )

    phi: float = parameter(0.99, number(0, 1, open_low=True), "how slowly utility falls with rank")
    max_grade: float | None = parameter(
        None, grade(optional=True), "largest grade there is; None takes the judgements'"
    )

    def explain(self, evidence: RankedEvidence) -> Floats:
        return stops(evidence, self.max_grade) * self.phi ** ranks(evidence)
