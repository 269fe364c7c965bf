"""What a source of evidence answers when it is asked about (query, document) pairs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Array, Int64s, in_order, ragged
from evenrank.ids import StringRows


@dataclass(frozen=True)
class Sparse:
    """Rows of few non-zeros over ``width`` places: row ``r`` holds ``places[offsets[r]:offsets[r+1]]``.

    It becomes dense only for the rows that a kernel asks for.
    """

    offsets: Int64s  # (R + 1,)
    places: Int64s  # (M,)
    values: npt.NDArray[np.float64]  # (M,)
    width: int

    @classmethod
    def of_dense(cls, table: npt.NDArray[np.float64]) -> Sparse:
        """What is not 0 of a table (R, width)."""
        rows, places = np.nonzero(table)
        offsets = np.searchsorted(rows, np.arange(len(table) + 1)).astype(np.int64)
        return cls(offsets, places.astype(np.int64), table[rows, places], table.shape[1])

    @classmethod
    def of_labels(cls, places: Int64s, width: int) -> Sparse:
        """One place with all of a row; a row of -1 is empty."""
        there = places >= 0
        offsets = np.concatenate([[0], np.cumsum(there)]).astype(np.int64)
        return cls(offsets, places[there], np.ones(int(offsets[-1])), width)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def rows(self, rows: Int64s) -> Sparse:
        """The given rows as a new column; -1 is an empty row."""
        there = rows >= 0
        if not there.any():
            return Sparse(np.zeros(len(rows) + 1, np.int64), self.places[:0], self.values[:0], self.width)
        lengths = np.where(there, self.offsets[rows + 1] - self.offsets[rows], 0)
        entries = ragged(self.offsets[rows], lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Sparse(offsets, self.places[entries], self.values[entries], self.width)

    def times(self, matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The rows times a matrix of ``width`` rows: (R, columns)."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        products = [
            np.bincount(owners, self.values * matrix[self.places, column], minlength=len(self))
            for column in range(matrix.shape[1])
        ]
        return np.stack(products, axis=1) if products else np.zeros((len(self), 0))

    def moved(self, places: Int64s, width: int) -> Sparse:
        """The same with place p at ``places[p]`` of ``width``; -1 leaves it out."""
        targets = places[self.places] if len(self.places) else self.places
        there = targets >= 0
        ends = np.concatenate([[0], np.cumsum(there)])[self.offsets]
        return Sparse(ends.astype(np.int64), targets[there], self.values[there], width)

    def dense(self, rows: Int64s) -> npt.NDArray[np.float64]:
        """``rows.shape + (width,)``; a row of -1 is all zero."""
        flat = rows.ravel()
        out = np.zeros((len(flat), self.width))
        there = np.flatnonzero(flat >= 0)
        starts = self.offsets[flat[there]]
        lengths = self.offsets[flat[there] + 1] - starts
        entries = ragged(starts, lengths)
        out[np.repeat(there, lengths), self.places[entries]] = self.values[entries]
        return out.reshape(*rows.shape, self.width)


@dataclass(frozen=True)
class Labels:
    """Rows with all of one place out of ``width``, kept as the place; -1 is a row that has none."""

    places: npt.NDArray[np.int16]  # (R,)
    width: int

    def __len__(self) -> int:
        return len(self.places)

    def at(self, rows: Int64s) -> npt.NDArray[np.int16]:
        """The place of each row, -1 also where the row is -1."""
        if in_order(rows, len(self)):
            return self.places.reshape(rows.shape)
        return np.where(rows >= 0, self.places[rows], np.int16(-1)) if len(self) else rows.astype(np.int16)

    def dense(self, rows: Int64s) -> npt.NDArray[np.float64]:
        """``rows.shape + (width,)``; a row of -1 is all zero."""
        return np.eye(self.width + 1, self.width)[self.at(rows)]  # the last row, all zero, is that of -1


Column = Array | Sparse | Labels


@dataclass(frozen=True)
class Pairs:
    """(query, document) pairs to ask about: ``doc_ids[p]`` for query ``query_ids[query_codes[p]]``."""

    query_ids: Sequence[str]  # (Q,)
    query_codes: Int64s  # (P,)
    doc_ids: StringRows  # (P,)

    @classmethod
    def of_documents(cls, doc_ids: pa.LargeStringArray, query: str = "") -> Pairs:
        """All with one query, which does not matter for what is known by document."""
        return cls((query,), np.zeros(len(doc_ids), np.int64), StringRows(doc_ids))

    def __len__(self) -> int:
        return len(self.query_codes)


@dataclass(frozen=True)
class Gathered:
    """Evidence for pairs: columns of ``P`` rows (the name "" is the evidence itself), and what is known."""

    columns: Mapping[str, Column]
    known: npt.NDArray[np.bool_]  # (P,)

    @classmethod
    def complete(cls, column: Column) -> Gathered:
        """One column, known everywhere."""
        return cls({"": column}, np.ones(len(column), dtype=bool))


@dataclass(frozen=True)
class DocumentSets:
    """A set of documents for every query, or one set for all of them (``shared``)."""

    doc_ids: StringRows  # (M,)
    offsets: Int64s  # (Q + 1,), or (2,) when shared
    shared: bool = False
    gathered: Mapping[str, Gathered] = field(default_factory=dict)  # evidence that is at hand already

    def pairs(self, query_ids: Sequence[str]) -> Pairs:
        """The documents as pairs with their queries; of a shared set all are with the first."""
        codes = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return Pairs(query_ids, codes, self.doc_ids)


class Evidence(Protocol):
    """Anything that knows something about documents. It never sees a rank.

    Whether an object is one is for ``is_evidence`` to say, not for ``isinstance``.
    """

    @property
    def name(self) -> str: ...

    def gather(self, pairs: Pairs) -> Gathered: ...

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        """What belongs to a query: arrays of Q rows, by column name."""
        ...

    @property
    def fingerprint(self) -> str: ...


def is_evidence(given: object) -> TypeGuard[Evidence]:
    """Whether an object has what ``Evidence`` has, without reading any of it.

    ``isinstance`` with a protocol reads every property before Python 3.12, and a fingerprint hashes all data.
    """
    members = ("name", "gather", "gather_queries", "fingerprint")
    return all(inspect.getattr_static(given, member, None) is not None for member in members)
