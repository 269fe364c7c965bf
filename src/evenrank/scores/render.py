"""Scores as tables for people: text, HTML, Markdown, LaTeX.

They have four decimals, say what is undefined, and neutralise names from outside: control characters
are shown as escapes, markup is quoted. Rows for programs, where every name is verbatim, are in ``rows``.
"""

from __future__ import annotations

import html
import math
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenrank.measures.base import EXTREMES
from evenrank.scores.columns import largest_columns, shown_rows
from evenrank.scores.rows import as_jsonl, as_tsv, per_query_jsonl, per_query_tsv, values_of

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores, SummaryRow

__all__ = [
    "as_html", "as_jsonl", "as_latex", "as_markdown", "as_text", "as_tsv", "per_query_jsonl",
    "per_query_text", "per_query_tsv",
]  # fmt: skip

INTERVAL = "95% interval"
NO_INTERVALS = "intervals: print one measure, or --format tsv"
WIDTH = 100  # of a table in columns, where nobody says how wide it may be

_ARROWS = {"higher": "↑", "lower": "↓", "signed": "±", "a distance": "↔"}
LATEX_ARROWS = {"↑": r"$\uparrow$", "↓": r"$\downarrow$", "±": r"$\pm$", "↔": r"$\leftrightarrow$"}
_LATEX_SPECIALS = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\symbol{34}",
    # -- would become a dash; [ and * at the head of a row would be read as arguments of \\
    "-": "{-}", "[": "{[}", "*": "{*}", "`": "{`}",
    **{special: "\\" + special for special in "{}$&#_%"},
}  # fmt: skip


