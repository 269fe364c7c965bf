"""Tables of results, laid out for people (text, Markdown, LaTeX) and written for programs (TSV, JSONL)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenrank.errors import ParameterError
from evenrank.scores.render import display_width, escape_latex, escape_markdown, printable
from evenrank.scores.rows import delimited, json_line, json_number

WIDTH = 100  # of what stands beneath a table, where nobody says how wide it may be

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Sheet:
    """Cells as they are read, not yet escaped. The first ``words`` columns are words, the rest numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    title: str = ""
    notes: tuple[str, ...] = ()
    records: tuple[Record, ...] = ()  # the same for programs, with every digit


def number(value: float, *, sign: bool = False) -> str:
    """Four decimals; a blank where there is no number.

    >>> number(0.12345), number(0.1, sign=True), number(math.nan)
    ('0.1235', '+0.1000', '')
    """
    if math.isnan(value):
        return ""
    return f"{value:+.4f}" if sign else f"{value:.4f}"


def interval(low: float, high: float, *, sign: bool = False) -> str:
    known = math.isfinite(low) and math.isfinite(high)
    return f"[{number(low, sign=sign)}, {number(high, sign=sign)}]" if known else ""


def as_text(sheet: Sheet, width: int | None = None) -> str:
    table = [tuple(map(printable, cells)) for cells in (sheet.head, *sheet.rows)]
    widths = [max(map(display_width, column)) for column in zip(*table, strict=True)]
    lines = [printable(sheet.title)] if sheet.title else []
    for cells in table:
        padded = []
        for place, (cell, size) in enumerate(zip(cells, widths, strict=True)):
            space = " " * (size - display_width(cell))
            padded.append(cell + space if place < sheet.words else space + cell)
        lines.append("  ".join(padded).rstrip())
    for note in map(printable, sheet.notes):
        lines += textwrap.wrap(note, max(width or WIDTH, 40), subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def as_markdown(sheet: Sheet) -> str:
    rule = [":---" if place < sheet.words else "---:" for place in range(len(sheet.head))]
    head, *rows = (tuple(map(escape_markdown, cells)) for cells in (sheet.head, *sheet.rows))
    lines = [f"| {' | '.join(cells)} |\n" for cells in (head, tuple(rule), *rows)]
    title = f"**{escape_markdown(sheet.title)}**\n\n" if sheet.title else ""
    notes = "".join(f"- {escape_markdown(note)}\n" for note in sheet.notes)
    return title + "".join(lines) + (f"\n{notes}" if notes else "")


def as_latex(sheet: Sheet) -> str:
    """A whole tabular in the style of booktabs; title and notes are comments above it."""
    said = "".join(f"% {printable(line)}\n" for line in (sheet.title, *sheet.notes) if line)
    columns = "".join("l" if place < sheet.words else "r" for place in range(len(sheet.head)))
    head, *rows = (" & ".join(map(escape_latex, cells)) + " \\\\\n" for cells in (sheet.head, *sheet.rows))
    return (
        f"% needs \\usepackage{{booktabs}}\n{said}\\begin{{tabular}}{{{columns}}}\n"
        + f"\\toprule\n{head}\\midrule\n{''.join(rows)}"
        + "\\bottomrule\n\\end{tabular}\n"
    )


def as_tsv(sheet: Sheet) -> str:
    def cell(value: Any) -> str:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return ""
        return repr(value) if isinstance(value, float) else str(value)

    fields = list(dict.fromkeys(name for record in sheet.records for name in record))
    return delimited(
        fields, (tuple(cell(record.get(name)) for name in fields) for record in sheet.records), "\t"
    )


def as_jsonl(sheet: Sheet) -> str:
    return "".join(
        json_line({name: json_number(v) if isinstance(v, float) else v for name, v in record.items()})
        for record in sheet.records
    )


_FORMS: Mapping[str, Callable[[Sheet], str]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "tsv": as_tsv,
    "jsonl": as_jsonl,
}
FORMATS = ("table", *_FORMS)


def printed(sheets: Sequence[Sheet], form: str, width: int | None = None) -> str:
    """Tables one after the other. As TSV there is one table, since its rows have one set of fields."""
    if form not in FORMATS:
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}, got {form!r}")
    if form == "table":
        return "\n".join(as_text(sheet, width) for sheet in sheets)
    if form == "tsv" and len({tuple(record) for sheet in sheets for record in sheet.records}) > 1:
        raise ParameterError("as tsv one table is printed at a time")
    if form == "tsv":
        records = tuple(record for sheet in sheets for record in sheet.records)
        return as_tsv(Sheet((), (), records=records))
    return ("" if form == "jsonl" else "\n").join(_FORMS[form](sheet) for sheet in sheets)
