"""Files with named columns: CSV and TSV with a header line, JSON lines, Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError, Problem
from evenrank.io.frames import Frame, frame_columns
from evenrank.io.layout import Columns, Layout
from evenrank.io.report import Report
from evenrank.io.source import Content, Source
from evenrank.io.values import BadValue, quoted

_SHELL = " (in the shell: --columns ROLE=NAME)"
_NO_HEADER = "; if the file has no header line and TREC's fields, pass format='trec' ({} trec)"


class TableFile(NamedTuple):
    """The columns of a file, where its rows stand, and what its metadata says."""

    columns: Columns
    report: Report
    metadata: dict[str, str]


def read(source: Source, layout: Layout, format: str, columns: Mapping[str, str] | None) -> TableFile:
    if format == "parquet":
        return _read_parquet(source, layout, columns)
    content = source.content().without_bom(source.name)
    if content.buffer.size == 0:
        raise layout.nothing(source.name, "the file is empty")
    text = _decoded(content, source.name)
    if format == "jsonl":
        frame, report = _json_frame(text, source.name)
    else:
        frame, report = _delimited_frame(text, source.name, format)
    if not report.lines:
        raise layout.nothing(
            source.name, "no line but the header" if format != "jsonl" else "only blank lines"
        )
    advice = _SHELL
    if format != "jsonl":
        advice += _NO_HEADER.format("--input-format" if layout.value_name == "score" else "--qrels-format")
    return TableFile(
        frame_columns(frame, layout, columns, source.name, report=report, advice=advice), report, {}
    )


def _read_parquet(source: Source, layout: Layout, columns: Mapping[str, str] | None) -> TableFile:
    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(source.content().buffer))
        frame = Frame(file.schema_arrow.names, lambda name: file.read(columns=[name]).column(0))
        report = Report(source.name)
        found = frame_columns(frame, layout, columns, source.name, report=report, advice=_SHELL)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source.name}: is not a sound Parquet file: {error}") from error
    metadata = {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in (file.schema_arrow.metadata or {}).items()
        if key.startswith(b"evenrank")
    }
    return TableFile(found, report, metadata)


def _decoded(content: Content, name: str) -> str:
    data: bytes = content.buffer.to_pybytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        at = content.skipped + error.start
        raise DataError.listing(name, [Problem(line, f"invalid UTF-8 at byte {at} of the file")]) from error


def _delimited_frame(text: str, name: str, format: str) -> tuple[Frame, Report]:
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
    report = Report(name, lines=lines)
    return Frame(header, lambda column: [row[header.index(column)] for row in rows], text=True), report


def _json_frame(text: str, name: str) -> tuple[Frame, Report]:
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
    return Frame(names, lambda key: [row.get(key) for row in rows]), Report(name, lines=lines)


def _refuse_constant(name: str) -> Any:
    raise BadValue(f"{name} is not a JSON number")
