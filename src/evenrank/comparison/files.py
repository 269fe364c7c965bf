"""A comparison in a file: a row for each pair, or a table for a paper."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from evenrank.comparison.comparison_tables import paper_table
from evenrank.io.atomic import atomic_write
from evenrank.scores.files import FilePath, file_format
from evenrank.scores.notes import note_lines
from evenrank.tables import Table, printed

if TYPE_CHECKING:
    from evenrank.comparison import Comparison

WRITTEN = ("jsonl", "csv", "tsv", "parquet", "latex", "markdown")


def write_comparison(comparison: Comparison, path: FilePath, format: str | None = None) -> None:
    """Write in the format that the name tells, unless ``format`` does; ``.gz`` and ``.zst`` compress."""
    table = paper_table(comparison)
    write_table(table.with_notes([*table.notes, *note_lines(comparison.scores)]), path, format)


def write_table(table: Table, path: FilePath, format: str | None = None) -> None:
    form = file_format(path, format, WRITTEN)
    content = _parquet(table) if form == "parquet" else printed([table], form).encode()
    with atomic_write(path) as file:
        file.write(content)


def _parquet(table: Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet

    records = table.to_records()
    columns = {name: [record[name] for record in records] for name in (records[0] if records else ())}
    buffer = io.BytesIO()
    written = pa.table({name: pa.array(cells, from_pandas=True) for name, cells in columns.items()})
    pa.parquet.write_table(written, buffer, compression="zstd")
    return buffer.getvalue()