def printable(text: str) -> str:
    r"""The text on one line, without anything that steers a terminal.

    >>> printable("a\x1b[2Jb\n")
    'a\\x1b[2Jb\\n'
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def escape_latex(text: str) -> str:
    return "".join(_LATEX_SPECIALS.get(character, character) for character in printable(text))


def escape_markdown(text: str) -> str:
    quoted = html.escape(printable(text), quote=False)
    return "".join("\\" + character if character in r"\|*_`[]~$" else character for character in quoted)


def escape_html(text: str) -> str:
    return html.escape(printable(text))


@dataclass(frozen=True)
class _ScoreStyle:
    """What differs between the tables for people before they are laid out."""

    escape: Callable[[str], str] = printable
    arrows: Mapping[str, str] = field(default_factory=dict)
    undefined: str = "undefined"
    minus: str = "-"

    def number(self, value: float) -> str:
        if math.isnan(value):
            return self.undefined
        size = abs(value)
        if math.isinf(value):
            text = "infinite"
        elif 0 < size < 5e-5:
            text = f"{size:.1e}"  # four decimals would call it 0
        else:
            text = f"{size:.4f}" if size < 1e7 else f"{size:.4e}"
        return self.minus + text if value < 0 else text

    def interval(self, row: SummaryRow) -> str:
        if math.isnan(row.low) or math.isnan(row.high):
            return self.undefined
        return f"[{self.number(row.low)}, {self.number(row.high)}]"

    def heading(self, measure: str, column: str, direction: str) -> str:
        sign = arrow(direction)
        return f"{self.escape(label(measure, column))} {self.arrows.get(sign, sign)}".rstrip()


@dataclass(frozen=True)
class _Table:
    """Cells ready to be laid out. ``right`` marks the columns of numbers."""

    head: list[str]
    rows: list[list[str]]
    right: list[bool]
    intervals: bool = True  # whether they are shown


def label(measure: str, column: str) -> str:
    return measure + (f"[{column}]" if column else "")


def arrow(direction: str) -> str:
    return next((arrow for word, arrow in _ARROWS.items() if direction.startswith(word)), "")


def _summary_table(scores: Scores, style: _ScoreStyle, width: int | None = None) -> _Table:
    """Runs against measures where there are several runs, they count the same queries, and it fits,
    if need be without the intervals; else one row for each run and measure."""
    rows = shown_rows(scores)
    if len(scores.runs) > 1:
        for intervals in (True, False):
            table = _wide(rows, style, intervals=intervals)
            if table is not None and (width is None or _width_of(table) <= width):
                return table
    several = len(scores.runs) > 1
    head = ["run"] * several + ["measure", "value", style.escape(INTERVAL), "n"]
    cells = [
        [style.escape(row.run)] * several
        + [
            style.heading(row.measure, row.column, row.direction),
            style.number(row.value),
            style.interval(row),
            _queries(row),
        ]
        for row in rows
    ]
    return _Table(head, cells, [False] * several + [False, True, True, True])


def _wide(rows: Sequence[SummaryRow], style: _ScoreStyle, *, intervals: bool) -> _Table | None:
    """One row a run and one column a measure; None where one ``n`` cannot stand for all measures."""
    by_run: dict[str, dict[str, SummaryRow]] = {}
    headings: dict[str, None] = {}
    for row in rows:
        heading = style.heading(row.measure, row.column, row.direction)
        headings.setdefault(heading)
        by_run.setdefault(row.run, {})[heading] = row
    cells = []
    for run, found in by_run.items():
        counts = {_queries(row) for row in found.values()}
        if len(counts) > 1 or len(found) < len(headings):
            return None
        values = [
            style.number(found[h].value) + (f" {style.interval(found[h])}" if intervals else "")
            for h in headings
        ]
        cells.append([style.escape(run), *values, counts.pop()])
    return _Table(["run", *headings, "n"], cells, [False] + [True] * (len(headings) + 1), intervals)


def _queries(row: SummaryRow) -> str:
    """How many queries the value is over, of how many where some do not count, and how many are infinite."""
    count = str(row.queries) if row.defined == row.queries else f"{row.defined}/{row.queries}"
    return f"{count}, {row.infinite} infinite" if row.infinite else count


def remarks(scores: Scores, *, notes: bool = True) -> list[str]:
    """What must be known to read the values, each once: ``runs: measures: what``."""
    said: dict[str, dict[str, list[str]]] = {}  # what -> run -> measures
    largest = largest_columns(scores)
    for row in scores.summary():
        for what in _said_of(row):
            named = said.setdefault(what, {}).setdefault(row.run, [])
            name = label(row.measure, "" if row.measure in largest else row.column)
            if name not in named:
                named.append(name)
    for measure, columns in largest.items():
        said[columns.said()] = {run: [measure] for run in scores.runs}
    if notes:
        for run, texts in scores.notes.items():
            for text in texts:
                said.setdefault(text, {})[run] = []
    lines = []
    for what, measures_of in said.items():
        runs_of: dict[str, list[str]] = {}
        for run, measures in measures_of.items():
            runs_of.setdefault(", ".join(measures), []).append(run)
        for listed, runs in runs_of.items():
            whose = "" if len(runs) == len(scores.runs) else ", ".join(runs)
            lines.append(": ".join(filter(None, (whose, listed, what))))
    directions = dict.fromkeys(row.direction for row in scores.summary())
    return lines + [f"{arrow(direction)} {direction}" for direction in directions if arrow(direction)]


def _said_of(row: SummaryRow) -> Iterator[str]:
    if row.undefined:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in row.undefined.items())
        yield f"undefined for {sum(row.undefined.values())} of {row.queries} queries: {reasons}"
    if row.infinite:
        yield f"infinite for {row.infinite} of {row.queries} queries, {_infinite_means(row)}"
    if row.interval_note and row.defined:
        yield row.interval_note
    if row.aggregation != "mean":
        yield f"the value is the {row.aggregation} over queries, not the mean"


def _infinite_means(row: SummaryRow) -> str:
    if row.aggregation in EXTREMES:
        return f"which the {row.aggregation} takes into account"
    if not row.defined:
        return "so the mean is infinite, too"
    return "which the mean leaves out: it is over the other queries alone"


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes.

    >>> display_width("日本 ab")
    7
    """
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.category(character) in ("Mn", "Me") for character in text)


def _widths(table: _Table) -> list[int]:
    return [max(map(display_width, column)) for column in zip(table.head, *table.rows, strict=True)]


def _width_of(table: _Table) -> int:
    return sum(_widths(table)) + 2 * (len(table.head) - 1)


