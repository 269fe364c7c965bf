"""TSV and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from evenrank.io.document_formats.declared import declare_documents
from evenrank.io.document_lines import csv_tables, tsv_tables
from evenrank.io.source import Source


@declare_documents("tsv")
def read_tsv(source: Source, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    return tsv_tables(source, columns)


@declare_documents("csv")
def read_csv(source: Source, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    return csv_tables(source, columns)
