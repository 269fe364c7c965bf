"""Tables of documents: the columns ``id`` and ``text``, every cell checked."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from evenrank.io.cells import id_cells, text_cells
from evenrank.io.column_names import resolve_documents
from evenrank.io.row_problems import RowProblems
from evenrank.io.table_files import NamedTable

SCHEMA = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])


def frame_table(
    frame: NamedTable, columns: Mapping[str, str] | None, name: str, *, first_row: int = 0
) -> pa.Table:
    """The documents of a table with named columns."""
    chosen = resolve_documents(frame.names, columns, name)
    report = RowProblems(name, place=lambda row: f"row {first_row + row + 1}")
    ids = id_cells(frame.column(chosen["id"]), "id", report)
    titles = text_cells(frame.column(chosen["title"]), "title", report) if "title" in chosen else None
    texts = text_cells(frame.column(chosen["text"]), "text", report, titles=titles)
    report.check()
    return pa.table([ids, texts], schema=SCHEMA)
