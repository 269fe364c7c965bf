"""Measures made of measures: weighted sums as the GFR paper writes them, and products."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.data.evidence_source import Evidence
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.measures.base import Direction, Measure, Note, Result

ZERO_TIMES_INFINITY = "0 times infinity"


class CombinedMeasure(Measure):
    """A measure that is computed from the values of others, query by query."""

    family: ClassVar[str] = "combined"
    direction: ClassVar[Direction] = Direction.HIGHER
    takes_cutoff: ClassVar[bool] = False
    what: ClassVar[str] = ""  # the combination, in errors

    def __post_init__(self) -> None:
        super().__post_init__()
        directions = {measure.direction for measure in self.measures}
        if len(directions) > 1:
            listed = ", ".join(f"{m!r} ({m.direction.value})" for m in self.measures)
            turned = [m.turned() for m in self.measures if m.direction is Direction.LOWER]
            # measures of which there is a form that points the other way are named in that form
            ways = "" if None in turned else f"; write {', '.join(map(repr, turned))}, where higher is better"
            raise ParameterError(
                f"a {self.what} of measures that point different ways means nothing: {listed}{ways}"
            )
        object.__setattr__(self, "direction", directions.pop())

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What it is made of."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it is made of")

    def rebuilt(self, measures: tuple[Measure, ...]) -> Self:
        """The same of other measures."""
        raise NotImplementedError(f"{type(self).__name__} cannot be rebuilt")

    def parts(self) -> Iterator[Measure]:
        for measure in self.measures:
            yield from measure.parts()

    def __matmul__(self, cutoff: int) -> Self:
        """The same with every part at this cut-off, where the part takes one."""
        return self.rebuilt(tuple(m @ cutoff if m.takes_cutoff else m for m in self.measures))

    def settled(self, sources: Mapping[str, Evidence]) -> Self:
        return self.rebuilt(tuple(measure.settled(sources) for measure in self.measures))

    def check(self) -> None:
        for measure in self.measures:
            measure.check()

    @property
    def needs(self) -> frozenset[str]:
        return frozenset().union(*(measure.needs for measure in self.measures))

    @property
    def depth(self) -> int | None:
        depths = [measure.depth for measure in self.measures]
        return None if None in depths else max(depth for depth in depths if depth is not None)

    def computed(self, evidence: RankedEvidence) -> tuple[list[Result], dict[str, Bools]]:
        """The values of all parts, and where any of them is undefined."""
        results, undefined = [], {}
        for measure in self.measures:
            if measure.over_queries:
                raise ParameterError(
                    f"{measure!r} is one value for all queries and cannot be part of a {self.what} by query"
                )
            result = measure.evaluate(evidence)
            if result.values.ndim > 1:
                raise ParameterError(f"{measure!r} has several columns and cannot be part of a {self.what}")
            results.append(result)
            for reason, where in result.undefined.items():
                undefined[f"{measure!r}: {reason}"] = where
        return results, undefined


def merged(results: Sequence[Result]) -> dict[str, Any]:
    """What the parts say beside their values: all notes, and the lists that lack labels for any of them."""
    without = [result.unlabelled for result in results if result.unlabelled is not None]
    return {
        "notes": Note.merged(note for result in results for note in result.notes),
        "unlabelled": np.logical_or.reduce(without) if without else None,
    }


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class WeightedSum(CombinedMeasure):
    """A weighted sum of measures, query by query: ``0.5*iRBU@10 + 0.5*nDCG@10``.

    Undefined for a query where any of its measures is. All of them must point the same way.
    """

    name: ClassVar[str] = "WeightedSum"
    what: ClassVar[str] = "sum"

    terms: tuple[tuple[float, Measure], ...] = ()

    def __post_init__(self) -> None:
        if not self.terms:
            raise ParameterError("a sum needs at least one measure")
        super().__post_init__()
        if any(not math.isfinite(weight) or weight <= 0 for weight, _ in self.terms):
            raise ParameterError(f"weights must be numbers > 0, got {[weight for weight, _ in self.terms]}")

    def __repr__(self) -> str:
        return " + ".join(f"{weight!r}*{measure!r}" for weight, measure in self.terms)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(measure for _, measure in self.terms)

    def rebuilt(self, measures: tuple[Measure, ...]) -> WeightedSum:
        weights = [weight for weight, _ in self.terms]
        return WeightedSum(terms=tuple(zip(weights, measures, strict=True)))

    def range(self) -> tuple[float, float]:
        ranges = [(weight, measure.range()) for weight, measure in self.terms]
        return sum(w * low for w, (low, _) in ranges), sum(w * high for w, (_, high) in ranges)

    def compute(self, evidence: RankedEvidence) -> Result:
        results, undefined = self.computed(evidence)
        total = np.zeros(len(evidence))
        for (weight, _), result in zip(self.terms, results, strict=True):
            total = total + weight * result.values
        return Result(total, undefined, **merged(results))

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


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Product(CombinedMeasure):
    """A product of measures, query by query: ``nDCG@10 * AWRF(distance='JSD',fairness=True)@10`` is the score
    of the TREC Fair Ranking track of 2021.

    Undefined for a query where any of its measures is, and where one is 0 and another infinite. All of them
    must point the same way and be at least 0.
    """

    name: ClassVar[str] = "Product"
    what: ClassVar[str] = "product"

    factors: tuple[Measure, ...] = ()

    def __post_init__(self) -> None:
        if len(self.factors) < 2:
            raise ParameterError("a product needs at least two measures")
        super().__post_init__()
        if self.direction not in (Direction.HIGHER, Direction.LOWER):
            raise ParameterError(f"a product of measures of which neither end is better: {self!r}")
        for measure in self.factors:
            if measure.range()[0] < 0:
                raise ParameterError(f"{measure!r} can be below 0 and cannot be part of a product")

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
        results, undefined = self.computed(evidence)
        values = np.stack([result.values for result in results])  # (F, Q)
        neither = np.asarray((values == 0).any(axis=0) & np.isinf(values).any(axis=0))
        with np.errstate(invalid="ignore"):
            product = np.prod(values, axis=0)
        return Result(product, {**undefined, ZERO_TIMES_INFINITY: neither}, **merged(results))
