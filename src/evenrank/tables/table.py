"""A table whose cells are still values, and every form that it is laid out or written in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenrank.errors import ParameterError
from evenrank.tables import terminal
from evenrank.tables.cells import HTML, LATEX, MARKDOWN, TEXT, CellStyle, Column, Interval, Value
from evenrank.tables.records import DELIMITERS, Record, delimited, json_line
from evenrank.text import escape_html, escape_markdown, printable, wrapped

WIDTH = 100  # columns of a terminal, where nobody says how many there are
NO_INTERVALS = "The intervals do not fit this width: use a wider terminal, fewer measures or --format tsv."
TOO_WIDE = "The table is wider than this terminal: ask for fewer measures or use --format tsv."
BEST = "bold: the best value of a measure"
FORMATS = ("table", "tsv", "csv", "jsonl", "markdown", "latex")


@dataclass(frozen=True)
class Table:
    """Columns, rows of cells that are not yet text, and what must be known to read them.

    ``meaning`` is a sentence beneath it that says what it shows, ``brackets`` a line that says what the
    intervals behind values are, printed where there are any. ``records`` are the same rows for programs;
    without them the rows themselves are written.

    >>> table = Table.of(["run", "nDCG@10"], [["bm25", 0.25], ["dense", Value(0.5, best=True)]])
    >>> print(table.to_text())
    run    nDCG@10
    bm25    0.2500
    dense   0.5000
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    records: tuple[Record, ...] = field(default=(), repr=False)
    meaning: str = ""
    legend: bool = True  # says what bold means; of several tables one is enough
    brackets: str = ""

    @classmethod
    def of(
        cls,
        head: Sequence[str | Column],
        rows: Iterable[Sequence[Any]],
        *,
        words: int = 1,
        title: str = "",
        notes: Iterable[str] = (),
        records: Iterable[Record] = (),
        meaning: str = "",
        brackets: str = "",
    ) -> Table:
        """A table whose first ``words`` columns are text and whose other columns are numbers."""
        columns = tuple(
            each if isinstance(each, Column) else Column(each, right=place >= words)
            for place, each in enumerate(head)
        )
        body = tuple(map(tuple, rows))
        return cls(columns, body, title, tuple(notes), tuple(records), meaning, brackets=brackets)

    @property
    def head(self) -> tuple[str, ...]:
        return tuple(column.head for column in self.columns)

    def titled(self, before: str) -> Table:
        """The same with these words before its title."""
        return replace(self, title=f"{before}: {self.title}" if self.title else before)

    def with_notes(self, notes: Iterable[str]) -> Table:
        return replace(self, notes=tuple(notes))

    def _below(self, *, legend: bool = True, intervals: bool = True) -> tuple[str, ...]:
        """What is printed beneath the table: what it, bold and brackets mean, and the notes."""
        meaning = self.meaning if self.rows else ""
        best = BEST if legend and self.legend and self.marks_best() else ""
        values = (cell for row in self.rows for cell in row if isinstance(cell, Value))
        shown = intervals and any(not math.isnan(cell.low) for cell in values)
        brackets = self.brackets if shown else ""
        return (*filter(None, [meaning, best, brackets]), *self.notes)

    def _cells(self, style: CellStyle) -> list[list[str]]:
        """The head and the rows as text."""
        return [
            [style.escape(head) for head in self.head],
            *([style.cell(cell) for cell in row] for row in self.rows),
        ]

    def width(self, *, intervals: bool = True) -> int:
        """The columns of a terminal that the whole table takes."""
        return terminal.total_width(terminal.column_sizes(self._cells(replace(TEXT, intervals=intervals))))

    def to_text(self, width: int | None = None, *, color: bool = False) -> str:
        """For a terminal of ``width`` columns: where they are too few, intervals behind values are left out,
        columns of text wrap, and what is still too wide is printed in several blocks that all begin with the
        columns that name a row.
        ``color`` marks the head, the best values and verdicts. A head without rows is left out where a title
        tells what is empty."""
        limit = width or WIDTH
        bare = self.width(intervals=False)
        spare = terminal.spare_width(self.columns, terminal.column_sizes(self._cells(TEXT)))
        whole = width is None or self.width() <= max(limit, bare) or limit < bare - spare
        below = self._below(legend=color, intervals=whole)
        below = below if whole else (NO_INTERVALS, *below)
        cells = self._cells(replace(TEXT, intervals=whole))
        columns, sizes = terminal.fitted(self.columns, cells, limit, names_wrap=width is not None)
        blocks = [list(range(len(sizes)))]
        if width is not None:
            blocks = terminal.blocks_of(columns, sizes, limit)
            if max(terminal.total_width([sizes[place] for place in one]) for one in blocks) > limit:
                below = (TOO_WIDE, *below)
        colours = [
            [terminal.HEAD] * len(columns),
            *([terminal.colour_of(cell) for cell in row] for row in self.rows),
        ]

        def block(places: Sequence[int]) -> str:
            """The columns at these places, with the head above them."""
            lines: list[str] = []
            for row, marks in zip(cells, colours, strict=True):
                chosen = [(columns[p], row[p], sizes[p], marks[p] if color else "") for p in places]
                lines += terminal.row_lines(*zip(*chosen, strict=True))
            return "\n".join(lines)

        lines = [wrapped(self.title, limit)] if self.title else []
        if self.rows or not self.title:
            lines.append("\n\n".join(map(block, blocks)))
        return "\n".join([*lines, *(wrapped(note, limit) for note in below)])

    def marks_best(self) -> bool:
        return any(isinstance(cell, Value) and cell.best for row in self.rows for cell in row)

    def to_markdown(self) -> str:
        head, *rows = self._cells(MARKDOWN)
        rule = ["---:" if column.right else ":---" for column in self.columns]
        lines = [f"| {' | '.join(cells)} |\n" for cells in (head, rule, *rows)]
        title = f"**{escape_markdown(self.title)}**\n\n" if self.title else ""
        notes = "".join(f"- {escape_markdown(note)}\n" for note in self._below())
        return title + "".join(lines) + (f"\n{notes}" if notes else "")

    def to_latex(self) -> str:
        """A whole tabular in the style of booktabs; title and notes are comments above it."""
        said = "".join(f"% {printable(line)}\n" for line in (self.title, *self._below()) if line)
        columns = "".join("r" if column.right else "l" for column in self.columns)
        head, *rows = (" & ".join(cells) + " \\\\\n" for cells in self._cells(LATEX))
        return (
            f"% needs \\usepackage{{booktabs}}\n{said}\\begin{{tabular}}{{{columns}}}\n"
            f"\\toprule\n{head}\\midrule\n{''.join(rows)}\\bottomrule\n\\end{{tabular}}\n"
        )

    def to_html(self) -> str:
        """For a notebook."""

        def line(tag: str, cells: Sequence[str]) -> str:
            sides = ("right" if column.right else "left" for column in self.columns)
            joined = "".join(
                f'<{tag} style="text-align: {side}">{cell}</{tag}>'
                for cell, side in zip(cells, sides, strict=True)
            )
            return f"<tr>{joined}</tr>\n"

        head, *rows = self._cells(HTML)
        title = f"<p>{escape_html(self.title)}</p>\n" if self.title else ""
        body = "".join(line("td", row) for row in rows)
        notes = "".join(f"<li>{escape_html(note)}</li>\n" for note in self._below())
        return f"{title}<table>\n<thead>\n{line('th', head)}</thead>\n<tbody>\n{body}</tbody>\n</table>\n" + (
            f"<ul>\n{notes}</ul>\n" if notes else ""
        )

    def to_records(self) -> tuple[Record, ...]:
        """A mapping for each row, with every digit."""
        return self.records or tuple(
            {head: _bare(cell) for head, cell in zip(self.head, row, strict=True)} for row in self.rows
        )

    def to_tsv(self) -> str:
        return delimited(self.to_records(), DELIMITERS["tsv"])

    def to_csv(self) -> str:
        return delimited(self.to_records(), DELIMITERS["csv"])

    def to_jsonl(self) -> str:
        return "".join(map(json_line, self.to_records()))


