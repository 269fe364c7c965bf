"""Whether one side of a question comes before the other: DUO."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, flag, integer, parameter
from evenrank.measures import orders
from evenrank.measures.base import Direction, Note, Result
from evenrank.measures.indexical import NO_CHOICE, SAME, UNDEFINED_ORDER, IndexicalMeasure, no_range
from evenrank.measures.sums import divide, padded_sum


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

    When to use: to see whether one viewpoint, opinion or political side stands before the other, whatever
    their numbers; prefer AWRF where the shares of attention matter.
    """

    in_words = "one side first"
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

    def of_scores(self, polarity: Floats, lengths: Any) -> tuple[Floats, Bools]:
        """(Q,): the values of lists of (Q, K) scores as they stand, and where every order scores the same."""
        values, same, _ = self._one_axis(polarity, lengths)
        return values, same

    def _one_axis(self, polarity: Floats, lengths: Any) -> tuple[Floats, Bools, tuple[Note, ...]]:
        """(Q,): the values for (Q, K) scores, where there is no range, and what must be said."""
        polarity, same = orders.rescaled(polarity, lengths)
        d = orders.spread(polarity, lengths, step=self.step, center=self.center)
        found = orders.extremes(polarity, lengths, step=self.step, center=self.center)
        none = same | no_range(found.least, found.most)
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
