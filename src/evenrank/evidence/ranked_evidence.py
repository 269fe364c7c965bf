"""The arrays that a measure sees: lists as ``[Q, K]`` matrices, reference sets, facts of a query.

Nothing here holds an id or knows a file. Columns are gathered on first use, so that a measure with a
small cut-off pays for that cut-off only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Array, Bools, Int64s, rows_or_zero
from evenrank.data.evidence_source import Column, Gathered, Labels, Sparse
from evenrank.errors import ParameterError

T = TypeVar("T")


def _take(column: Column, rows: Int64s) -> Array:
    """``column[rows]`` with zeros where the row is -1."""
    if isinstance(column, (Sparse, Labels)):
        return column.dense(rows)
    return rows_or_zero(column, rows)


def _column(gathered: Mapping[str, Gathered], name: str) -> Column:
    evidence, _, column = name.partition(".")
    if evidence not in gathered:
        there = f" (there: {', '.join(gathered)})" if gathered else ""
        raise ParameterError(f"{name!r} was not gathered: a measure names what it reads in its needs{there}")
    if column not in gathered[evidence].columns:
        names = [f"{evidence}.{own}" if own else evidence for own in gathered[evidence].columns]
        raise ParameterError(f"{name!r} is not in this evidence; it has {', '.join(map(repr, names))}")
    return gathered[evidence].columns[column]


class _Remembering:
    """What several measures need is computed by the first; its name says all that it depends on."""

    _cache: dict[str, Any]

    def remembered(self, name: str, compute: Callable[[], T]) -> T:
        if name not in self._cache:
            self._cache[name] = compute()
        found: T = self._cache[name]
        return found


@dataclass(frozen=True, eq=False)
class Ranked(_Remembering):
    """Ranked lists as a matrix: one row a query, one column a rank, padded at the end.

    ``ranked["relevance"]`` is the column of that evidence at every rank, 0 in the padding;
    ``ranked.known("relevance")`` says where there is any. For several rankings a query the axes are
    ``[Q, S, K]``.
    """

    rows: Int64s  # (Q, K) or (Q, S, K): the pair at a rank, -1 in the padding
    gathered: Mapping[str, Gathered]
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)
    _cuts: dict[int, Ranked] = field(default_factory=dict, repr=False)

    @property
    def depth(self) -> int:
        return int(self.rows.shape[-1])

    @property
    def mask(self) -> Bools:
        """True at ranks that hold a document."""
        return self.shared(" mask", lambda: self.rows >= 0)  # no evidence is called so

    @property
    def lengths(self) -> Int64s:
        """How many documents each list has, up to the cut-off: (Q,) or (Q, S)."""
        return self.shared(" lengths", lambda: self.mask.sum(axis=-1))

    def __contains__(self, name: str) -> bool:
        return name.partition(".")[0] in self.gathered

    def __getitem__(self, name: str) -> Array:
        def column() -> Array:
            found = _take(_column(self.gathered, name), self.rows)
            # 0 is the code of a document; the padding has none
            return np.where(self.mask, found, -1) if name == "documents" else found

        return self.shared(name, column)

    def shared(self, name: str, compute: Callable[[], Array]) -> Array:
        """An array that several measures need, which nobody may write to."""
        array = self.remembered(name, compute)
        array.flags.writeable = False
        return array

    def known(self, evidence: str) -> Bools:
        """True at ranks whose document has this evidence."""
        return self.shared(f"{evidence} known", lambda: _take(self.gathered[evidence].known, self.rows))

    def cut(self, depth: int | None) -> Ranked:
        """The first ``depth`` ranks: the same view for all who ask."""
        if depth is None or depth >= self.depth:
            return self
        if depth not in self._cuts:
            self._cuts[depth] = self._with_rows(self.rows[..., :depth])
        return self._cuts[depth]

    def _with_rows(self, rows: Int64s) -> Ranked:
        return replace(self, rows=rows, _cache={}, _cuts={})

    def select(self, queries: Int64s) -> Ranked:
        return self._with_rows(self.rows[queries])

    def compact(self, keep: Bools) -> Ranked:
        """Only the documents marked, moved up to close the gaps: a view with new ranks."""
        keep = keep & self.mask
        order = np.argsort(~keep, axis=-1, kind="stable")
        rows = np.where(keep, self.rows, -1)
        return self._with_rows(np.take_along_axis(rows, order, axis=-1))


@dataclass(frozen=True, eq=False)
class Reference(_Remembering):
    """Documents beyond the list, by query (ragged), or one set for all queries (``shared``)."""

    offsets: Int64s  # (Q + 1,), or (2,) when shared
    gathered: Mapping[str, Gathered]
    shared: bool = False
    queries: Int64s | None = None  # which segments, after a selection
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def starts(self) -> Int64s:
        starts = self.offsets[:-1]
        return starts if self.queries is None else starts[self.queries]

    @property
    def counts(self) -> Int64s:
        """How many documents each query has here: (Q,), or (1,) when shared."""
        counts = np.diff(self.offsets)
        return counts if self.queries is None else counts[self.queries]

    def select(self, queries: Int64s) -> Reference:
        if self.shared:
            return self
        chosen = queries if self.queries is None else self.queries[queries]
        return replace(self, queries=chosen, _cache={})

    def rows(self, depth: int | None = None) -> Int64s:
        """(Q, D): the document at a place of a query's set, -1 in the padding."""
        counts = self.counts
        width = int(counts.max(initial=0))
        places = np.arange(width if depth is None else min(width, depth))
        return np.where(places < counts[:, None], self.starts[:, None] + places, -1)

    def padded(self, name: str, depth: int | None = None) -> Array:
        """A column as (Q, D, ...): the first ``depth`` documents of each set, 0 in the padding."""
        return _take(_column(self.gathered, name), self.rows(depth))

    def mask(self, depth: int | None = None) -> Bools:
        return self.rows(depth) >= 0

    def known(self, evidence: str, depth: int | None = None) -> Bools:
        return _take(self.gathered[evidence].known, self.rows(depth))