def _bare(cell: Any) -> Any:
    if isinstance(cell, Value):
        return cell.value
    return [cell.low, cell.high] if isinstance(cell, Interval) else cell


def printed(
    tables: Sequence[Table], form: str, width: int | None = None, *, color: bool | None = None
) -> str:
    """Tables one after the other. TSV and CSV have one set of fields, and so one kind of table.

    ``width`` is that of a terminal: there heads are bold, and best values and verdicts are coloured, unless
    ``color`` or the variable NO_COLOR says otherwise.
    """
    if form not in FORMATS and form != "html":
        raise ParameterError(f"format must be one of {', '.join(FORMATS)}, got {form!r}")
    marked = [place for place, table in enumerate(tables) if table.marks_best()]
    tables = [replace(table, legend=place in marked[-1:]) for place, table in enumerate(tables)]
    if form == "table":
        colour = terminal.wants_colour() if color is None else color
        last = {note: place for place, table in enumerate(tables) for note in table.notes}
        tables = [  # what several tables say stands beneath the last of them
            table.with_notes(note for note in dict.fromkeys(table.notes) if last[note] == place)
            for place, table in enumerate(tables)
        ]
        return "\n\n".join(table.to_text(width, color=colour) for table in tables) + "\n"
    if form in ("markdown", "latex", "html"):
        return "\n".join(getattr(table, f"to_{form}")() for table in tables)
    records = [record for table in tables for record in table.to_records()]
    if form == "jsonl":
        return "".join(map(json_line, records))
    if len({tuple(record) for record in records}) > 1:
        raise ParameterError(f"as {form} one table is printed at a time: ask for one, or use --format jsonl")
    return delimited(records, DELIMITERS[form])
