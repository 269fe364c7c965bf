"""Scores in files: written whole or not at all, and read back as what they were.

JSONL and Parquet hold everything: the values, the notes, and what the numbers came from. CSV and TSV
hold the values. LaTeX and Markdown hold the summary and are not read back.
"""

from __future__ import annotations

import io
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.io.atomic import atomic_write
from evenrank.io.source import as_source
from evenrank.scores import parsing, rows
from evenrank.scores.score_tables import print_scores
from evenrank.tables import DELIMITERS, json_line

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores

READ = ("jsonl", "csv", "tsv", "parquet")
TABLES = ("latex", "markdown")
WRITTEN = (*READ, *TABLES)

_FORMAT_OF_SUFFIX = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet",
    ".pq": "parquet", ".tex": "latex", ".latex": "latex", ".md": "markdown", ".markdown": "markdown",
}  # fmt: skip
_PACKED = (".gz", ".zst")

FilePath = str | PathLike[str]


def write_scores(scores: Scores, path: FilePath, format: str | None = None) -> None:
    """Write in the format that the name tells, unless ``format`` does; ``.gz`` and ``.zst`` compress."""
    format = file_format(path, format, WRITTEN)
    try:
        content = _parquet(scores) if format == "parquet" else _text(scores, format).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{fspath(path)}: a name is not text that UTF-8 can hold: {error}") from None
    with atomic_write(path) as file:
        file.write(content)


def read_scores(path: FilePath, format: str | None = None) -> Scores:
    """Read what ``write_scores`` wrote."""
    format = file_format(path, format, READ)
    source = as_source(path)
    if source is None:
        raise InputTypeError(f"a path is a str or a Path, got {type(path).__name__}")
    content = b"".join(source.blocks())
    if format == "parquet":
        header, found = parsing.read_parquet(source.name, content)
    elif format == "jsonl":
        header, found = parsing.read_jsonl(source.name, content)
    else:
        header, found = {}, parsing.read_delimited(source.name, content, DELIMITERS[format])
    return parsing.assembled(source.name, header, found)


def file_format(path: FilePath, format: str | None, known: tuple[str, ...]) -> str:
    if not isinstance(path, (str, PathLike)):
        raise InputTypeError(f"a path is a str or a Path, got {type(path).__name__}")
    suffixes = [ending for ending, meant in _FORMAT_OF_SUFFIX.items() if meant in known]
    if format is None:
        name = Path(path)
        name = name.with_suffix("") if name.suffix.lower() in _PACKED else name
        format = _FORMAT_OF_SUFFIX.get(name.suffix.lower())
        if format not in known:
            raise ParameterError(f"{fspath(path)}: the name must end in {', '.join(suffixes)}")
    if format not in known:
        raise ParameterError(f"format must be one of {', '.join(known)}, got {format!r}")
    return format


def _text(scores: Scores, format: str) -> str:
    header = json_line(_header(scores)) if format == "jsonl" else ""
    return header + print_scores(scores, format, per_query=format not in TABLES, notes=True)


def _header(scores: Scores) -> dict[str, Any]:
    """What is not in the values. The blocks tell a reader whether the file is whole."""
    return {
        "kind": parsing.KIND,
        "version": parsing.VERSION,
        "provenance": dict(scores.provenance),
        "notes": {run: list(said) for run, said in scores.notes.items()},
        **({"labels": dict(scores.labels)} if scores.labels else {}),
        "blocks": [
            {
                "run": block.run,
                "measure": repr(block.measure),
                "columns": list(block.columns),
                "queries": len(block.query_ids),
                **({} if block.weights is None else {"weights": block.weights.tolist()}),
            }
            for block in scores.blocks
        ],
    }


def _parquet(scores: Scores) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet

    columns = list(zip(*rows.values_of(scores), strict=True)) or [()] * len(rows.VALUE_FIELDS)
    arrays = {
        name: pa.array(column, pa.float64(), from_pandas=True)  # from_pandas makes NaN null
        if name == "value"
        else pa.array(column, pa.string())
        for name, column in zip(rows.VALUE_FIELDS, columns, strict=True)
    }
    table = pa.table(arrays).replace_schema_metadata({parsing.METADATA_KEY: json_line(_header(scores))})
    buffer = io.BytesIO()
    pa.parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()