@dataclass(frozen=True, eq=False)
class RankedEvidence:
    """All that a measure may look at, for the same queries in the same order.

    ``ranked``     the lists, [Q, K]
    ``reference``  documents beyond the list: ``judged``, ``judged_by_intent``, ``background``, ``pool``
    ``query``      what belongs to a query: arrays of Q rows
    ``against``    the lists of a second run, for measures of a pair
    ``rankings``   several lists a query, [Q, S, K], for measures of a RunSet
    ``labels``     names of groups, terms, axes: what result columns are called
    """

    count: int
    ranked: Ranked
    reference: Mapping[str, Reference] = field(default_factory=dict)
    query: Mapping[str, Array] = field(default_factory=dict)
    against: Ranked | None = None
    rankings: Ranked | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.count

    def cut(self, depth: int | None) -> RankedEvidence:
        """Lists cut to ``depth``; reference sets and query facts stay whole."""
        return replace(
            self,
            ranked=self.ranked.cut(depth),
            against=None if self.against is None else self.against.cut(depth),
            rankings=None if self.rankings is None else self.rankings.cut(depth),
        )

    def select(self, queries: Int64s | Sequence[int]) -> RankedEvidence:
        """Some of the queries, in the order given."""
        chosen = np.asarray(queries, dtype=np.int64)
        return replace(
            self,
            count=len(chosen),
            ranked=self.ranked.select(chosen),
            reference={name: reference.select(chosen) for name, reference in self.reference.items()},
            query={name: values[chosen] for name, values in self.query.items()},
            against=None if self.against is None else self.against.select(chosen),
            rankings=None if self.rankings is None else self.rankings.select(chosen),
        )

    def shuffled(self, keys: npt.NDArray[np.float64]) -> RankedEvidence:
        """The lists in the order of random keys, one a rank: (K,)."""
        order = np.argsort(np.where(self.ranked.mask, keys, np.inf), axis=-1, kind="stable")
        rows = np.take_along_axis(self.ranked.rows, order, axis=-1)
        return replace(self, ranked=replace(self.ranked, rows=rows, _cache={}, _cuts={}))

    def compact(self, keep: Bools) -> RankedEvidence:
        """Drop the ranked documents that are not marked; the list closes up."""
        return replace(self, ranked=self.ranked.compact(keep))


def dense_width(evidence: RankedEvidence, names: Sequence[str]) -> int:
    """How many numbers one rank of these columns takes once it is dense."""
    width = 1
    for name in names:
        gathered: Any = evidence.ranked.gathered.get(name)
        for column in () if gathered is None else gathered.columns.values():
            packed = isinstance(column, (Sparse, Labels))
            width = max(width, column.width if packed else int(np.prod(column.shape[1:])))
    return width
