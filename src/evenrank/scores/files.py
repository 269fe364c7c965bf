"""Scores in files: written whole or not at all, and read back as what they were.

JSONL and Parquet hold everything: the values, the notes, and what the numbers came from. CSV and TSV
hold the values. LaTeX and Markdown hold the summary and are not read back.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError, InputTypeError, ParameterError, Problem
from evenrank.io.atomic import atomic_write
from evenrank.io.source import SUFFIXES, Source, as_source, guess_format
from evenrank.io.table_files import decoded, delimited_rows, json_rows
from evenrank.measures import parse_measure
from evenrank.scores.notes import ScoresNote
from evenrank.scores.score_tables import print_scores
from evenrank.scores.scores import INFINITE, OK, VALUE_FIELDS, Scores, ScoresBlock
from evenrank.tables import DELIMITERS, json_line, of_cell

KIND = "evenrank scores"
VERSION = 1
METADATA_KEY = b"evenrank.scores"

READ = ("jsonl", "csv", "tsv", "parquet")
TABLES = ("latex", "markdown")
WRITTEN = (*READ, *TABLES)

_OTHER_SUFFIXES = {".tex": "latex", ".latex": "latex", ".md": "markdown", ".markdown": "markdown"}
_NO_HEADER: Mapping[str, Any] = {
    "kind": KIND, "version": VERSION, "provenance": {}, "notes": {}, "blocks": []
}  # fmt: skip

FilePath = str | PathLike[str]
_Rows = tuple[Mapping[str, Any], Sequence[int], Sequence[tuple[Any, ...]]]  # header, line and cells of each


class _Cell(NamedTuple):
    line: int
    value: float
    status: str


def file_format(path: FilePath, format: str | None, known: tuple[str, ...]) -> str:
    if not isinstance(path, (str, PathLike)):
        raise InputTypeError(f"a path is a str or a Path, got {type(path).__name__}")
    if format is None:
        format = guess_format(path, _OTHER_SUFFIXES)
        if format not in known:
            others = [suffix for suffix, form in _OTHER_SUFFIXES.items() if form in known]
            named = [*(suffix for form in known for suffix in SUFFIXES.get(form, ())), *others]
            raise ParameterError(f"{fspath(path)}: the name must end in {', '.join(named)}")
    if format not in known:
        raise ParameterError(f"format must be one of {', '.join(known)}, got {format!r}")
    return format


def write_scores(scores: Scores, path: FilePath, format: str | None = None) -> None:
    """Write in the format that the name tells, unless ``format`` does; ``.gz`` and ``.zst`` compress."""
    format = file_format(path, format, WRITTEN)
    try:
        if format == "parquet":
            content = _parquet(scores)
        else:
            text = print_scores(scores, format, per_query=format not in TABLES, notes=True)
            content = ((json_line(_header(scores)) if format == "jsonl" else "") + text).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{fspath(path)}: a name is not text that UTF-8 can hold: {error}") from None
    with atomic_write(path) as file:
        file.write(content)


def _header(scores: Scores) -> dict[str, Any]:
    """What is not in the values. The blocks tell a reader whether the file is whole."""
    noted = [note for notes in scores.notes_by_run.values() for note in notes]
    asides = list(dict.fromkeys(str(note) for note in noted if not note.changes_reading))
    return {
        "kind": KIND,
        "version": VERSION,
        "provenance": dict(scores.provenance),
        "notes": {run: list(said) for run, said in scores.notes.items()},
        **({"asides": asides} if asides else {}),
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
    table = scores.per_query()
    value = table.column_names.index("value")
    numbers = pa.array(table.column(value).to_numpy(), pa.float64(), from_pandas=True)  # NaN becomes null
    table = table.set_column(value, "value", numbers)
    buffer = io.BytesIO()
    header = {METADATA_KEY: json_line(_header(scores))}
    pa.parquet.write_table(table.replace_schema_metadata(header), buffer, compression="zstd")
    return buffer.getvalue()


def read_scores(path: FilePath, format: str | None = None) -> Scores:
    """Read what ``write_scores`` wrote; what is not so is named with its line."""
    format = file_format(path, format, READ)
    source = as_source(path)
    if source is None:
        raise InputTypeError(f"a path is a str or a Path, got {type(path).__name__}")
    header, lines, rows = _parquet_rows(source) if format == "parquet" else _text_rows(source, format)
    if header.get("kind") != KIND:
        _fail(source.name, 1, f'this is not a file of scores: its first object must have "kind": {KIND!r}')
    if header.get("version") not in range(1, VERSION + 1):
        version = header.get("version")
        _fail(source.name, 1, f"version {version!r:.80} is not read here; this evenrank reads 1 to {VERSION}")
    try:
        blocks = _blocks(source.name, header, lines, rows)
        return _with_header(blocks, header)
    except (KeyError, TypeError, AttributeError, ParameterError) as error:
        _fail(source.name, 1, f"the first object is not of the form that is written: {error}")


def _fail(name: str, line: int, what: str) -> NoReturn:
    raise DataError.listing(name, [Problem(line, what)])


def _text_rows(source: Source, format: str) -> _Rows:
    content = source.content()
    if content.buffer.size == 0:
        raise DataError(f"{source.name}: is empty")
    text = decoded(content, source.name)
    found = json_rows(text) if format == "jsonl" else delimited_rows(text, DELIMITERS[format], quotes=True)
    if format != "jsonl" and found.header != list(VALUE_FIELDS):
        _fail(source.name, 1, f"the columns must be {', '.join(VALUE_FIELDS)}, got {found.header!r:.120}")
    if found.broken:
        raise DataError.listing(source.name, found.broken)
    if not found.cells:  # a file that was cut off after its first line looks like this, too
        raise DataError(f"{source.name}: holds no scores, only the names of the columns")
    if format == "jsonl":
        header, *rows = found.cells
        return header, found.lines[1:], [tuple(map(row.get, VALUE_FIELDS)) for row in rows]
    return _NO_HEADER, found.lines, [tuple(map(of_cell, row)) for row in found.cells]


def _parquet_rows(source: Source) -> _Rows:
    try:
        table = pa.parquet.read_table(pa.BufferReader(source.content().buffer))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source.name}: is not a Parquet file: {str(error).partition(chr(10))[0]}") from None
    metadata = (table.schema.metadata or {}).get(METADATA_KEY)
    if metadata is None or table.column_names != list(VALUE_FIELDS):
        raise DataError(f"{source.name}: this Parquet file does not hold scores written by evenrank")
    columns = [column.to_pylist() for column in table.columns]
    return json.loads(metadata), range(1, table.num_rows + 1), list(zip(*columns, strict=True))


def _blocks(
    name: str, header: Mapping[str, Any], lines: Sequence[int], rows: Sequence[tuple[Any, ...]]
) -> tuple[ScoresBlock, ...]:
    """The values by run and measure, in the order in which they come."""
    declared = {(block["run"], block["measure"]): block for block in header["blocks"]}
    found: dict[tuple[str, str], dict[tuple[str, str], _Cell]] = {key: {} for key in declared}
    for line, row in zip(lines, rows, strict=True):
        run, query, measure, column, _, status = row
        for field, cell in zip(VALUE_FIELDS, row, strict=True):
            if field != "value" and not isinstance(cell, str):
                _fail(name, line, f"{field!r} must be a string, got {cell!r:.80}")
        value = _number(name, line, row[4])
        if not {OK: math.isfinite, INFINITE: math.isinf}.get(status, math.isnan)(value):
            _fail(name, line, f"value {value!r} and status {status!r:.80} do not agree")
        own = found.setdefault((run, measure), {})
        first = own.setdefault((query, column), _Cell(line, value, status))
        if first.line != line:
            _fail(name, line, f"{measure} of query {query!r} was in line {first.line} already")
    blocks = []
    for (run, text), cells in found.items():
        try:
            measure = parse_measure(text)
        except ParameterError as error:
            line = next((cell.line for cell in cells.values()), 1)
            _fail(name, line, f"measure {text!r:.80} is not known here, register it before reading: {error}")
        queries = tuple(dict.fromkeys(query for query, _ in cells))
        block = declared.get((run, text), {})
        columns = tuple(block.get("columns") or dict.fromkeys(column for _, column in cells))
        if len(cells) != len(queries) * len(columns) or len(queries) != block.get("queries", len(queries)):
            raise DataError(
                f"{name}: {measure!r} of run {run!r} has {len(cells):,} values for {len(queries):,} of "
                f"{block.get('queries', len(queries)):,} queries: the file is not whole"
            )
        ordered = [cells[query, column] for query in queries for column in columns]
        reasons = tuple(dict.fromkeys([OK, INFINITE, *(cell.status for cell in ordered)]))
        codes = {reason: code for code, reason in enumerate(reasons)}
        shape = len(queries), len(columns)
        values = np.array([cell.value for cell in ordered], np.float64).reshape(shape)
        status = np.array([codes[cell.status] for cell in ordered], np.int16).reshape(shape)
        weights = None if "weights" not in block else np.array(block["weights"], np.float64)
        blocks.append(ScoresBlock(run, measure, queries, columns, values, status, reasons, weights=weights))
    return tuple(blocks)


def _number(name: str, line: int, cell: Any) -> float:
    """The words for infinity are those of JSON and of Python; an empty cell is no value."""
    if cell in ("", None):
        return math.nan
    try:
        if not isinstance(cell, bool):
            return float(cell)
    except (TypeError, ValueError, OverflowError):
        pass
    _fail(name, line, f"the value must be a number, got {cell!r:.80}")


def _with_header(blocks: tuple[ScoresBlock, ...], header: Mapping[str, Any]) -> Scores:
    """With what is not in the values: what they came from, what is to be said of them, and labels."""
    provenance, asides = dict(header["provenance"]), set(header.get("asides", ()))
    notes = {
        run: tuple(ScoresNote("aside" if text in asides else "said", str(text)) for text in said)
        for run, said in header["notes"].items()
    }
    judged = any(part.judged_by for block in blocks for part in block.measure.parts())
    facts = provenance.get("runs", {}).items() if judged else ()
    informed = frozenset(run for run, own in facts if own.get("reads_judgements"))
    scores = Scores(blocks, notes, lambda: provenance, informed=informed)
    return scores.with_labels(header.get("labels", {}))
