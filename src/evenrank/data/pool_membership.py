"""Membership whose target comes from the documents of each query: their shares, values or relevance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenrank.arrays import Array, Floats, Int64s
from evenrank.data.attribute import PRESENT, RELEVANCE
from evenrank.data.evidence_source import Evidence, Gathered, Pairs, Sparse
from evenrank.data.membership import Membership
from evenrank.errors import ParameterError
from evenrank.ids import StringRows

_MOST_VALUES = 64  # of a set that is the same for all queries; a larger one is renumbered by query


@dataclass(frozen=True, eq=False)
class PooledMembership:
    """A membership with a target for each of some queries.

    A set of very many values (companies) is renumbered: a query has the values of its pool, and one place
    for all others. Their target is 0, and every divergence here is the same for values with target 0
    whether they are counted apart or together.
    """

    membership: Membership
    target: Floats  # (Q, L)
    keys: Int64s | None  # (M,): query * values + value of each place in turn, sorted; None: not renumbered
    starts: Int64s | None  # (Q,): where the places of a query begin in ``keys``
    shared: bool  # one pool for all queries
    pool: StringRows  # the documents of the pool, and
    pool_rows: Int64s  # their rows in the membership: a run is often its own pool

    @property
    def name(self) -> str:
        return self.membership.name

    @property
    def fingerprint(self) -> str:
        return self.membership.fingerprint

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        return self.membership.labels if self.keys is None else {}

    def gather(self, pairs: Pairs) -> Gathered:
        by_document = self.membership.query_ids is None
        known_rows = by_document and self.pool.is_like(pairs.doc_ids)
        rows = self.pool_rows if known_rows else self.membership.rows_of(pairs)
        if self.keys is None or self.starts is None:
            return self.membership.gather_rows(rows)
        shares = self.membership.shares.rows(rows)
        owners = np.repeat(pairs.query_codes, np.diff(shares.offsets)).astype(np.int64)
        owners = np.zeros_like(owners) if self.shared else owners
        wanted = owners * shares.width + shares.places
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        inside = self.keys[at] == wanted if len(self.keys) else np.zeros(len(wanted), dtype=bool)
        places = np.where(inside, at - self.starts[owners] + 1, 0)  # place 0: all others
        return Gathered({"": _merged(shares.offsets, places, shares.values, self.target.shape[1])}, rows >= 0)

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        """``target``, and ``exists``: how many values of the query a place stands for."""
        exists: Array = np.nan_to_num(self.target) > 0
        if self.membership.attribute.target == PRESENT:
            # a query without a pool has all values; how many places there are is up to the other queries
            exists[~exists.any(axis=1), : 1 if self.keys is not None else None] = True
        elif self.keys is None:
            exists = np.ones(self.target.shape, dtype=bool)
        else:
            exists = exists.astype(np.int64)
            exists[:, 0] = len(self.membership.attribute.values) - exists.sum(axis=1)  # all others
        return {"target": self.target, "exists": exists}


def pooled(
    membership: Membership, pool: Pairs, queries: int, *, shared: bool, judgements: Evidence | None
) -> PooledMembership:
    """The membership with the target that the documents of a pool give each query."""
    attribute, width, count = membership.attribute, membership.shares.width, 1 if shared else queries
    if shared and membership.query_ids is not None:
        raise ParameterError(
            f"attribute {attribute.name!r}: its values depend on the query, so its target cannot come from "
            "one set of documents for all queries: give a run as background"
        )
    rows = membership.rows_of(pool)
    pairs, places, values = membership.entries(rows)
    cells = pool.query_codes[pairs].astype(np.int64) * width + places
    keys, back, starts = np.arange(count * width), cells, None
    if width > _MOST_VALUES and not attribute.ordinal:
        # the values that the pool of a query has, and no others
        keys, back = np.unique(cells, return_inverse=True)
    mass = np.bincount(back, weights=values, minlength=len(keys)).astype(np.float64)
    if attribute.target == PRESENT:
        mass = (mass > 0).astype(np.float64)
    if attribute.target == RELEVANCE:
        grades = _grades(attribute.name, pool, judgements, shared=shared)[pairs]
        gained = np.bincount(back, weights=grades * (1.0 if values is None else values), minlength=len(keys))
        mass = np.divide(gained, mass, out=np.zeros(len(keys)), where=mass > 0)  # the average grade
    owners, places = np.divmod(keys, width)
    if back is not cells:
        starts = np.searchsorted(owners, np.arange(count))
        places = np.arange(len(keys)) - starts[owners] + 1  # place 0 is for all others
        width = int(places.max(initial=0)) + 1
    total = np.bincount(owners, weights=mass, minlength=count)
    target = np.where(total[:, None] > 0, np.zeros((count, width)), np.nan)
    some = np.flatnonzero(total[owners] > 0)
    target[owners[some], places[some]] = mass[some] / total[owners[some]]
    target = np.broadcast_to(target, (queries, width)).copy()
    return PooledMembership(
        membership, target, None if starts is None else keys, starts, shared, pool.doc_ids, rows
    )


def _grades(name: str, pool: Pairs, judgements: Evidence | None, *, shared: bool) -> Floats:
    """(P,): the grades of a pool, 0 for documents that are not judged, or below 0."""
    if judgements is None:
        raise ParameterError(
            f"attribute {name!r}: the target 'relevance' needs judgements: pass qrels= (--qrels FILE)"
        )
    if shared:
        raise ParameterError(
            f"attribute {name!r}: the target 'relevance' needs the documents of each query, not one set for "
            "all: give a run as background"
        )
    return np.maximum(np.asarray(judgements.gather(pool).columns[""], dtype=np.float64), 0.0)


def _merged(offsets: Int64s, places: Int64s, values: Floats, width: int) -> Sparse:
    """Rows in which a place may stand twice, with such entries added up."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    keys, back = np.unique(rows * width + places, return_inverse=True)
    sums = np.bincount(back, weights=values, minlength=len(keys)).astype(np.float64)
    sizes = np.bincount(keys // width, minlength=len(offsets) - 1)
    return Sparse(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), keys % width, sums, width)
