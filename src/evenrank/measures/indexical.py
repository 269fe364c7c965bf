"""Indexical bias: which opinions, or which group, come early in a list.

rND, rKL and rRD say whether a protected group comes late. The documents of a list are held fixed and only
their order is judged, so most of these measures are scaled to the range of values that other orders of the
same documents have. That range is computed, not sampled. Polarity is (Q, K, A): query, rank, axis.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import Term, choice, declare, grade, integer, number, parameter
from evenrank.measures import orders
from evenrank.measures.base import EMPTY_LIST, NOT_JUDGED, Direction, Measure, Note, Result
from evenrank.measures.missing import missing_parameter
from evenrank.measures.orders import counts
from evenrank.measures.sums import divide, padded_sum

TOO_SHORT = "too short"
NO_CHOICE = "every order scores the same"
ONE_GROUP = "one group only"

SAME = 1e-12  # a range not wider than that, for values up to 1, is no range


def no_range(least: Floats, most: Floats) -> Bools:
    """(Q, ...): True where all orders score the same."""
    same: Bools = most - least <= SAME * np.maximum(1.0, most)
    return same


def polarity_scores(method: Term, evidence: RankedEvidence, axes: int) -> Floats:
    """(Q, K, A): the scores of the documents on all axes, of which a measure or re-ranker needs so many."""
    scores = np.asarray(evidence.ranked["polarity"], dtype=np.float64)
    scores = scores[:, :, None] if scores.ndim == 2 else scores
    if scores.shape[2] < axes:
        raise ParameterError(f"{method!r} needs {axes} axes of polarity, there are {scores.shape[2]}")
    return scores


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class IndexicalMeasure(Measure):
    """A measure of the order of a list whose documents are held fixed."""

    step: int = parameter(1, integer(1), "look at every step-th rank")
    min_grade: float | None = parameter(
        None, grade(optional=True), "only documents of at least this grade take part"
    )
    missing: str = missing_parameter("error", "drop", what="polarity")

    family: ClassVar[str] = "order"
    direction: ClassVar[Direction] = Direction.LOWER

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_grade is not None:  # the list closes up, and what was below the cut-off moves above it
            object.__setattr__(self, "looks_below_cutoff", True)

    @property
    def directed(self) -> bool:
        """Whether it matters which side of polarity is the positive one."""
        return False

    @property
    def needs(self) -> frozenset[str]:
        grades = frozenset() if self.min_grade is None else frozenset({"ranked.relevance"})
        return frozenset({"ranked.polarity"}) | grades

    @property
    def depth(self) -> int | None:
        return super().depth if self.min_grade is None else None

    def prepared(self, evidence: RankedEvidence) -> RankedEvidence:
        if self.min_grade is not None:
            evidence = evidence.compact(self.takes_part(evidence))
        return super().prepared(evidence).cut(self.cutoff)

    def takes_part(self, evidence: RankedEvidence) -> Bools:
        if self.min_grade is None:
            return evidence.ranked.mask
        return (evidence.ranked["relevance"] >= self.min_grade) & evidence.ranked.mask

    def evaluate(self, evidence: RankedEvidence) -> Result:
        result = super().evaluate(evidence)
        if self.min_grade is None:
            return result
        ranked = evidence.ranked
        taking = int(self.takes_part(evidence).sum())
        text = f"{{count}} of {{of}} ranked documents have grade >= {self.min_grade} and take part"
        return dataclasses.replace(result, notes=(*result.notes, Note(text, taking, int(ranked.mask.sum()))))

    def polarity(self, evidence: RankedEvidence, axes: int) -> Floats:
        """(Q, K, A): the scores on the first axes; 0 in the padding."""
        scores = polarity_scores(self, evidence, axes)[:, :, :axes]
        if not np.isfinite(scores).all():
            raise DataError(f"{self!r}: {int((~np.isfinite(scores)).sum()):,} polarity scores are not finite")
        return scores

    def cannot_be_judged(self, evidence: RankedEvidence, first: int) -> dict[str, Bools]:
        """Reasons that lie in the list alone; ``first`` is the shortest prefix that counts at step 1."""
        lengths = evidence.ranked.lengths  # (Q,)
        shortest = self.step * -(-first // self.step)
        reasons = {EMPTY_LIST: lengths == 0, TOO_SHORT: lengths <= shortest}
        if self.min_grade is None:
            return reasons
        return {NOT_JUDGED: ~evidence.query["relevance.judged"], **reasons}


UNDEFINED_ORDER = {
    NOT_JUDGED: "min_grade= is given and the query has no judgements",
    EMPTY_LIST: "no document of the query takes part",
    TOO_SHORT: "no prefix that is looked at is shorter than the list",
}


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class ProtectedMeasure(IndexicalMeasure):
    """A measure of how a protected group's share of the first k departs from its share of the list.

    Protected are the documents on one side of an axis of polarity.
    """

    discount: str = parameter("log2(1+i)", choice(*orders.DISCOUNTS), "what divides the term of rank i")
    normalizer: str | None = parameter(
        "minmax",
        choice("minmax", "max", optional=True),
        "scale to the range over orders, divide by its maximum, or leave as it is",
    )
    protected: str = parameter("positive", choice("positive", "negative"), "the side that is protected")
    axis: int = parameter(1, integer(1), "the axis of polarity")

    reference: ClassVar[str] = "Yang and Stoyanovich 2017, Measuring fairness in ranked outputs, SSDBM"
    undefined_when: ClassVar[dict[str, str]] = {
        **UNDEFINED_ORDER,
        ONE_GROUP: "all documents are protected, or none is",
        NO_CHOICE: "the largest and the smallest value over orders are the same",
    }

    @property
    def utility(self) -> counts.Utility:
        return counts.UTILITIES[self.name]

    def range(self) -> tuple[float, float]:
        return (0.0, np.inf) if self.normalizer is None else (0.0, 1.0)

    def protected_ranks(self, evidence: RankedEvidence) -> Bools:
        """(Q, K): True where a document of the group stands. All that reads polarity is here."""
        polarity = self.polarity(evidence, self.axis)[:, :, self.axis - 1]
        side: Bools = polarity > 0 if self.protected == "positive" else polarity < 0
        return side & evidence.ranked.mask

    def compute(self, evidence: RankedEvidence) -> Result:
        lengths, group = evidence.ranked.lengths, self.protected_ranks(evidence)
        members = group.sum(axis=1)  # (Q,)
        first = 1 if self.discount == orders.DISCOUNTS[0] else 2
        reasons = self.cannot_be_judged(evidence, first)
        reasons[ONE_GROUP] = (members == 0) | (members == lengths)
        raw = padded_sum(self._terms(evidence))
        if self.normalizer is None:
            return Result(raw, reasons, notes=self.notes(evidence))
        least, most = self._extremes(evidence)
        reasons[NO_CHOICE] = no_range(least, most)
        scaled = np.clip(divide(raw - least, most - least), 0.0, 1.0)
        return Result(np.where(reasons[NO_CHOICE], 0.0, scaled), reasons, notes=self.notes(evidence))

    def notes(self, evidence: RankedEvidence) -> tuple[Note, ...]:
        return ()

    def explain(self, evidence: RankedEvidence) -> Floats | None:
        """What each rank adds; not where the smallest value is taken off, which belongs to no rank."""
        if self.normalizer == "minmax":
            return None
        terms = self._terms(evidence)
        return terms if self.normalizer is None else divide(terms, self._extremes(evidence)[1][:, None])

    def _terms(self, evidence: RankedEvidence) -> Floats:
        return orders.count_terms(
            self.protected_ranks(evidence),
            evidence.ranked.lengths,
            self.utility,
            step=self.step,
            discount=self.discount,
        )

    def _extremes(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        """(Q,): the smallest value that counts as 0, and the largest."""
        members = self.protected_ranks(evidence).sum(axis=1)
        least, most = orders.count_extremes(
            members, evidence.ranked.lengths, self.utility, step=self.step, discount=self.discount
        )
        return (least if self.normalizer == "minmax" else np.zeros_like(least)), most


@declare
class rND(ProtectedMeasure):
    """How far the share of a group among the first k documents is from its share of the whole list, over all
    k. 0 means that no other order mixes the group better; 1 means that no other order mixes it worse.

    The name stands for normalised discounted difference. The range over all orders is exact: only counts
    matter. The papers print the discount ``log2 i``; the published code has ``log2(1 + i)``, at every tenth
    rank (``step=10``).

    When to use: to repeat studies of prefixes against the whole list; prefer GF, whose target can be given.
    """

    in_words = "mixing of the group"
    formula = "sum_{k = s, 2s, .. <= n} |P_k - P_n| / log2(1 + k), scaled to its range over orders"


@declare
class rKL(ProtectedMeasure):
    """How far the share of a group among the first k documents is from its share of the whole list, over all
    k, where large differences count more. 0 means that no other order mixes the group better; 1 means that no
    other order mixes it worse.

    The name stands for normalised discounted Kullback-Leibler divergence, in bits. The published code
    replaces shares of 0 and of 1 by .001 (both): ``clamp=0.001``. So clamped, the group all first or all last
    is not the worst order, as the published normaliser takes it to be; ours is exact.

    When to use: to repeat studies of prefixes against the whole list; prefer NDKL or GF, whose target can
    be given.
    """

    in_words = "mixing of the group"
    formula = (
        "sum_{k = s, 2s, .. <= n} KL((P_k, 1 - P_k) || (P_n, 1 - P_n)) / log2(1 + k), scaled to its range"
    )

    clamp: float | None = parameter(
        None, number(0, 0.5, open_low=True, optional=True), "what stands for a share of 0 or 1"
    )

    @property
    def directed(self) -> bool:
        return self.clamp is not None  # both ends are clamped to one share: the sides are not alike

    @property
    def utility(self) -> counts.Utility:
        return counts.clamped(self.clamp)


@declare
class rRD(ProtectedMeasure):
    """How far the ratio of protected to unprotected documents among the first k falls short of the ratio of
    the whole list, over all k. 0 means that no other order serves the group better; 1 means that no other
    order serves it worse.

    The name stands for normalised discounted ratio. The group must be a minority; a note counts the lists
    where it is not. As published, a prefix without an unprotected document has the ratio 0 and so counts as
    wholly unfair to the group that fills it. With a step above 1 the group all first or all last is not
    always the worst order; the range is exact.

    When to use: to repeat studies of the ratio of two groups; prefer rND, or GF, whose target can be given.
    """

    in_words = "mixing of the group"
    formula = (
        "sum_{k = s, 2s, .. <= n} |min(r_k, r_n) - r_n| / log2(1 + k), r = protected / unprotected, scaled"
    )

    @property
    def directed(self) -> bool:
        return True

    def notes(self, evidence: RankedEvidence) -> tuple[Note, ...]:
        lengths, members = evidence.ranked.lengths, self.protected_ranks(evidence).sum(axis=1)
        many = int(((2 * members >= lengths) & (members < lengths)).sum())
        text = "the protected group is no minority in {count} lists, as rRD needs it"
        return (Note(text, many),) if many else ()
