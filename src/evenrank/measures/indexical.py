"""Indexical bias: which opinions, or which group, come early in a list.

The documents of a list are held fixed and only their order is judged, so most of these measures are scaled
to the range of values that other orders of the same documents have. That range is computed, not sampled.
Polarity is (Q, K, A): query, rank, axis.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import Term, grade, integer, parameter
from evenrank.measures.base import EMPTY_LIST, NOT_JUDGED, Direction, Measure, Note, Result
from evenrank.measures.missing import missing_parameter

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
