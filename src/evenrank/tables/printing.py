"""Several tables one after the other, in the form that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evenrank.errors import ParameterError
from evenrank.tables.records import DELIMITERS, delimited, json_line
from evenrank.tables.table import Table
from evenrank.tables.terminal import wants_colour

_FORMS: Mapping[str, Callable[[Table], str]] = {
    "markdown": Table.to_markdown,
    "latex": Table.to_latex,
    "html": Table.to_html,
}
FORMATS = ("table", "tsv", "csv", "jsonl", "markdown", "latex")


def printed(
    tables: Sequence[Table], form: str, width: int | None = None, *, color: bool | None = None
) -> str:
    """Tables one after the other. TSV and CSV have one set of fields, and so one kind of table.

    ``width`` is that of a terminal: there heads are bold, and best values and verdicts are coloured, unless
    ``color`` or the variable NO_COLOR says otherwise.
    """
    marked = [place for place, table in enumerate(tables) if table.marks_best()]
    tables = [replace(table, legend=place in marked[-1:]) for place, table in enumerate(tables)]
    if form == "table":
        colour = wants_colour(width) if color is None else color
        return "\n\n".join(table.to_text(width, color=colour) for table in tables) + "\n"
    if form in _FORMS:
        return "\n".join(_FORMS[form](table) for table in tables)
    records = [record for table in tables for record in table.to_records()]
    if form == "jsonl":
        return "".join(map(json_line, records))
    if form not in DELIMITERS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}, got {form!r}")
    if len({tuple(record) for record in records}) > 1:
        raise ParameterError(f"as {form} one table is printed at a time: ask for one, or use --format jsonl")
    return delimited(records, DELIMITERS[form])
