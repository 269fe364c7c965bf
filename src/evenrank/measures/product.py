"""Products of measures: a list is good only where it is good in every respect."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.measures.base import Direction, Measure, Result
from evenrank.measures.combined import CombinedMeasure, merged

ZERO_TIMES_INFINITY = "0 times infinity"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Product(CombinedMeasure):
    """A product of measures, query by query: ``nDCG@10 * AWRF(distance='JSD',fairness=True)@10`` is the score
    of the TREC Fair Ranking track of 2021.

    Undefined for a query where any of its measures is, and where one is 0 and another infinite. All of them
    must point the same way and be at least 0.
    """

    name: ClassVar[str] = "Product"
    direction: ClassVar[Direction] = Direction.HIGHER

    factors: tuple[Measure, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.factors) < 2:
            raise ParameterError("a product needs at least two measures")
        direction = self.point_alike("product")
        if direction not in (Direction.HIGHER, Direction.LOWER):
            raise ParameterError(f"a product of measures of which neither end is better: {self!r}")
        for measure in self.factors:
            if measure.range()[0] < 0:
                raise ParameterError(f"{measure!r} can be below 0 and cannot be part of a product")
        object.__setattr__(self, "direction", direction)

    def __repr__(self) -> str:
        return "*".join(map(repr, self.factors))

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.factors

    def rebuilt(self, measures: tuple[Measure, ...]) -> Product:
        return Product(factors=measures)

    def range(self) -> tuple[float, float]:
        lows, highs = zip(*(measure.range() for measure in self.factors), strict=True)
        return math.prod(lows), math.inf if math.inf in highs else math.prod(highs)

    def compute(self, evidence: RankedEvidence) -> Result:
        results, undefined = self.computed(evidence, "product")
        values = np.stack([result.values for result in results])  # (F, Q)
        neither = np.asarray((values == 0).any(axis=0) & np.isinf(values).any(axis=0))
        with np.errstate(invalid="ignore"):
            product = np.prod(values, axis=0)
        return Result(product, {**undefined, ZERO_TIMES_INFINITY: neither}, **merged(results))
