"""A table whose cells are still values, and every form that it is laid out or written in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenrank.tables import terminal
from evenrank.tables.cells import HTML, LATEX, MARKDOWN, TEXT, CellStyle, Column, Interval, Value
from evenrank.tables.records import DELIMITERS, Record, delimited, json_line
from evenrank.text import escape_html, escape_markdown, printable, wrapped

WIDTH = 100  # columns of a terminal, where nobody says how many there are
NO_INTERVALS = "The intervals do not fit this width: use a wider terminal, fewer measures or --format tsv."
TOO_WIDE = "The table is wider than this terminal: ask for fewer measures or use --format tsv."
BEST = "bold: the best value of a measure"


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
        brackets = self.brackets if intervals and self._has_intervals() else ""
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
        elastic columns are cut, others wrap, and what is still too wide is printed in several blocks that
        all begin with the columns that name a row.
        ``color`` marks the head, the best values and verdicts. A head without rows is left out where a title
        tells what is empty."""
        limit = width or WIDTH
        style, below = TEXT, self._below(legend=color)
        bare = self.width(intervals=False)
        if width is not None and self.width() > max(limit, bare) and limit >= bare - self._spare():
            style = replace(style, intervals=False)
            below = (NO_INTERVALS, *self._below(legend=color, intervals=False))
        cells, columns = self._cells(style), self.columns
        if width is not None:
            columns = terminal.with_folded_names(columns, terminal.column_sizes(cells), limit)
        sizes = terminal.fitted_sizes(columns, cells, limit)
        whole = [list(range(len(sizes)))]
        blocks = whole if width is None else terminal.blocks_of(columns, sizes, limit)
        if width is not None and max(terminal.total_width([sizes[p] for p in one]) for one in blocks) > limit:
            below = (TOO_WIDE, *below)
        lines = [wrapped(self.title, limit)] if self.title else []
        if self.rows or not self.title:
            shown = replace(self, columns=columns)
            lines.append("\n\n".join(shown._block(cells, sizes, places, color) for places in blocks))
        return "\n".join([*lines, *(wrapped(note, limit) for note in below)])

    def _block(self, cells: list[list[str]], sizes: list[int], places: list[int], color: bool) -> str:
        """The columns at these places, with the head above them."""
        columns, own = [self.columns[place] for place in places], [sizes[place] for place in places]
        plain = [""] * len(places)
        colours = [[terminal.HEAD] * len(places)]
        colours += [[terminal.colour_of(row[place]) for place in places] for row in self.rows]
        return "\n".join(
            line
            for row, marks in zip(cells, colours, strict=True)
            for line in terminal.row_lines(
                columns, [row[place] for place in places], own, marks if color else plain
            )
        )

    def marks_best(self) -> bool:
        return any(_is_best(cell) for row in self.rows for cell in row)

    def _has_intervals(self) -> bool:
        """Whether an interval stands behind a value."""
        values = (cell for row in self.rows for cell in row if isinstance(cell, Value))
        return any(not math.isnan(cell.low) for cell in values)

    def _spare(self) -> int:
        return terminal.spare_width(self.columns, terminal.column_sizes(self._cells(TEXT)))

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


def _is_best(cell: Any) -> bool:
    return isinstance(cell, Value) and cell.best


def _bare(cell: Any) -> Any:
    if isinstance(cell, Value):
        return cell.value
    return [cell.low, cell.high] if isinstance(cell, Interval) else cell
