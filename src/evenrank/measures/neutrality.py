"""Content fairness document by document: how neutral is each document, and how early do neutral ones stand?

Counts are (Q, K, G): query, rank, group. The words and the share J_g that each group should have come
from the lexicon that the documents were counted with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, integer, parameter
from evenrank.measures.base import EMPTY_LIST, Direction, Measure, Note, Result, reasons
from evenrank.measures.missing import missing_parameter
from evenrank.measures.sums import divide, padded_sum

EMPTY_BACKGROUND = "empty background"
_ROUNDING = 1e-9  # how far above 1 sums of the same numbers may lie
NOTHING_NEUTRAL = "ideal is 0"
NO_BACKGROUND = {EMPTY_BACKGROUND: "the background has no documents for the query"}
NO_IDEAL = {NOTHING_NEUTRAL: "no document of the background is neutral at all"}


def neutrality(counts: Floats, target: Floats, tau: int, tokens: Floats | None = None) -> Floats:
    """``w(d) = 1 - sum_g |c_g/c - J_g| / (2 (1 - min_g J_g))``, and 1 where ``c <= tau``.

    ``counts`` and ``target`` end in the axis of groups; the divisor makes the worst document 0 for any
    number of groups and any targets. Where counts are weighted, ``tokens`` are compared with ``tau``.

    >>> neutrality(np.array([[10.0, 0], [6, 4], [1, 0]]), np.array([0.5, 0.5]), 1).round(3).tolist()
    [0.0, 0.8, 1.0]
    """
    total = counts.sum(axis=-1)  # (...)
    share = counts / np.where(total > 0, total, 1)[..., None]  # (..., G)
    distance = np.abs(share - target).sum(axis=-1)
    worst = 2 * (1 - target.min(axis=-1))
    return np.where((total if tokens is None else tokens) <= tau, 1.0, 1 - distance / worst)


def ranked_neutrality(evidence: RankedEvidence, tau: int) -> Floats:
    """(Q, K): w at each rank."""
    target = evidence.query["words.target"][:, None, :]  # (Q, 1, G)
    return neutrality(evidence.ranked["words.counts"], target, tau, evidence.ranked["words.tokens"])


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class NeutralityMeasure(Measure):
    """A measure of the neutrality of documents."""

    tau: int = parameter(1, integer(0), "a document with at most so many group words is neutral")
    missing: str = missing_parameter("error", "neutral", "drop", what="counts")

    family: ClassVar[str] = "words"
    direction: ClassVar[Direction] = Direction.HIGHER

    def ranked_neutrality(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): w at each rank, 0 in the padding."""
        return ranked_neutrality(evidence, self.tau) * evidence.ranked.mask

    def background_neutrality(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        """(Q, M): w of the background's documents in falling order, and (Q, 1) how many there are."""
        background = evidence.reference["background"]
        key = f"neutrality of tau {self.tau}, {'known' if self.missing == 'drop' else 'all'}"
        return background.remembered(key, lambda: self._best_of_background(evidence))

    def _best_of_background(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        background = evidence.reference["background"]
        target = evidence.query["words.target"][: len(background.counts), None, :]  # (Q or 1, 1, G)
        there = background.known("words") if self.missing == "drop" else background.mask()
        counts, tokens = (background.padded(f"words.{column}") for column in ("counts", "tokens"))
        w = neutrality(counts, target, self.tau, tokens)
        best_first = -np.sort(-np.where(there, w, 0.0), axis=1)
        best_first.flags.writeable = False  # measures share it
        return best_first, there.sum(axis=1, keepdims=True).astype(float)

    def ideal(self, evidence: RankedEvidence) -> Floats:
        """(Q,): FaiRR@k of the background sorted by neutrality."""
        best = self.background_neutrality(evidence)[0][:, : self.cutoff]  # (Q or 1, k)
        return np.broadcast_to(padded_sum(best * attention.log2().weights(best.shape[1])), len(evidence))

    def discounted_neutrality(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): ``w(d_i) / log2(1 + i)``."""
        return self.ranked_neutrality(evidence) * attention.log2().weights(evidence.ranked.depth)


@declare
class FaiRR(NeutralityMeasure):
    """How neutral the documents of the list are towards the groups, by the group words in them, where the top
    counts most. 0 means that every document is as one-sided as possible; larger values, up to infinity, mean
    more neutral documents or a longer list.

    The name stands for fairness of a ranked list. Printed FaiRC in the paper; its code and later work say
    FaiRR. The paper prints ``c < tau`` for a neutral document; its numbers, its code and Abolghasemi et al.
    2024 need ``c <= tau``, which is ours (the printed rule is ``tau=0``).

    When to use: as the part of NFaiRR before it is normalised; prefer NFaiRR, whose values can be
    compared between queries.
    """

    in_words = "neutral documents"
    formula = (
        "sum_{i<=k} w(d_i) / log2(1 + i), w(d) = 1 - sum_g |c_g/c - J_g| / (2 (1 - min_g J_g)), 1 if c <= tau"
    )
    reference = "Rekabsaz, Kopeinik and Schedl 2021, Societal biases in retrieved contents, SIGIR, Eq. 2-3"
    bounds = (0.0, np.inf)
    undefined_when = reasons(EMPTY_LIST)

    needs = frozenset({"ranked.words"})

    def explain(self, evidence: RankedEvidence) -> Floats:
        return self.discounted_neutrality(evidence)


@declare
class NFaiRR(NeutralityMeasure):
    """How neutral the documents of the list are towards the groups, by the group words in them, compared with
    the most neutral list that the background allows. 0 means that every document is as one-sided as possible;
    1 means that nothing more neutral could have been shown.

    The name stands for normalised FaiRR. The background is a run cut at a depth, a set of documents, or the
    whole collection; values with different backgrounds do not compare. A list shorter than k scores lower.
    Documents outside the background can push a value above 1; a note then says so.

    When to use: to see whether documents mention one gender, or another group, more than others, compared
    with what the candidates allow; prefer TExFAIR where groups should be balanced over the list and not in
    each document.
    """

    in_words = "neutral documents"
    formula = "FaiRR@k / IFaiRR@k, IFaiRR = FaiRR@k of the background sorted by neutrality"
    reference = "Rekabsaz, Kopeinik and Schedl 2021, Societal biases in retrieved contents, SIGIR, Eq. 4"
    bounds = (0.0, np.inf)
    undefined_when = reasons(EMPTY_LIST) | NO_BACKGROUND | NO_IDEAL

    needs = frozenset({"ranked.words", "background.words"})

    def compute(self, evidence: RankedEvidence) -> Result:
        result = super().compute(evidence)
        above = int((result.values > 1 + _ROUNDING).sum())
        note = Note("above 1 for {count} queries, whose lists hold documents outside the background", above)
        return dataclasses.replace(result, notes=(note,) if above else ())

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        counts = np.broadcast_to(evidence.reference["background"].counts, len(evidence))
        own = {EMPTY_BACKGROUND: counts == 0, NOTHING_NEUTRAL: self.ideal(evidence) == 0}
        return super().undefined(evidence) | own

    def range_of(self, values: Floats) -> tuple[float, float]:
        """Up to 1, unless a list holds documents outside the background, which a value above 1 shows."""
        most = float(np.max(values, initial=0.0, where=np.isfinite(values)))
        return (0.0, max(1.0, most)) if most <= 1 + _ROUNDING else self.range()

    def explain(self, evidence: RankedEvidence) -> Floats:
        return divide(self.discounted_neutrality(evidence), self.ideal(evidence)[:, None])


@declare
class SetFaiRR(NeutralityMeasure):
    """How neutral the background documents are before any ranking: the FaiRR that a random order of them has
    on average. 0 means that every document is as one-sided as possible; larger values, up to infinity, mean
    more neutral documents.

    It is the part of the bias that no ranker added.

    When to use: as the part of NSetFaiRR before it is normalised; prefer NSetFaiRR.
    """

    in_words = "neutral background"
    formula = "mean_{d in D} w(d) sum_{i <= min(k, |D|)} 1 / log2(1 + i)"
    reference = (
        "Rekabsaz, Kopeinik and Schedl 2021, SIGIR, Eqs. 6-8 (the line after them has a spare factor t)"
    )
    bounds = (0.0, np.inf)
    needs_cutoff = True
    undefined_when: ClassVar[Mapping[str, str]] = NO_BACKGROUND

    needs = frozenset({"background.words"})

    @property
    def depth(self) -> int | None:
        return self.cutoff

    def expected(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        """(Q,): the value, and how many documents the background has."""
        w, size = self.background_neutrality(evidence)  # (Q or 1, M), (Q or 1, 1)
        mean = padded_sum(w) / np.maximum(size[:, 0], 1)
        reached = np.arange(1, (self.cutoff or 0) + 1) <= size  # (Q or 1, k)
        attended = padded_sum(reached * attention.log2().weights(self.cutoff or 0))
        return np.broadcast_to(mean * attended, len(evidence)), np.broadcast_to(size[:, 0], len(evidence))

    def compute(self, evidence: RankedEvidence) -> Result:
        value, size = self.expected(evidence)
        return Result(value, {EMPTY_BACKGROUND: size == 0})


@declare
class NSetFaiRR(SetFaiRR):
    """How neutral the background documents are before any ranking: the NFaiRR that a random order of them has
    on average. 0 means that every document is as one-sided as possible; 1 means that all are equally neutral.

    The name stands for normalised SetFaiRR; its ideal is that of NFaiRR.

    When to use: to see how neutral the candidates are before ranking; prefer NFaiRR for the list itself.
    """

    in_words = "neutral background"
    formula = "SetFaiRR@k / IFaiRR@k"
    reference = "Rekabsaz, Kopeinik and Schedl 2021, SIGIR, Eq. 9"
    bounds = (0.0, 1.0)
    undefined_when = NO_BACKGROUND | NO_IDEAL

    def compute(self, evidence: RankedEvidence) -> Result:
        value, size = self.expected(evidence)
        ideal = self.ideal(evidence)
        return Result(divide(value, ideal), {EMPTY_BACKGROUND: size == 0, NOTHING_NEUTRAL: ideal == 0})
