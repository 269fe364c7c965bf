"""Measures of diversity: relevance judged by intent (subtopic).

Grades are (Q, K, I): query, rank, intent. Judgements come as ``topic intent document grade``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.data.membership import evidence_name
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, grade, number, parameter, text
from evenrank.measures.base import NO_RELEVANT, NOT_JUDGED, Direction, Measure, reasons
from evenrank.measures.relevance import ranks, scaled_gain, stop_probability
from evenrank.measures.sums import divide, padded_sum

TIE = 1e-12  # gains that differ by less are equal: sums of the same powers may differ in the last bit


class DiversityMeasure(Measure):
    """A sum over ranks of something that depends on the grades by intent down to there."""

    family = "diversity"
    direction = Direction.HIGHER
    undefined_when: ClassVar[Mapping[str, str]] = reasons(NOT_JUDGED) | {
        NO_RELEVANT: "no judged document is relevant to any intent of the query"
    }

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.intents", "judged_by_intent.intents"})

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        relevant = (evidence.reference["judged_by_intent"].padded("intents") >= 1).any(axis=(1, 2))
        return {NOT_JUDGED: ~evidence.query["intents.judged"], NO_RELEVANT: ~np.asarray(relevant)}


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class CoverageMeasure(DiversityMeasure):
    """A measure to which a document covers an intent or not.

    With ``attr`` the groups of an attribute are the intents: a relevant document covers a group by its share.
    """

    rel: float = parameter(1, grade(), "smallest grade that is relevant")
    attr: str | None = parameter(
        None, text(optional=True), "an attribute whose groups are the intents; None: judgements by intent"
    )

    @property
    def source(self) -> str:
        """The evidence of the groups."""
        return evidence_name(self.attr or "")

    @property
    def needs(self) -> frozenset[str]:
        if self.attr is None:
            return super().needs
        return frozenset(
            {f"ranked.{self.source}", f"judged.{self.source}", "ranked.relevance", "judged.relevance"}
        )

    def covers(self, evidence: RankedEvidence) -> Floats:
        """(Q, K, I): 1, or its share, where the document at a rank is relevant to an intent."""
        ranked = evidence.ranked
        if self.attr is None:
            return np.asarray(ranked["intents"] >= self.rel, dtype=np.float64)
        return np.asarray((ranked["relevance"] >= self.rel)[:, :, None] * ranked[self.source], np.float64)

    def judged(self, evidence: RankedEvidence) -> Floats:
        """(Q, J, I): the same for every judged document, by id descending."""
        if self.attr is None:
            by_intent = evidence.reference["judged_by_intent"].padded("intents")
            return np.asarray(by_intent >= self.rel, dtype=np.float64)
        judged = evidence.reference["judged"]
        relevant = judged.padded("relevance") >= self.rel  # (Q, J)
        return np.asarray(relevant[:, :, None] * judged.padded(self.source), dtype=np.float64)

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        judged = evidence.query["intents.judged" if self.attr is None else "relevance.judged"]
        return {NOT_JUDGED: ~judged, NO_RELEVANT: ~np.asarray(self.judged(evidence).any(axis=(1, 2)))}

    def covered_intents(self, evidence: RankedEvidence) -> Floats:
        """(Q, 1): how many intents have a relevant document at all."""
        return np.asarray(self.judged(evidence).any(axis=1).sum(axis=1, keepdims=True), dtype=np.float64)

    def intent_count(self, evidence: RankedEvidence) -> Floats:
        """(Q, 1): how many intents a query has."""
        name = "intents.exists" if self.attr is None else f"{self.source}.exists"
        return np.asarray(evidence.query[name].sum(axis=1)[:, None], dtype=np.float64)


def novelty_gain(covers: Floats, alpha: float) -> Floats:
    """(Q, K): ``sum_i J(d_k, i) (1 - alpha)**r_{i,k-1}``, r documents for the intent having come before."""
    seen = np.cumsum(covers, axis=1) - covers  # (Q, K, I)
    return padded_sum(covers * (1 - alpha) ** seen, axis=2)


def greedy_ideal(judged: Floats, alpha: float, depth: int | None) -> Floats:
    """(Q, D): the gains of the list that always takes the document of largest gain next.

    Finding the true best list is NP-hard; this is the field's ideal. Ties go to the first document.
    """
    steps = int(judged.any(axis=2).sum(axis=1).max(initial=0))
    steps = steps if depth is None else min(steps, depth)
    weight = np.ones((judged.shape[0], judged.shape[2]))  # (Q, I): what the next document for an intent adds
    free = np.array(judged.any(axis=2))  # (Q, J)
    gains = np.zeros((judged.shape[0], steps))
    row = np.arange(judged.shape[0])
    for step in range(steps):
        gain = np.where(free, padded_sum(judged * weight[:, None, :], axis=2), -1.0)  # (Q, J)
        pick = np.argmax(gain >= gain.max(axis=1, keepdims=True) - TIE, axis=1)  # (Q,): the first of the best
        gains[:, step] = np.maximum(gain[row, pick], 0)
        free[row, pick] = False
        weight *= (1 - alpha) ** judged[row, pick]
    return gains


@declare
class alpha_nDCG(CoverageMeasure):
    """How well the list serves the different intents of a query, with less credit for an intent that earlier
    documents have served. 0 means that no document serves an intent; 1 means that the list is as good as the
    ideal list.

    The name stands for normalised discounted cumulative gain with a penalty alpha for redundancy. The ideal
    is greedy; it can fall short of the true ideal, so values just above 1 are possible.

    When to use: to see whether different meanings are served early, without redundant results; prefer I_rec
    where the order does not matter, and D_nDCG where meanings differ in how likely they are.
    """

    in_words = "diversity without repeats"
    formula = "sum_k G_k / log2(1 + k) over that of the ideal; G_k = sum_i J(d_k, i) (1 - alpha)**r_{i,k-1}"
    reference = "Clarke et al. 2008, Novelty and diversity in information retrieval evaluation, SIGIR"
    bounds = (0.0, np.inf)
    ideal_depends_on_ids = True

    alpha: float = parameter(0.5, number(0, 1), "how much a repeated intent loses")

    def explain(self, evidence: RankedEvidence) -> Floats:
        gain = novelty_gain(self.covers(evidence), self.alpha)  # (Q, K)
        ideal = greedy_ideal(self.judged(evidence), self.alpha, self.cutoff)  # (Q, D)
        best = padded_sum(ideal * attention.log2().weights(ideal.shape[1]))  # (Q,)
        return divide(gain * attention.log2().weights(gain.shape[1]), best[:, None])


@declare
class ERR_IA(CoverageMeasure):
    """How soon a reader finds a document that satisfies them, averaged over the intents of a query. 0 means
    that no document serves an intent; 1 means that every document serves every intent.

    The name stands for intent-aware expected reciprocal rank. By default with the collection-independent
    normaliser of ndeval; ``normalized=False`` is the definition by intents, ``sum_i Pr(i|q) ERR_i`` with
    graded stops.

    When to use: as ERR, for queries of several meanings; prefer alpha_nDCG where a reader goes on after
    the first find.
    """

    in_words = "soon satisfied, all intents"
    formula = "sum_k G_k / k over N sum_k (1 - alpha)**(k-1) / k; G as in alpha_nDCG, N intents served at all"
    reference = (
        "Chapelle et al. 2009, CIKM; Clarke et al. 2011, A comparative analysis of cascade measures, WSDM"
    )
    needs_cutoff = True

    alpha: float = parameter(0.5, number(0, 1), "how much a repeated intent loses")
    normalized: bool = parameter(True, flag(), "ndeval's form; False for the sum over intents of ERR")
    max_grade: float | None = parameter(None, grade(optional=True), "largest grade, for normalized=False")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.attr is not None and not self.normalized:
            raise ParameterError("ERR_IA: normalized=False needs judgements by intent: leave out attr=")

    def explain(self, evidence: RankedEvidence) -> Floats:
        rank = ranks(evidence)  # (K,)
        if not self.normalized:
            grades = np.moveaxis(np.maximum(evidence.ranked["intents"], 0), 2, 1)  # (Q, I, K)
            top = evidence.query["intents.max_grade"][:, None, None]  # (Q, 1, 1)
            stop = stop_probability(grades, top if self.max_grade is None else self.max_grade)  # (Q, I, K)
            chance = evidence.query["intents.probability"][:, :, None]  # (Q, I, 1)
            return padded_sum(chance * attention.cascade(stop)) / rank
        gain = novelty_gain(self.covers(evidence), self.alpha)  # (Q, K)
        depth = self.cutoff or 1
        most = ((1 - self.alpha) ** np.arange(depth) / np.arange(1, depth + 1)).sum()
        return divide(gain / rank, self.covered_intents(evidence) * most)


@declare
class NRBP(CoverageMeasure):
    """How well the list serves the different intents of a query, for a reader who goes on to the next
    document with a fixed probability. 0 means that no document serves an intent; values close to 1 mean that
    every document serves every intent.

    The name stands for novelty- and rank-biased precision. Like alpha_nDCG it gives less credit for an intent
    that was served before.

    When to use: as alpha_nDCG, for a patient reader and without a cut-off; prefer alpha_nDCG where values
    are compared with TREC's.
    """

    in_words = "diversity"
    formula = "(1 - (1 - alpha) beta) / N sum_k beta**(k-1) sum_i J(d_k, i) (1 - alpha)**r_{i,k-1}"
    reference = (
        "Clarke, Kolla and Vechtomova 2009, An effectiveness measure for ambiguous and underspecified "
        "queries, ICTIR"
    )

    alpha: float = parameter(0.5, number(0, 1), "how much a repeated intent loses")
    beta: float = parameter(0.5, number(0, 1, open_high=True), "probability of going on to the next rank")

    def explain(self, evidence: RankedEvidence) -> Floats:
        gain = novelty_gain(self.covers(evidence), self.alpha)  # (Q, K)
        weights = (1 - (1 - self.alpha) * self.beta) * self.beta ** np.arange(gain.shape[1])  # (K,)
        return divide(gain * weights, self.covered_intents(evidence))


@declare
class I_rec(CoverageMeasure):
    """The share of the query's intents that the first k documents cover. 0 means that they cover none; 1
    means that they cover all.

    The name stands for intent recall. Divides by the known intents of the query; ndeval's strec divides by
    those with a relevant document.

    When to use: to count the intents that are covered; prefer alpha_nDCG where it matters how early.
    """

    in_words = "intents covered"
    formula = "#{i: some d_r, r <= k, is relevant to i} / #{intents of the query}"
    reference = (
        "Sakai and Song 2011, Evaluating diversified search results using per-intent graded relevance, SIGIR"
    )

    def explain(self, evidence: RankedEvidence) -> Floats:
        covers = self.covers(evidence) > 0  # (Q, K, I)
        fresh = covers & (np.cumsum(covers, axis=1) == 1)
        return divide(fresh.sum(axis=2).astype(float), self.intent_count(evidence))


@declare
class D_nDCG(DiversityMeasure):
    """How good the order of the list is for all intents of a query together, where likely intents count more.
    0 means that no document serves an intent; 1 means that the list is as good as the ideal list.

    It is nDCG of the global gain: the gain of each intent, weighted by how likely the intent is.

    When to use: where intents have probabilities and grades; prefer alpha_nDCG to punish repetition, and
    Dsharp_nDCG to count coverage too.
    """

    in_words = "relevance over intents"
    formula = "nDCG with gain(d) = sum_i Pr(i|q) (2**g_i(d) - 1)"
    reference = "Sakai and Song 2011, SIGIR; Sakai, Kim and Kang 2022 (gfr-2022)"

    def explain(self, evidence: RankedEvidence) -> Floats:
        chance = evidence.query["intents.probability"]  # (Q, I)
        judged = evidence.reference["judged_by_intent"].padded("intents")  # (Q, J, I)
        top = np.maximum(judged.max(axis=(1, 2), initial=0), 0).astype(float)[:, None, None]  # (Q, 1, 1)
        gain = _global_gain(evidence.ranked["intents"], chance, top)  # (Q, K)
        ideal = -np.sort(-_global_gain(judged, chance, top), axis=1)  # (Q, J)
        ideal = ideal if self.cutoff is None else ideal[:, : self.cutoff]
        best = padded_sum(ideal * attention.log2().weights(ideal.shape[1]))  # (Q,)
        return divide(gain * attention.log2().weights(gain.shape[1]), best[:, None])


def _global_gain(grades: Floats, chance: Floats, top: Floats) -> Floats:
    """(Q, D): the intents' gains at each document, weighted, as a share of 2**top."""
    return padded_sum(scaled_gain(np.maximum(grades, 0), top) * chance[:, None, :], axis=2)


@declare
class Dsharp_nDCG(DiversityMeasure):
    """The weighted mean of how many intents the list covers (I_rec) and of how good its order is for them
    (D_nDCG). 0 means that no document serves an intent; 1 means that the list covers all intents in the ideal
    order.

    Papers write it D#-nDCG.

    When to use: to have coverage and order of intents in one number; prefer I_rec and D_nDCG beside each
    other where the two should be told apart.
    """

    in_words = "intents and relevance"
    formula = "gamma I_rec@k + (1 - gamma) D_nDCG@k"
    reference = "Sakai and Song 2011, SIGIR; Sakai, Kim and Kang 2022 (gfr-2022)"

    gamma: float = parameter(0.5, number(0, 1), "weight of intent recall")

    def explain(self, evidence: RankedEvidence) -> Floats:
        recall = I_rec(cutoff=self.cutoff).explain(evidence)
        return self.gamma * recall + (1 - self.gamma) * D_nDCG(cutoff=self.cutoff).explain(evidence)
