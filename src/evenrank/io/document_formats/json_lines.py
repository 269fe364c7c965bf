"""One object a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from evenrank.io.document_formats.declared import declare_documents
from evenrank.io.document_lines import json_tables
from evenrank.io.source import Source


@declare_documents("jsonl")
def read_json_lines(source: Source, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    return json_tables(source, columns)
