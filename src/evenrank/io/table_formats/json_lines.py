"""JSON lines: an object in each line."""

from __future__ import annotations

import json
from typing import Any

from evenrank.errors import DataError, Problem
from evenrank.io.frames import Frame
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source
from evenrank.io.table_formats.declared import Nothing, OpenTable, declare_format, text_of
from evenrank.io.values import BadValue, quoted


@declare_format("jsonl", ".jsonl", ".ndjson")
def open_json_lines(source: Source, nothing: Nothing) -> OpenTable:
    frame, report = _json_frame(text_of(source, nothing), source.name)
    if not report.lines:
        raise nothing(source.name, "only blank lines")
    return OpenTable(frame, report, {})


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
