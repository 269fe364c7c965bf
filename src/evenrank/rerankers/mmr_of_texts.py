"""Maximal marginal relevance where likeness is that of texts (their vectors) or of opinions (polarity)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats, Int64s
from evenrank.data.evidence_source import Evidence
from evenrank.data.tables import DocumentTable
from evenrank.errors import MissingEvidenceError, ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, integer, number, parameter, text
from evenrank.measures.relevance import divide
from evenrank.rerankers.base import Reordered, Reranker

_TIE = 1e-12  # equal sums differ in the last bit
Alike = Callable[[Int64s], Floats]  # the places (Q,) that were chosen: how like them all places are (Q, K)


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class MarginalReranker(Reranker):
    """What the kinds of maximal marginal relevance have in common that look at documents themselves."""

    reference = "Carbonell and Goldstein 1998, The use of MMR, diversity-based reranking, SIGIR, Eq. 1"

    lam: float = parameter(0.5, number(0, 1), "weight of relevance; the rest is that of being different")
    missing: str = parameter(
        "error", choice("error", "behind"), "documents without evidence: an error, or behind the others"
    )

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        ranked = evidence.ranked
        known, alike = self.likeness(evidence)
        known = known & ranked.mask  # (Q, K)
        places = marginal_order(known, attention.log2().weights(ranked.depth), alike, self.lam)
        return Reordered(np.where(ranked.mask, places, -1))

    def likeness(self, evidence: RankedEvidence) -> tuple[Bools, Alike]:
        """Which documents have evidence (Q, K), and how like one another they are."""
        raise NotImplementedError(f"{type(self).__name__} does not re-rank")


def marginal_order(known: Bools, relevance: Floats, alike: Alike, lam: float) -> Int64s:
    """(Q, K): the places in their new order; those that are not known follow as they were.

    At each rank the place with the largest ``lam rel - (1 - lam) max alike``; of equal ones the first.
    """
    count, width = known.shape
    left, order = known.copy(), np.tile(np.arange(width), (count, 1))
    nearest = np.zeros((count, width))
    sizes, every = known.sum(axis=1), np.arange(count)
    for rank in range(int(sizes.max(initial=0))):
        value = np.where(left, lam * relevance - (1 - lam) * nearest, -np.inf)
        best = value.max(axis=1, keepdims=True, initial=-np.inf)
        chosen = (value >= best - _TIE).argmax(axis=1)
        now = every[rank < sizes]
        order[now, rank] = chosen[now]
        left[now, chosen[now]] = False
        nearest = np.maximum(nearest, alike(chosen))
    rest = np.argsort(known, axis=1, kind="stable")  # those without evidence first, in their order
    for query in every[sizes < width]:
        order[query, sizes[query] :] = rest[query, : width - sizes[query]]
    return order


@declare
class VectorMMR(MarginalReranker):
    """Takes at each rank a document that is relevant and whose text is unlike those before it, by the cosine
    of vectors. ``lam=1`` keeps the order; ``lam=0`` counts difference alone.

    The next document has the largest ``lam rel(d) - (1 - lam) max_s cos(d, s)`` over the documents s that
    stand already, negative cosines counting as 0. ``rel`` comes from the ranking, 1 / log2(1 + rank). The
    vectors are the columns of a table of numbers by document, as an encoder gives them.
    """

    table: str | None = parameter(None, text(optional=True), "the table of vectors; None: there is only one")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"ranked.{self.table or ''}"})

    def settled(self, sources: Mapping[str, Evidence]) -> Reranker:
        tables = [source.name for source in sources.values() if isinstance(source, DocumentTable)]
        if self.table is not None:
            return self
        if len(tables) != 1:
            there = f"the tables are {', '.join(tables)}" if tables else "there is none (--table NAME=FILE)"
            raise ParameterError(f"{self!r}: name the table of vectors, as VectorMMR(table=NAME); {there}")
        return dataclasses.replace(self, table=tables[0])

    def likeness(self, evidence: RankedEvidence) -> tuple[Bools, Alike]:
        name = self.table or ""
        columns = evidence.ranked.gathered[name].columns
        parts = [np.asarray(evidence.ranked[f"{name}.{key}" if key else name], np.float64) for key in columns]
        vectors = np.concatenate([part[:, :, None] if part.ndim == 2 else part for part in parts], axis=2)
        known = evidence.ranked.known(name) & np.isfinite(vectors).all(axis=2)
        lacking = evidence.ranked.mask & ~known
        if self.missing == "error" and lacking.any():
            raise MissingEvidenceError(
                f"{self!r}: {int(lacking.sum()):,} ranked documents have no vector of numbers; "
                "missing='behind' puts them behind the others"
            )
        vectors = np.where(known[:, :, None], vectors, 0.0)
        direction = divide(vectors, np.sqrt((vectors**2).sum(axis=2, keepdims=True)))  # (Q, K, D)
        every = np.arange(len(direction))

        def alike(chosen: Int64s) -> Floats:
            found: Floats = np.matmul(direction, direction[every, chosen][:, :, None])[:, :, 0]
            return found

        return known, alike


@declare
class PolarityMMR(MarginalReranker):
    """Takes at each rank a document that is relevant and whose opinion is unlike those before it, by their
    distance on the axis of opinion. ``lam=1`` keeps the order; ``lam=0`` counts difference alone.

    The next document has the largest ``lam rel(d) - (1 - lam) max_s sim(d, s)`` over the documents s that
    stand already; ``rel`` comes from the ranking, 1 / log2(1 + rank), and ``sim`` is 1 less the distance of
    the two polarities over the largest distance in the list (1 where all are equal).
    """

    axis: int = parameter(1, integer(1), "which axis of polarity")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.polarity"})

    def likeness(self, evidence: RankedEvidence) -> tuple[Bools, Alike]:
        ranked = evidence.ranked
        scores = np.asarray(ranked["polarity"], dtype=np.float64)
        scores = scores[:, :, None] if scores.ndim == 2 else scores  # (Q, K, A)
        if scores.shape[2] < self.axis:
            raise ParameterError(f"{self!r}: there are {scores.shape[2]} axes of polarity")
        values = scores[:, :, self.axis - 1]
        known = ranked.known("polarity") & ranked.mask
        low = np.where(known, values, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        span = np.where(high > low, high - low, np.inf)  # equal opinions are alike
        every = np.arange(len(values))

        def alike(chosen: Int64s) -> Floats:
            found: Floats = 1.0 - np.abs(values - values[every, chosen][:, None]) / span
            return found

        return known, alike
