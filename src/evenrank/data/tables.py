"""Evidence that is a plain table: columns by document, by (query, document), or by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Array, lock, owned, rows_or_zero
from evenrank.data.evidence_source import Gathered, Pairs
from evenrank.data.lookup import PairRows, refuse_repeated, row_ids
from evenrank.data.qrels import fingerprint_columns
from evenrank.errors import DataError, InputTypeError
from evenrank.ids import as_ids, as_strings, places_among


@dataclass(frozen=True, eq=False, repr=False)
class DocumentTable(PairRows):
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
        doc_ids, codes, query_ids = row_ids(documents, queries, name)
        arrays = _columns(name, columns, len(doc_ids), "documents")
        refuse_repeated(codes, doc_ids, name, lambda _, document: f"document {document!r} is listed twice")
        return cls(name, doc_ids, arrays, query_ids, codes)

    @property
    def query_ids(self) -> tuple[str, ...] | None:  # type: ignore[override]
        return self.row_queries

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
        return self.gathered(pairs, self.columns)


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
        return {"known": rows >= 0} | {
            key: rows_or_zero(values, rows) for key, values in self.columns.items()
        }


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
