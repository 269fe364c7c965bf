"""Indexical bias: which opinions, or which group, come early in a list.

The documents of a list are held fixed and only their order is judged, so most of these measures are scaled
to the range of values that other orders of the same documents have. That range is computed, not sampled.
Polarity is (Q, K, A): query, rank, axis.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, flag, integer, number, parameter
from evenrank.measures import orders
from evenrank.measures.base import Direction, Measure, Note, Result
from evenrank.measures.neutrality import EMPTY_LIST
from evenrank.measures.orders import counts
from evenrank.measures.relevance import NOT_JUDGED, divide
from evenrank.measures.sums import padded_sum

TOO_SHORT = "too short"
NO_CHOICE = "every order scores the same"
ONE_GROUP = "one group only"

MISSING_POLARITY = "documents without polarity: an error, or left out"
SAME = 1e-12  # a range not wider than that, for values up to 1, is no range


def _no_range(least: Floats, most: Floats) -> Bools:
    """(Q, ...): True where all orders score the same."""
    same: Bools = most - least <= SAME * np.maximum(1.0, most)
    return same


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class IndexicalMeasure(Measure):
    """A measure of the order of a list whose documents are held fixed."""

    step: int = parameter(1, integer(1), "look at every step-th rank")
    min_grade: int | None = parameter(
        None, integer(1, optional=True), "only documents of at least this grade take part"
    )
    missing: str = parameter("error", choice("error", "drop"), MISSING_POLARITY)

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
        scores = np.asarray(evidence.ranked["polarity"], dtype=np.float64)
        scores = scores[:, :, None] if scores.ndim == 2 else scores
        if scores.shape[2] < axes:
            raise ParameterError(f"{self!r} needs {axes} axes of polarity, there are {scores.shape[2]}")
        scores = scores[:, :, :axes]
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


@declare
class DUO(IndexicalMeasure):
    """Whether documents of one opinion come before those of the other, compared with all other orders of the
    same documents. 0 means that the opinions are mixed from the top as well as possible; 1 means that one
    side comes first.

    The name stands for discounted uniformity of opinions. ``u_k`` is the variance of the polarity of the
    first k documents about their own mean (the paper's figure and code), or with ``center='list'`` about the
    mean of the list (its printed Eq. 5; two sides equally far from it are then undefined). The range over all
    orders of the same documents is computed, not sampled: the largest D is exact; the smallest is exact for
    lists of at most 14 documents and wherever a proved bound is met. For other lists it is that of an order
    whose prefixes are intervals of the sorted scores: nothing below it was ever found, but that is not
    proved; a note says by how much a value could be too high, and a list that is itself below is taken for
    the smallest, and a note says so.

    ``signed=True`` gives the value the sign of ``sum_k s_k u_k / log2 k``, s_k the sign of the number of
    positive minus the number of negative documents among the first k: negated scores give the negated value.
    ``tie='minus'`` is the printed rule, which takes -1 unless more than half are positive. ``axes=m`` gives
    one column an axis and the one that is largest (farthest from 0), over the axes that are defined.
    With ``min_grade`` the list closes up to the documents of that grade before it is cut.
    """

    answers = (
        "is one viewpoint shown before the other",
        "are opinions, stances or political sides mixed from the top",
        "viewpoint diversity, filter bubble, polarisation",
    )
    formula = "(max D - D) / (max D - min D) over orders, D = sum_{k = s, 2s, .. <= n, k >= 2} u_k / log2 k"
    reference = "Ziems et al. 2024, Measuring and addressing indexical bias in information retrieval, Eq. 1-6"
    undefined_when: ClassVar[dict[str, str]] = {
        **UNDEFINED_ORDER,
        NO_CHOICE: "the largest and the smallest D are the same, as when all documents have one polarity",
    }

    center: str = parameter(
        "prefix", choice(*orders.CENTERS), "variance about the mean of the prefix or the list"
    )
    axes: int = parameter(1, integer(1), "so many axes of polarity, each on its own")
    signed: bool = parameter(False, flag(), "positive where the positive side comes first, else negative")
    tie: str = parameter("zero", choice("zero", "minus"), "sign of a prefix with as many of either side")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.signed:
            object.__setattr__(self, "direction", Direction.SIGNED)
        elif self.tie != "zero":
            raise ParameterError(f"DUO: tie={self.tie!r} is about the sign and needs signed=True")

    @property
    def directed(self) -> bool:
        return self.signed

    def range(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.signed else (0.0, 1.0)

    def compute(self, evidence: RankedEvidence) -> Result:
        polarity, lengths = self.polarity(evidence, self.axes), evidence.ranked.lengths
        by_axis = [self._one_axis(polarity[:, :, axis], lengths) for axis in range(self.axes)]
        values = np.stack([value for value, _, _ in by_axis], axis=1)  # (Q, A)
        same = np.stack([none for _, none, _ in by_axis], axis=1)
        notes = Note.merged(note for _, _, said in by_axis for note in said)
        reasons = self.cannot_be_judged(evidence, 2)
        if self.axes == 1:
            return Result(values[:, 0], {**reasons, NO_CHOICE: same[:, 0]}, notes=notes)
        magnitude = np.where(same, -1.0, np.abs(values))
        largest = magnitude.max(axis=1, keepdims=True)
        farthest = np.argmax(magnitude >= largest - SAME, axis=1)[:, None]  # of equal ones the first
        values = np.hstack([values, np.take_along_axis(values, farthest, axis=1)])  # (Q, A + 1)
        same = np.hstack([same, same.all(axis=1, keepdims=True)])
        names = evidence.labels.get("polarity.axes") or tuple(f"axis {axis + 1}" for axis in range(self.axes))
        return Result(values, {**reasons, NO_CHOICE: same}, (*names[: self.axes], "maximum"), notes)

    def _one_axis(self, polarity: Floats, lengths: Any) -> tuple[Floats, Bools, tuple[Note, ...]]:
        """(Q,): the values for (Q, K) scores, where there is no range, and what must be said."""
        polarity, same = orders.rescaled(polarity, lengths)
        d = orders.spread(polarity, lengths, step=self.step, center=self.center)
        found = orders.extremes(polarity, lengths, step=self.step, center=self.center)
        none = same | _no_range(found.least, found.most)
        # a list below the programme's smallest D stands for it: 1
        scaled = np.clip(divide(found.most - d, found.most - found.least), 0.0, 1.0)
        value = np.where(none, 0.0, scaled)
        if self.signed:
            value = value * self._sign(polarity, lengths, found.most)
        below = found.least - d > SAME * np.maximum(1.0, found.most)
        lowest = divide(found.most - d, found.most - np.minimum(found.fence, d))  # if the fence were reached
        too_high = np.where(found.proved | none, 0.0, np.abs(value) - np.clip(lowest, 0.0, 1.0))
        unproved = int((~found.proved & ~none).sum())
        return value, none, _duo_notes(unproved, float(too_high.max(initial=0)), below)

    def _sign(self, polarity: Floats, lengths: Any, most: Floats) -> Floats:
        """(Q,): the side that the list leans to; 0 where it leans to neither, but for rounding."""
        u = orders.prefix_spread(polarity, lengths, self.center)
        lean = np.sign(np.cumsum(np.sign(polarity), axis=1))  # (Q, K)
        if self.tie == "minus":
            k = np.arange(1, polarity.shape[1] + 1)
            lean = np.where(2 * np.cumsum(polarity > 0, axis=1) > k, 1.0, -1.0)
        total = padded_sum(lean * u * orders.spread_weights(polarity.shape[1], self.step))
        return np.where(np.abs(total) <= SAME * most, 0.0, np.sign(total))

    def explain(self, evidence: RankedEvidence) -> Floats | None:
        """How much less the first k spread than they would in the most balanced order, at every k: that
        order spreads most at each k at once, so no part is negative."""
        if self.axes > 1:
            return None
        lengths = evidence.ranked.lengths
        polarity, _ = orders.rescaled(self.polarity(evidence, 1)[:, :, 0], lengths)
        order = orders.balanced_order(polarity, lengths, center=self.center)
        balanced = np.take_along_axis(polarity, np.maximum(order, 0), axis=1)
        parts = orders.prefix_spread(balanced, lengths, self.center)
        parts = parts - orders.prefix_spread(polarity, lengths, self.center)
        parts = parts * orders.spread_weights(polarity.shape[1], self.step)  # (Q, K)
        value = self._one_axis(polarity, lengths)[0]
        return divide(parts, padded_sum(parts)[:, None]) * value[:, None]


def _duo_notes(unproved: int, too_high: float, below: Bools) -> tuple[Note, ...]:
    notes = []
    if unproved:
        text = (
            f"{{count}} lists of more than {orders.EXACT_UP_TO} documents are scaled by a smallest D that is "
            "not proved; no value is more than {most} too high"
        )
        notes.append(Note(text, unproved, most=1.05 * too_high))  # printed with two digits, so rounded up
    if below.any():
        text = "{count} lists have a smaller D than the programme found, and are scaled by their own"
        notes.append(Note(text, int(below.sum())))
    return tuple(notes)


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
        reasons[NO_CHOICE] = _no_range(least, most)
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
    """

    answers = (
        "is a protected group spread evenly over the list",
        "does a protected group or a minority stand at the bottom",
        "order of one viewpoint or group",
    )
    formula = "sum_{k = s, 2s, .. <= n} |P_k - P_n| / log2(1 + k), scaled to its range over orders"


@declare
class rKL(ProtectedMeasure):
    """How far the share of a group among the first k documents is from its share of the whole list, over all
    k, where large differences count more. 0 means that no other order mixes the group better; 1 means that no
    other order mixes it worse.

    The name stands for normalised discounted Kullback-Leibler divergence, in bits. The published code
    replaces shares of 0 and of 1 by .001 (both): ``clamp=0.001``. So clamped, the group all first or all last
    is not the worst order, as the published normaliser takes it to be; ours is exact.
    """

    answers = (
        "is a protected group spread evenly over the list",
        "does a viewpoint or group come too early or too late",
    )
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
    """

    answers = ("is a protected minority pushed down the list", "protected group falls short at the top")
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
