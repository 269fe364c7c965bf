"""One toy measure of each kind that the architecture must carry. They are not registered for good."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from evenrank import parse_measure
from evenrank.grammar import choice, declare, parameter, term_of, unregister
from evenrank.measures import Direction, Measure, Result


def discounts(depth: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return 1 / np.log2(np.arange(2, depth + 2))


@declare
class ToyIdeal(Measure):
    """Needs an ideal over the judged documents."""

    direction = Direction.HIGHER

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.relevance", "judged.relevance"})

    def compute(self, evidence: Any) -> Result:
        found = evidence.ranked["relevance"].sum(axis=1)
        best = evidence.reference["judged"].padded("relevance", self.cutoff).sum(axis=1)
        return Result(found / np.where(best > 0, best, 1), {"nothing to find": best <= 0})


@declare
class ToyBackground(Measure):
    """Compares with a background set: a run's lists, or one set of documents for all queries."""

    missing: str = parameter("error", choice("error", "neutral", "drop"), "documents without a weight")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.weight", "background.weight"})

    def compute(self, evidence: Any) -> Result:
        weight = (
            np.where(evidence.ranked.known("weight"), evidence.ranked["weight"], 1.0) * evidence.ranked.mask
        )
        discount = discounts(weight.shape[1])
        background = -np.sort(-evidence.reference["background"].padded("weight"), axis=1)[:, : self.cutoff]
        ideal = background @ discounts(background.shape[1])
        return Result(weight @ discount / np.where(ideal > 0, ideal, 1), {"empty background": (ideal <= 0)})


@declare
class ToyGroups(Measure):
    """Groups and targets that differ by query."""

    direction = Direction.LOWER
    bounds: ClassVar[tuple[float, float]] = (0.0, 2.0)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.group", "query.target"})

    def compute(self, evidence: Any) -> Result:
        share = evidence.ranked["group"].mean(axis=1, where=evidence.ranked.mask[:, :, None])
        return Result(
            np.abs(share - evidence.query["target"]).sum(axis=1),
            {"no target": ~evidence.query["target.known"]},
        )


@declare
class ToyPair(Measure):
    """Two runs: the share of documents they have in common."""

    direction = Direction.DISTANCE

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.documents", "against.documents"})

    def compute(self, evidence: Any) -> Result:
        one, two = evidence.ranked["documents"], evidence.against["documents"]
        common = ((one[:, :, None] == two[:, None, :]) & (one >= 0)[:, :, None]).sum(axis=(1, 2))
        longest = np.maximum(evidence.ranked.lengths, evidence.against.lengths)
        return Result(common / np.maximum(longest, 1), {"both lists are empty": longest == 0})


@declare
class ToyExposure(Measure):
    """Several rankings a query: the sum of squared expected exposures of its documents."""

    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"rankings.documents", "pool.documents", "pool.relevance", "judged.relevance"})

    def compute(self, evidence: Any) -> Result:
        documents = evidence.rankings["documents"]  # (Q, S, K)
        attended = 0.5 ** np.arange(1, documents.shape[2] + 1)  # (K,)
        pool = evidence.reference["pool"].padded("documents")  # (Q, M)
        at = (
            documents[:, :, :, None]
            == np.where(evidence.reference["pool"].mask(), pool, -2)[:, None, None, :]
        )
        exposure = (at * attended[None, None, :, None]).sum(axis=2).mean(axis=1)  # (Q, M)
        return Result((exposure**2).sum(axis=1))


@declare
class ToyColumns(Measure):
    """Several result columns: the share of each group, undefined where the list has none of it."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.group"})

    def compute(self, evidence: Any) -> Result:
        share = evidence.ranked["group"].mean(axis=1, where=evidence.ranked.mask[:, :, None])  # (Q, 2)
        return Result(share, {"absent": share == 0}, ("left", "right"))


@declare
class ToyNested(Measure):
    """Holds another measure and halves it."""

    inner: Measure = parameter(parse_measure("RBP"), term_of("measure"), "what is halved")

    @property
    def needs(self) -> frozenset[str]:
        return self.inner.needs

    def compute(self, evidence: Any) -> Result:
        result = self.inner.compute(evidence)
        return Result(result.values / 2, result.undefined)


@declare
class ToyWorst(ToyIdeal):
    """An aggregate that is not a mean."""

    aggregation = "min"

    def aggregate(self, values):
        return np.min(values, axis=-1)


@declare
class ToyInfinite(Measure):
    """Infinite where the first document has grade 0."""

    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.relevance"})

    def compute(self, evidence: Any) -> Result:
        with np.errstate(divide="ignore"):
            return Result(1 / np.maximum(evidence.ranked["relevance"][:, 0], 0.0))


TOYS = [
    ToyIdeal,
    ToyBackground,
    ToyGroups,
    ToyPair,
    ToyExposure,
    ToyColumns,
    ToyNested,
    ToyWorst,
    ToyInfinite,
]
for toy in TOYS:
    unregister("measure", toy.name)