def _text_table(table: _Table) -> str:
    widths = _widths(table)
    lines = []
    for row in [table.head, *table.rows]:
        cells = []
        for cell, width, right in zip(row, widths, table.right, strict=True):
            space = " " * (width - display_width(cell))
            cells.append(space + cell if right else cell + space)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def as_text(scores: Scores, width: int | None = None, *, notes: bool = True) -> str:
    """A table for a terminal of ``width`` columns, and beneath it what is needed to read it."""
    if not scores.blocks:
        return "no scores"
    width = width or WIDTH
    table = _summary_table(scores, _ScoreStyle(), width)
    lines = ([] if table.intervals else [NO_INTERVALS]) + remarks(scores, notes=notes)
    said = (
        textwrap.fill(line, max(width, 40), subsequent_indent="  ", break_on_hyphens=False)
        for line in map(printable, lines)
    )
    return "\n".join([_text_table(table), *said])


def as_html(scores: Scores, *, notes: bool = True) -> str:
    """A table for a notebook. Names from outside are escaped."""
    table = _summary_table(scores, _ScoreStyle(escape_html))
    aligned = ["right" if right else "left" for right in table.right]

    def line(tag: str, cells: Sequence[str]) -> str:
        joined = "".join(
            f'<{tag} style="text-align: {side}">{cell}</{tag}>'
            for cell, side in zip(cells, aligned, strict=True)
        )
        return f"<tr>{joined}</tr>\n"

    body = "".join(line("td", row) for row in table.rows)
    said = "".join(f"<li>{escape_html(remark)}</li>\n" for remark in remarks(scores, notes=notes))
    return f"<table>\n<thead>\n{line('th', table.head)}</thead>\n<tbody>\n{body}</tbody>\n</table>\n" + (
        f"<ul>\n{said}</ul>\n" if said else ""
    )


def as_markdown(scores: Scores, *, notes: bool = True) -> str:
    table = _summary_table(scores, _ScoreStyle(escape_markdown))
    rule = ["---:" if right else ":---" for right in table.right]
    lines = [f"| {' | '.join(cells)} |\n" for cells in (table.head, rule, *table.rows)]
    said = [f"- {escape_markdown(remark)}\n" for remark in remarks(scores, notes=notes)]
    return "".join(lines) + ("\n" + "".join(said) if said else "")


def as_latex(scores: Scores, *, notes: bool = True) -> str:
    """A whole tabular in the style of booktabs; remarks are comments above it."""
    table = _summary_table(scores, _ScoreStyle(escape_latex, LATEX_ARROWS, "--", "$-$"))
    said = [f"% {printable(remark)}\n" for remark in remarks(scores, notes=notes)]
    head, *body = (f"{' & '.join(cells)} \\\\\n" for cells in (table.head, *table.rows))
    columns = "".join("r" if right else "l" for right in table.right)
    return (
        "% needs \\usepackage{booktabs}\n"
        + "".join(said)
        + f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\\midrule\n{''.join(body)}"
        + "\\bottomrule\n\\end{tabular}\n"
    )


def per_query_text(scores: Scores) -> str:
    """One row a query, one column a measure; a blank where a measure does not take the query."""
    style = _ScoreStyle()
    headings: dict[tuple[str, str], str] = {}
    largest = largest_columns(scores)
    for block in scores.blocks:
        measure = repr(block.measure)
        for column in largest[measure].places if measure in largest else block.columns:
            headings[measure, column] = style.heading(measure, column, block.measure.direction.value)
    found: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for run, query, measure, column, value, _ in values_of(scores):
        found.setdefault((run, query), {})[measure, column] = style.number(value)
    several = len(scores.runs) > 1
    rows = [
        [printable(run)] * several + [printable(query)] + [cells.get(heading, "") for heading in headings]
        for (run, query), cells in found.items()
    ]
    head = ["run"] * several + ["query", *headings.values()]
    table = _text_table(_Table(head, rows, [False] * (several + 1) + [True] * len(headings)))
    return "\n".join([table, *(f"{measure}: {columns.said()}" for measure, columns in largest.items())])
