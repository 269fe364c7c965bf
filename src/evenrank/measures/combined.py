"""Weighted sums of measures, in the notation of the GFR paper."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.evidence_source import Evidence
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.measures.base import Direction, Measure, Result


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class WeightedSum(Measure):
    """A weighted sum of measures, query by query: ``0.5*iRBU@10 + 0.5*nDCG@10``.

    Undefined for a query where any of its measures is. All of them must point the same way.
    """

    name: ClassVar[str] = "WeightedSum"
    family: ClassVar[str] = "combined"
    takes_cutoff: ClassVar[bool] = False

    terms: tuple[tuple[float, Measure], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.terms:
            raise ParameterError("a sum needs at least one measure")
        directions = {measure.direction for _, measure in self.terms}
        if len(directions) > 1:
            listed = ", ".join(f"{m!r} ({m.direction.value})" for _, m in self.terms)
            raise ParameterError(f"a sum of measures that point different ways means nothing: {listed}")
        if any(not math.isfinite(weight) or weight <= 0 for weight, _ in self.terms):
            raise ParameterError(f"weights must be numbers > 0, got {[weight for weight, _ in self.terms]}")
        object.__setattr__(self, "direction", directions.pop())

    direction: ClassVar[Direction] = Direction.HIGHER

    def __repr__(self) -> str:
        return " + ".join(f"{weight!r}*{measure!r}" for weight, measure in self.terms)

    def parts(self) -> Iterator[Measure]:
        for _, measure in self.terms:
            yield from measure.parts()

    def __matmul__(self, cutoff: int) -> WeightedSum:
        """The same sum with every part at this cut-off, where the part takes one."""
        return WeightedSum(terms=tuple((w, m @ cutoff if m.takes_cutoff else m) for w, m in self.terms))

    def settled(self, sources: Mapping[str, Evidence]) -> WeightedSum:
        return WeightedSum(terms=tuple((weight, m.settled(sources)) for weight, m in self.terms))

    def check(self) -> None:
        for _, measure in self.terms:
            measure.check()

    @property
    def needs(self) -> frozenset[str]:
        return frozenset().union(*(measure.needs for _, measure in self.terms))

    @property
    def depth(self) -> int | None:
        depths = [measure.depth for _, measure in self.terms]
        return None if None in depths else max(depth for depth in depths if depth is not None)

    def range(self) -> tuple[float, float]:
        ranges = [(weight, measure.range()) for weight, measure in self.terms]
        return sum(w * low for w, (low, _) in ranges), sum(w * high for w, (_, high) in ranges)

    def compute(self, evidence: RankedEvidence) -> Result:
        total = np.zeros(len(evidence))
        undefined = {}
        for weight, measure in self.terms:
            result = measure.evaluate(evidence)
            if result.values.ndim > 1:
                raise ParameterError(f"{measure!r} has several columns and cannot be part of a sum")
            total = total + weight * result.values
            for reason, where in result.undefined.items():
                undefined[f"{measure!r}: {reason}"] = where
        return Result(total, undefined)

    def explain(self, evidence: RankedEvidence) -> Floats | None:
        if any(getattr(measure, "missing", "") == "drop" for measure in self.parts()):
            return None  # a rank then means another document to each part
        parts = [(w, m.explain(m.prepared(evidence))) for w, m in self.terms]
        if any(part is None for _, part in parts):
            return None
        total = np.zeros(evidence.ranked.rows.shape)
        for weight, part in parts:
            if part is not None:
                total[:, : part.shape[1]] += weight * part
        return total
