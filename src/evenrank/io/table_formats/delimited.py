"""CSV and TSV with a header line."""

from __future__ import annotations

import csv
import io
from typing import Any

from evenrank.errors import Problem, counted
from evenrank.io.frames import Frame
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source
from evenrank.io.table_formats.declared import Nothing, OpenTable, content_of, declare_format, decoded
from evenrank.io.table_formats.unquoted import unquoted_table


@declare_format("csv", ".csv", has_header=True)
def open_csv(source: Source, nothing: Nothing) -> OpenTable:
    return _opened(source, nothing, "csv")


@declare_format("tsv", ".tsv", has_header=True)
def open_tsv(source: Source, nothing: Nothing) -> OpenTable:
    return _opened(source, nothing, "tsv")


def _opened(source: Source, nothing: Nothing, format: str) -> OpenTable:
    content = content_of(source, nothing)
    plain = unquoted_table(content.buffer, format)
    if plain is not None:
        rows = len(plain.column(plain.names[0]))
        return OpenTable(plain, RowProblems(source.name, lines=range(2, rows + 2)), {})
    table = _delimited_table(decoded(content, source.name), source.name, format)
    if not table.report.lines and not table.problems:
        raise nothing(source.name, "no line but the header")
    return table


def _delimited_table(text: str, name: str, format: str) -> OpenTable:
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
                found = counted(len(row), "column", "columns")
                problems.append(Problem(line, f"{found}, but the header has {len(header)}"))
            else:
                rows.append(row)
                lines.append(line)
    except csv.Error as error:
        problems.append(Problem(reader.line_num, f"not {format.upper()}: {error}"))
    frame = Frame(header, lambda column: [row[header.index(column)] for row in rows], text=True)
    return OpenTable(frame, RowProblems(name, lines=lines), {}, tuple(problems))
