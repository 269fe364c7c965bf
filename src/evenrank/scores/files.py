"""Scores in files: written whole or not at all, and read back as what they were.

JSONL and Parquet hold everything: the values, the notes, and what the numbers came from. CSV and TSV
hold the values. LaTeX and Markdown hold the summary and are not read back.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError, EvenrankError, InputTypeError, ParameterError, Problem
from evenrank.io.atomic import atomic_write
from evenrank.io.source import SUFFIXES, Source, as_source, guess_format
from evenrank.io.table_files import decoded, delimited_rows, json_rows
from evenrank.measures import Measure, parse_measure
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
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}

FilePath = str | PathLike[str]
Rows = Iterable[tuple[int, Mapping[str, Any]]]  # the line of each, and its cells by name


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
    if format == "parquet":
        header, rows = _parquet_rows(source)
    elif format == "jsonl":
        header, rows = _json_rows(source)
    else:
        header, rows = {}, _delimited_rows(source, DELIMITERS[format])
    return _assembled(source.name, header, rows)


def _fail(name: str, line: int, what: str) -> NoReturn:
    raise DataError.listing(name, [Problem(line, what)])


def _text(source: Source) -> str:
    content = source.content()
    if content.buffer.size == 0:
        raise DataError(f"{source.name}: is empty")
    return decoded(content, source.name)


def _json_rows(source: Source) -> tuple[dict[str, Any], Rows]:
    found = json_rows(_text(source))
    if found.broken:
        raise DataError.listing(source.name, found.broken)
    header, *rows = found.cells or [{}]
    _check_header(source.name, header)
    for row in rows:
        value = row.get("value")
        if isinstance(value, str):
            row["value"] = _INFINITIES.get(value, value)
    return header, zip(found.lines[1:], rows, strict=True)


def _delimited_rows(source: Source, delimiter: str) -> Rows:
    found = delimited_rows(_text(source), delimiter, quotes=True)
    if found.header != list(VALUE_FIELDS):
        _fail(source.name, 1, f"the columns must be {', '.join(VALUE_FIELDS)}, got {found.header!r:.120}")
    if found.broken:
        raise DataError.listing(source.name, found.broken)
    if not found.cells:  # a file that was cut off after its first line looks like this, too
        raise DataError(f"{source.name}: holds no scores, only the names of the columns")
    for line, cells in zip(found.lines, found.cells, strict=True):
        row: dict[str, Any] = dict(zip(VALUE_FIELDS, map(of_cell, cells), strict=True))
        try:
            row["value"] = float(row["value"]) if row["value"] else None
        except ValueError:
            _fail(source.name, line, f"the value must be a number, got {row['value']!r:.80}")
        yield line, row


def _parquet_rows(source: Source) -> tuple[dict[str, Any], Rows]:
    try:
        table = pa.parquet.read_table(pa.BufferReader(source.content().buffer))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source.name}: is not a Parquet file: {str(error).partition(chr(10))[0]}") from None
    metadata = (table.schema.metadata or {}).get(METADATA_KEY)
    if metadata is None or table.column_names != list(VALUE_FIELDS):
        raise DataError(f"{source.name}: this Parquet file does not hold scores written by evenrank")
    header = json.loads(metadata)
    _check_header(source.name, header)
    return header, enumerate(table.to_pylist(), 1)


def _check_header(name: str, header: dict[str, Any]) -> None:
    if header.get("kind") != KIND:
        _fail(name, 1, f'this is not a file of scores: its first object must have "kind": {KIND!r}')
    version = header.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        _fail(name, 1, f"version {version!r:.80} is not read here; this evenrank reads 1 to {VERSION}")
    notes, blocks = header.get("notes", {}), header.get("blocks", [])
    whole = (
        isinstance(header.get("provenance", {}), dict)
        and isinstance(notes, dict)
        and all(isinstance(said, list) for said in notes.values())
        and isinstance(blocks, list)
        and all(isinstance(b, dict) and {"run", "measure", "columns", "queries"} <= b.keys() for b in blocks)
    )
    if not whole:
        _fail(name, 1, "the provenance, the notes or the blocks are not of the form that is written")


@dataclass
class _Block:
    """The values of one measure on one run, as they come: in which line, the number, and its status."""

    measure: Measure
    columns: dict[str, int] = field(default_factory=dict)
    queries: dict[str, int] = field(default_factory=dict)
    cells: dict[tuple[int, int], tuple[int, float, str]] = field(default_factory=dict)

    def as_scores(self, name: str, run: str, declared: Mapping[str, Any] | None) -> ScoresBlock:
        shape = len(self.queries), len(self.columns)
        if len(self.cells) != shape[0] * shape[1]:
            raise DataError(
                f"{name}: {self.measure!r} of run {run!r} has values for {len(self.cells)} of "
                f"{shape[0] * shape[1]} queries and columns: the file is not whole"
            )
        if declared is not None and declared["queries"] != shape[0]:
            raise DataError(
                f"{name}: {self.measure!r} of run {run!r} has {shape[0]} of {declared['queries']} queries: "
                "the file is not whole"
            )
        values, status = np.full(shape, math.nan), np.zeros(shape, dtype=np.int16)
        reasons = {OK: 0, INFINITE: 1}
        for place, (_, value, said) in self.cells.items():
            values[place], status[place] = value, reasons.setdefault(said, len(reasons))
        weights = (declared or {}).get("weights")
        return ScoresBlock(
            run, self.measure, tuple(self.queries), tuple(self.columns), values, status, tuple(reasons),
            weights=None if weights is None else np.array(weights, np.float64),
        )  # fmt: skip


def _assembled(name: str, header: Mapping[str, Any], rows: Rows) -> Scores:
    measures: dict[str, Measure] = {}
    blocks: dict[tuple[str, str], _Block] = {}

    def block_of(run: str, text: str, line: int) -> _Block:
        if text not in measures:
            try:
                measures[text] = parse_measure(text)
            except ParameterError as error:
                what = f"measure {text!r:.80} is not known here, register it before reading: {error}"
                _fail(name, line, what)
        return blocks.setdefault((run, text), _Block(measures[text]))

    declared = {(str(block["run"]), str(block["measure"])): block for block in header.get("blocks", [])}
    for (run, text), block in declared.items():  # a measure may have no query at all
        block_of(run, text, 1).columns |= {str(column): n for n, column in enumerate(block["columns"])}
    for line, (run, query, text, column, value, status) in _checked(name, rows):
        found = block_of(run, text, line)
        row = found.queries.setdefault(query, len(found.queries))
        place = row, found.columns.setdefault(column, len(found.columns))
        first, *_ = found.cells.setdefault(place, (line, value, status))
        if first != line:
            _fail(name, line, f"{text} of query {query!r} was in line {first} already")
    whole = tuple(block.as_scores(name, key[0], declared.get(key)) for key, block in blocks.items())
    provenance = dict(header.get("provenance", {}))
    asides = set(header.get("asides", ()))
    notes = {
        run: tuple(ScoresNote("aside" if text in asides else "said", str(text)) for text in said)
        for run, said in header.get("notes", {}).items()
    }
    judged = any(part.judged_by for block in whole for part in block.measure.parts())
    runs = provenance.get("runs")
    informed = frozenset(
        run
        for run, facts in (runs.items() if isinstance(runs, dict) and judged else ())
        if isinstance(facts, dict) and facts.get("reads_judgements") is True
    )
    scores = Scores(whole, notes, lambda: provenance, informed=informed)
    try:
        return scores.with_labels(header.get("labels", {}))
    except EvenrankError as error:
        raise DataError(f"{name}:1: {error}") from None


def _checked(name: str, rows: Rows) -> Iterator[tuple[int, tuple[str, str, str, str, float, str]]]:
    """The cells of each row, where the number and the status must agree."""
    for line, cells in rows:
        for key in VALUE_FIELDS:
            if key not in cells:
                _fail(name, line, f"there is no {key!r}")
            if key != "value" and not isinstance(cells[key], str):
                _fail(name, line, f"{key!r} must be a string, got {cells[key]!r:.80}")
        value, status = cells["value"], cells["status"]
        value = math.nan if value is None else value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            _fail(name, line, f"the value must be a number, got {value!r:.80}")
        try:
            value = float(value)
        except OverflowError:
            _fail(name, line, "the value is too large for a number of 64 bits")
        if not {OK: math.isfinite, INFINITE: math.isinf}.get(status, math.isnan)(value):
            _fail(name, line, f"value {value!r} and status {status!r:.80} do not agree")
        yield line, (cells["run"], cells["query"], cells["measure"], cells["column"], value, status)
