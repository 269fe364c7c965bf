"""Files with named columns: CSV and TSV with a header line, JSON lines, Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError, Problem
from evenrank.io.frames import Frame, frame_columns
from evenrank.io.layout import Columns, Layout
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Content, Source
from evenrank.io.values import BadValue, quoted

_SHELL = " (in the shell: --columns ROLE=NAME)"
_NO_HEADER = "; if the file has no header line and TREC's fields, pass format='trec' (FILE:format=trec)"


class TableFile(NamedTuple):
    """The columns of a file, where its rows stand, and what its metadata says."""

    columns: Columns
    report: RowProblems
    metadata: dict[str, str]


class OpenTable(NamedTuple):
    """A file whose columns are read when they are asked for."""

    frame: Frame
    report: RowProblems
    metadata: dict[str, str]


def read(source: Source, layout: Layout, format: str, columns: Mapping[str, str] | None) -> TableFile:
    table = open_table(source, format, layout.nothing)
    advice = _SHELL
    if format in ("csv", "tsv"):
        advice += _NO_HEADER
    found = frame_columns(table.frame, layout, columns, source.name, report=table.report, advice=advice)
    return TableFile(found, table.report, table.metadata)


def open_table(source: Source, format: str, nothing: Callable[[str, str], DataError]) -> OpenTable:
    """The table in a file; ``nothing`` is the error for one that is empty, of its name and the reason."""
    if format == "parquet":
        return _open_parquet(source)
    content = source.content().without_bom(source.name)
    if content.buffer.size == 0:
        raise nothing(source.name, "the file is empty")
    text = _decoded(content, source.name)
    if format == "jsonl":
        frame, report = _json_frame(text, source.name)
    else:
        frame, report = _delimited_frame(text, source.name, format)
    if not report.lines:
        raise nothing(source.name, "no line but the header" if format != "jsonl" else "only blank lines")
    return OpenTable(frame, report, {})


def _open_parquet(source: Source) -> OpenTable:
    def unsound(error: Exception) -> DataError:
        return DataError(f"{source.name}: is not a sound Parquet file: {error}")

    def column(name: str) -> Any:
        try:
            return file.read(columns=[name]).column(0)
        except (pa.ArrowException, OSError) as error:
            raise unsound(error) from error

    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(source.content().buffer))
    except (pa.ArrowException, OSError) as error:
        raise unsound(error) from error
    metadata = {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in (file.schema_arrow.metadata or {}).items()
        if key.startswith(b"evenrank")
    }
    return OpenTable(Frame(file.schema_arrow.names, column), RowProblems(source.name), metadata)


def _decoded(content: Content, name: str) -> str:
    data: bytes = content.buffer.to_pybytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        at = content.skipped + error.start
        raise DataError.listing(name, [Problem(line, f"invalid UTF-8 at byte {at} of the file")]) from error


def _delimited_frame(text: str, name: str, format: str) -> tuple[Frame, RowProblems]:
    """CSV has quotes that may span lines; a quote in TSV is a character like any other."""
    dialect: dict[str, Any] = {"delimiter": ",", "strict": True}
    if format == "tsv":
        dialect = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    reader = csv.reader(io.StringIO(text, newline=""), **dialect)
    header: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    try:
        start = 1  # a row that spans lines is called by its first
        for row in reader:
            line, start = start, reader.line_num + 1
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if not header:
                header = [cell.strip() for cell in row]
            elif len(row) != len(header):
                problems.append(Problem(line, f"{len(row)} columns, the header has {len(header)}"))
            else:
                rows.append(row)
                lines.append(line)
    except csv.Error as error:
        problems.append(Problem(reader.line_num, f"not {format.upper()}: {error}"))
    if problems:
        raise DataError.listing(name, problems)
    report = RowProblems(name, lines=lines)
    return Frame(header, lambda column: [row[header.index(column)] for row in rows], text=True), report


def _json_frame(text: str, name: str) -> tuple[Frame, RowProblems]:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t\r"):
            continue
        try:
            row = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            problems.append(Problem(number, f"not JSON: {error}"))
            continue
        if not isinstance(row, dict):
            problems.append(Problem(number, f"expected an object {{...}}, got {quoted(line.strip())}"))
            continue
        rows.append(row)
        lines.append(number)
    if problems:
        raise DataError.listing(name, problems)
    names = list(dict.fromkeys(key for row in rows for key in row))
    return Frame(names, lambda key: [row.get(key) for row in rows]), RowProblems(name, lines=lines)


def _refuse_constant(name: str) -> Any:
    raise BadValue(f"{name} is not a JSON number")
