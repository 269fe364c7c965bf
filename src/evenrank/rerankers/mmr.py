"""Maximal marginal relevance: documents that are relevant, and unlike those before them.

Likeness is that of groups (membership), of texts (their vectors) or of opinions (polarity).
"""

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
from evenrank.measures.indexical import polarity_scores
from evenrank.measures.sums import divide
from evenrank.rerankers.base import Reordered, Reranker
from evenrank.rerankers.grouped import GroupReranker, best_first, followed

REFERENCE = "Carbonell and Goldstein 1998, The use of MMR, diversity-based reranking, SIGIR, Eq. 1"
LAM_MEANS = "weight of relevance; the rest is that of being different"
Alike = Callable[[Int64s, Int64s], Floats]  # queries (q,), places (q,): how like them all places are (q, K)


def marginal_order(there: Bools, alike: Alike, lam: float) -> Int64s:
    """(Q, K): at each rank the place with the largest ``lam rel - (1 - lam) max alike``."""
    relevance = lam * attention.log2().weights(there.shape[1])  # (K,)
    nearest = np.zeros(there.shape)  # the likeness to the nearest that stands already

    def place(queries: Int64s, chosen: Int64s) -> None:
        nearest[queries] = np.maximum(nearest[queries], alike(queries, chosen))

    return best_first(there, lambda free: relevance - (1 - lam) * nearest, place)


def by_cosine(vectors: Floats) -> Alike:
    direction = divide(vectors, np.sqrt((vectors**2).sum(axis=2, keepdims=True)))  # (Q, K, D)

    def alike(queries: Int64s, chosen: Int64s) -> Floats:
        return np.matmul(direction[queries], direction[queries, chosen][:, :, None])[:, :, 0]  # type: ignore[no-any-return]

    return alike


@declare
class MMR(GroupReranker):
    """Takes at each rank a document that is relevant and unlike those before it. ``lam=1`` counts relevance
    alone and keeps the order; ``lam=0`` counts difference alone.

    The name stands for maximal marginal relevance. The next document has the largest ``lam rel(d) - (1 - lam)
    max_s sim(d, s)`` over the documents s that stand already. ``rel`` comes from the ranking, 1 / log2(1 +
    rank); ``sim`` is the cosine of memberships. Of equal ones the first stands first, so that ``lam=1``
    changes nothing, but for documents without a group, which go where ``missing`` says.
    """

    reference = REFERENCE

    lam: float = parameter(0.5, number(0, 1), LAM_MEANS)

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        there = self.groups(evidence) >= 0
        chosen = marginal_order(there, by_cosine(evidence.ranked[self.source]), self.lam)
        return Reordered(self.placed(evidence, there, chosen))


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class MarginalReranker(Reranker):
    """What the kinds of maximal marginal relevance have in common that look at documents themselves."""

    reference = REFERENCE

    lam: float = parameter(0.5, number(0, 1), LAM_MEANS)
    missing: str = parameter(
        "error", choice("error", "behind"), "documents without evidence: an error, or behind the others"
    )

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        mask = evidence.ranked.mask
        known, alike = self.likeness(evidence)
        places = followed(marginal_order(known & mask, alike, self.lam), known & mask)
        return Reordered(np.where(mask, places, -1))

    def likeness(self, evidence: RankedEvidence) -> tuple[Bools, Alike]:
        """Which documents have evidence (Q, K), and how like one another they are."""
        raise NotImplementedError(f"{type(self).__name__} does not re-rank")


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
        return known, by_cosine(np.where(known[:, :, None], vectors, 0.0))


@declare
class PolarityMMR(MarginalReranker):
    """Takes at each rank a document that is relevant and whose opinion is unlike those before it, by their
    distance on the axis of opinion. ``lam=1`` keeps the order; ``lam=0`` counts difference alone.

    The next document has the largest ``lam rel(d) - (1 - lam) max_s sim(d, s)`` over the documents s that
    stand already; ``rel`` comes from the ranking, 1 / log2(1 + rank), and ``sim`` is 1 less the distance of
    the two polarities over the largest distance in the list (1 where all are equal).
    """

    axis: int = parameter(1, integer(1), "which axis of polarity")

    needs = frozenset({"ranked.polarity"})

    def likeness(self, evidence: RankedEvidence) -> tuple[Bools, Alike]:
        ranked = evidence.ranked
        scores = polarity_scores(self, evidence, self.axis)
        values = scores[:, :, self.axis - 1]
        known = ranked.known("polarity") & ranked.mask
        low = np.where(known, values, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        span = np.where(high > low, high - low, np.inf)  # equal opinions are alike

        def alike(queries: Int64s, chosen: Int64s) -> Floats:
            away = np.abs(values[queries] - values[queries, chosen][:, None])
            return np.asarray(1.0 - away / span[queries])

        return known, alike
