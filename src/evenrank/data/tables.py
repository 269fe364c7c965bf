"""Evidence that is a plain table: columns by document, by (query, document), or by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.data.gathered import Array, Gathered, Pairs
from evenrank.data.lookup import PairIndex
from evenrank.data.qrels import fingerprint_columns, repeated_pairs
from evenrank.data.strings import as_strings, encode_first_seen, positions
from evenrank.errors import DataError, Problem


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

    @classmethod
    def build(
        cls,
        name: str,
        documents: Any,
        columns: Mapping[str, Any],
        *,
        queries: Sequence[str] | None = None,
    ) -> DocumentTable:
        doc_ids = as_strings(documents)
        arrays = {key: np.asarray(values) for key, values in columns.items()}
        for key, values in arrays.items():
            if len(values) != len(doc_ids):
                raise DataError(
                    f"{name}: column {key!r} has {len(values)} rows, there are {len(doc_ids)} documents"
                )
        codes, query_ids = (
            (np.zeros(len(doc_ids), np.int32), None) if queries is None else encode_first_seen(queries)
        )
        twice = repeated_pairs(codes, doc_ids)
        if len(twice):
            raise DataError.listing(
                name,
                [
                    Problem(int(row) + 1, f"document {doc_ids[row].as_py()!r} is listed twice")
                    for row in twice[:21].tolist()
                ],
            )
        return cls(name, doc_ids, arrays, query_ids, codes)

    @cached_property
    def _index(self) -> PairIndex:
        return PairIndex(self.query_codes, self.doc_ids)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_columns(
            self.row_queries or (), self.query_codes.astype(np.int64), self.doc_ids, *self.columns.values()
        )

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __repr__(self) -> str:
        return f"<DocumentTable {self.name!r}: {len(self):,} rows>"

    def gather(self, pairs: Pairs) -> Gathered:
        if self.row_queries is None:
            codes = np.zeros(len(pairs), dtype=np.int64)
        else:
            spots = positions(self.row_queries)
            codes = np.array([spots.get(query, -1) for query in pairs.query_ids], dtype=np.int64)[
                pairs.query_codes
            ]
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

    @classmethod
    def build(cls, name: str, queries: Sequence[str], columns: Mapping[str, Any]) -> QueryTable:
        arrays = {key: np.asarray(values) for key, values in columns.items()}
        if len(set(queries)) != len(queries):
            raise DataError(f"{name}: a query is listed twice")
        for key, values in arrays.items():
            if len(values) != len(queries):
                raise DataError(
                    f"{name}: column {key!r} has {len(values)} rows, there are {len(queries)} queries"
                )
        return cls(name, tuple(queries), arrays)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_columns(
            self.query_ids, np.zeros(0, np.int64), as_strings([]), *self.columns.values()
        )

    def __repr__(self) -> str:
        return f"<QueryTable {self.name!r}: {len(self.query_ids):,} queries>"

    def gather(self, pairs: Pairs) -> Gathered:
        return Gathered({}, np.zeros(len(pairs), dtype=bool))

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        spots = positions(self.query_ids)
        rows = np.array([spots.get(query, -1) for query in query_ids], dtype=np.int64)
        known = rows >= 0
        gathered: dict[str, Array] = {"known": known}
        for key, values in self.columns.items():
            column = np.zeros((len(rows), *values.shape[1:]), dtype=values.dtype)
            column[known] = values[rows[known]]
            gathered[key] = column
        return gathered
