"""JSON lines: an object in each line."""

from __future__ import annotations

import json
from typing import Any

from evenrank.errors import Problem
from evenrank.io.frames import Frame
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source
from evenrank.io.table_formats.declared import Nothing, OpenTable, declare_format, text_of
from evenrank.io.values import BadValue, describe_json_error, quoted


@declare_format("jsonl", ".jsonl", ".ndjson")
def open_json_lines(source: Source, nothing: Nothing) -> OpenTable:
    table = _json_table(text_of(source, nothing), source.name)
    if not table.report.lines and not table.problems:
        raise nothing(source.name, "only blank lines")
    return table


def _json_table(text: str, name: str) -> OpenTable:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t\r"):
            continue
        try:
            row = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            problems.append(Problem(number, f"not JSON: {describe_json_error(error)}"))
            continue
        if not isinstance(row, dict):
            problems.append(Problem(number, f"expected an object {{...}}, got {quoted(line.strip())}"))
            continue
        rows.append(row)
        lines.append(number)
    names = list(dict.fromkeys(key for row in rows for key in row))
    frame = Frame(names, lambda key: [row.get(key) for row in rows])
    return OpenTable(frame, RowProblems(name, lines=lines), {}, tuple(problems))


def _refuse_constant(name: str) -> Any:
    raise BadValue(f"{name} is not a JSON number")
