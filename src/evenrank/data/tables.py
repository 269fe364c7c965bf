"""Evidence that is a plain table: columns by document, or by (query, document)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Array, lock, owned
from evenrank.data.evidence_source import Gathered, Pairs
from evenrank.data.lookup import PairRows, refuse_repeated, row_ids
from evenrank.data.qrels import fingerprint_columns
from evenrank.errors import DataError, InputTypeError


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
    query_ids: tuple[str, ...] | None  # the distinct queries, for a table by (query, document)
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
        if not isinstance(columns, Mapping):
            raise InputTypeError(
                f"{name}: columns must be a mapping {{name: values}}, got {type(columns).__name__}"
            )
        arrays = {key: owned(np.asarray(values), values) for key, values in columns.items()}
        for key, values in arrays.items():
            if values.shape[:1] != (len(doc_ids),):
                raise DataError(
                    f"{name}: column {key!r} of shape {values.shape} does not fit {len(doc_ids)} documents"
                )
        refuse_repeated(codes, doc_ids, name, lambda _, document: f"document {document!r} is listed twice")
        return cls(name, doc_ids, arrays, query_ids, codes)

    @cached_property
    def fingerprint(self) -> str:
        # by names that no parameter has
        columns = {f"column {name}": values for name, values in self.columns.items()}
        return fingerprint_columns(self.query_ids or (), self.query_codes, self.doc_ids, **columns)

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __repr__(self) -> str:
        return f"<DocumentTable {self.name!r}: {len(self):,} rows>"

    def gather(self, pairs: Pairs) -> Gathered:
        return self.gathered(pairs, self.columns)
