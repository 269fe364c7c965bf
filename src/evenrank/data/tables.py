"""Evidence that is a plain table: columns by document, by (query, document), or by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Array, lock, owned
from evenrank.data.evidence_source import Gathered, Pairs
from evenrank.data.lookup import PairIndex, repeated_pairs
from evenrank.data.qrels import fingerprint_columns
from evenrank.errors import DataError, InputTypeError, Problem
from evenrank.ids import as_ids, as_strings, encode_first_seen, places_among


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTable:
    """One row a document, or one a (query, document): any columns whose first axis is the row.

    >>> table = DocumentTable.build("length", ["a", "b"], {"": [3, 5]})
    >>> table
    <DocumentTable 'length': 2 rows>
    """

    name: str
    doc_ids: pa.LargeStringArray  # (R,)
    columns: Mapping[str, Array]  # (R, ...)
    row_queries: tuple[str, ...] | None  # the distinct queries, for a table by (query, document)
    query_codes: Array  # (R,), all 0 for a table by document

    def __post_init__(self) -> None:
        lock(self.query_codes, *self.columns.values())

    @classmethod
    def build(
        cls,
        name: str,
        documents: Any,
        columns: Mapping[str, Any],
        *,
        queries: Any = None,
    ) -> DocumentTable:
        """``queries`` has the query of each row, for a table by (query, document)."""
        doc_ids = as_ids(documents, "document", name)
        arrays = _columns(name, columns, len(doc_ids), "documents")
        codes, query_ids = np.zeros(len(doc_ids), np.int32), None
        if queries is not None:
            codes, query_ids = encode_first_seen(as_ids(queries, "query", name))
            if len(codes) != len(doc_ids):
                raise DataError(f"{name}: {len(codes)} queries, there are {len(doc_ids)} documents")
        twice = repeated_pairs(codes, doc_ids)
        if twice:
            raise DataError.listing(
                name,
                [Problem(row + 1, f"document {doc_ids[row].as_py()!r} is listed twice") for _, row in twice],
            )
        return cls(name, doc_ids, arrays, query_ids, codes)

    @cached_property
    def _index(self) -> PairIndex:
        return PairIndex(self.query_codes, self.doc_ids)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_columns(
            self.row_queries or (), self.query_codes, self.doc_ids, **_prefixed(self.columns)
        )

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __repr__(self) -> str:
        return f"<DocumentTable {self.name!r}: {len(self):,} rows>"

    def gather(self, pairs: Pairs) -> Gathered:
        codes = None
        if self.row_queries is not None:
            codes = places_among(pairs.query_ids, self.row_queries)[pairs.query_codes]
        rows = self._index.locate(codes, pairs.doc_ids, pairs.doc_hashes)
        known = rows >= 0
        columns = {}
        for key, values in self.columns.items():
            column = np.zeros((len(pairs), *values.shape[1:]), dtype=values.dtype)
            column[known] = values[rows[known]]
            columns[key] = column
        return Gathered(columns, known)

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        return {}


@dataclass(frozen=True, eq=False, repr=False)
class QueryTable:
    """One row a query: a target, a category, a weight. ``known`` says which queries have one."""

    name: str
    query_ids: tuple[str, ...]
    columns: Mapping[str, Array]  # (R, ...)

    def __post_init__(self) -> None:
        lock(*self.columns.values())

    @classmethod
    def build(cls, name: str, queries: Any, columns: Mapping[str, Any]) -> QueryTable:
        query_ids: tuple[str, ...] = tuple(as_ids(queries, "query", name).to_pylist())
        arrays = _columns(name, columns, len(query_ids), "queries")
        if len(set(query_ids)) != len(query_ids):
            raise DataError(f"{name}: a query is listed twice")
        return cls(name, query_ids, arrays)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_columns(
            self.query_ids, np.zeros(0, np.int64), as_strings([]), **_prefixed(self.columns)
        )

    def __repr__(self) -> str:
        return f"<QueryTable {self.name!r}: {len(self.query_ids):,} queries>"

    def gather(self, pairs: Pairs) -> Gathered:
        return Gathered({}, np.zeros(len(pairs), dtype=bool))

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        rows = places_among(query_ids, self.query_ids)
        known = rows >= 0
        gathered: dict[str, Array] = {"known": known}
        for key, values in self.columns.items():
            column = np.zeros((len(rows), *values.shape[1:]), dtype=values.dtype)
            column[known] = values[rows[known]]
            gathered[key] = column
        return gathered


def _columns(name: str, columns: Mapping[str, Any], rows: int, of: str) -> dict[str, Array]:
    """The columns as arrays that are ours to lock, each with as many rows as there are ids."""
    if not isinstance(columns, Mapping):
        raise InputTypeError(
            f"{name}: columns must be a mapping {{name: values}}, got {type(columns).__name__}"
        )
    arrays = {key: owned(np.asarray(values), values) for key, values in columns.items()}
    for key, values in arrays.items():
        if values.ndim == 0 or len(values) != rows:
            size = "is a single value" if values.ndim == 0 else f"has {len(values)} rows"
            raise DataError(f"{name}: column {key!r} {size}, there are {rows} {of}")
    return arrays


def _prefixed(columns: Mapping[str, Array]) -> dict[str, Array]:
    """The columns by names that no parameter of ours has."""
    return {f"column {name}": values for name, values in columns.items()}
