"""A comparison in a file: a row for each pair, or a table for a paper."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from evenrank.comparison import render
from evenrank.io.atomic import atomic_write
from evenrank.scores.files import FilePath, file_format

if TYPE_CHECKING:
    from evenrank.comparison import Comparison

WRITTEN = ("jsonl", "csv", "tsv", "parquet", "latex", "markdown")

TEXTS = {
    "jsonl": render.as_jsonl,
    "csv": render.as_csv,
    "tsv": render.as_tsv,
    "latex": render.as_latex,
    "markdown": render.as_markdown,
}


def write_comparison(comparison: Comparison, path: FilePath, format: str | None = None) -> None:
    """Write in the format that the name tells, unless ``format`` does; ``.gz`` and ``.zst`` compress."""
    format = file_format(path, format, WRITTEN)
    content = _parquet(comparison) if format == "parquet" else TEXTS[format](comparison).encode()
    with atomic_write(path) as file:
        file.write(content)


def _parquet(comparison: Comparison) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet

    rows = [render.cells_of(pair) for pair in comparison.pairs]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(render.FIELDS)}
    table = pa.table({name: pa.array(cells, from_pandas=True) for name, cells in columns.items()})
    buffer = io.BytesIO()
    pa.parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()
