"""A table whose cells are still values, and every form that it is laid out or written in."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from evenrank.tables.cells import HTML, LATEX, MARKDOWN, TEXT, CellStyle, Column, Interval, Value
from evenrank.tables.records import DELIMITERS, Record, delimited, json_line
from evenrank.text import display_width, escape_html, escape_markdown, fit, printable, wrapped

WIDTH = 100  # columns of a terminal, where nobody says how many there are
NO_INTERVALS = "The intervals do not fit this width: ask for one measure or use --format tsv."
TOO_WIDE = "The table is wider than this terminal: ask for fewer measures or use --format tsv."
BEST = "bold: the best value of a measure"
_BOLD = "\x1b[1m%s\x1b[0m"


@dataclass(frozen=True)
class Table:
    """Columns, rows of cells that are not yet text, and what must be known to read them.

    ``records`` are the same rows for programs; without them the rows themselves are written.

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
    legend: bool = True  # says what bold means; of several tables one is enough

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
    ) -> Table:
        """A table whose first ``words`` columns are text and whose other columns are numbers."""
        columns = tuple(
            each if isinstance(each, Column) else Column(each, right=place >= words)
            for place, each in enumerate(head)
        )
        return cls(columns, tuple(map(tuple, rows)), title, tuple(notes), tuple(records))

    @property
    def head(self) -> tuple[str, ...]:
        return tuple(column.head for column in self.columns)

    def titled(self, before: str) -> Table:
        """The same with these words before its title."""
        return replace(self, title=f"{before}: {self.title}" if self.title else before)

    def with_notes(self, notes: Iterable[str]) -> Table:
        return replace(self, notes=tuple(notes))

    def _cells(self, style: CellStyle) -> list[list[str]]:
        """The head and the rows as text."""
        return [
            [style.escape(head) for head in self.head],
            *([style.cell(cell) for cell in row] for row in self.rows),
        ]

    def width(self, *, intervals: bool = True) -> int:
        """The columns of a terminal that the whole table takes."""
        return _total(_widths(self._cells(replace(TEXT, intervals=intervals))))

    def to_text(self, width: int | None = None, *, color: bool = False) -> str:
        """For a terminal of ``width`` columns: where they are too few, intervals behind values are left out,
        elastic columns are cut, and others wrap. ``color`` marks the head and the best values in bold. A head
        without rows is left out where a title tells what is empty."""
        limit = width or WIDTH
        style, said = TEXT, [*(self._legend() if color else ()), *self.notes]
        bare = self.width(intervals=False)
        if width is not None and self.width() > max(limit, bare) and limit >= bare - self._spare():
            style, said = replace(style, intervals=False), [NO_INTERVALS, *said]
        cells = self._cells(style)
        sizes = self._fitted(_widths(cells), limit)
        if width is not None and _total(sizes) > limit:
            said = [TOO_WIDE, *said]
        lines = [wrapped(self.title, limit)] if self.title else []
        strong = [[True] * len(self.columns), *([_is_best(cell) for cell in row] for row in self.rows)]
        for row, marks in zip(cells, strong, strict=True) if self.rows or not self.title else ():
            lines += self._lines(row, sizes, [color and mark for mark in marks])
        return "\n".join([*lines, *(wrapped(note, limit) for note in said)])

    def marks_best(self) -> bool:
        return any(_is_best(cell) for row in self.rows for cell in row)

    def _legend(self) -> tuple[str, ...]:
        return (BEST,) if self.legend and self.marks_best() else ()

    def _lines(self, cells: Sequence[str], sizes: Sequence[int], bold: Sequence[bool]) -> list[str]:
        """A row: one line, or as many as the longest text takes in a column that wraps."""
        parts = [
            textwrap.wrap(cell, size, break_on_hyphens=False) or [""] if column.wraps else [cell]
            for cell, size, column in zip(cells, sizes, self.columns, strict=True)
        ]
        return [self._line(line, sizes, bold) for line in zip_longest(*parts, fillvalue="")]

    def _line(self, cells: Sequence[str], sizes: Sequence[int], bold: Sequence[bool]) -> str:
        parts = []
        for cell, size, column, strong in zip(cells, sizes, self.columns, bold, strict=True):
            text = fit(cell, size)
            space = " " * (size - display_width(text))
            text = _BOLD % text if strong and text else text
            parts.append(space + text if column.right else text + space)
        return "  ".join(parts).rstrip()

    def _spare(self) -> int:
        """Columns of a terminal that cutting elastic text can give back."""
        sizes = _widths(self._cells(TEXT))
        return sum(
            max(0, size - _LEAST)
            for size, column in zip(sizes, self.columns, strict=True)
            if column.elastic or column.wraps
        )

    def _fitted(self, sizes: list[int], width: int) -> list[int]:
        over = _total(sizes) - width
        for place, column in enumerate(self.columns):
            if (column.elastic or column.wraps) and over > 0:
                cut = min(over, max(0, sizes[place] - _LEAST))
                sizes[place] -= cut
                over -= cut
        return sizes

    def to_markdown(self) -> str:
        head, *rows = self._cells(MARKDOWN)
        rule = ["---:" if column.right else ":---" for column in self.columns]
        lines = [f"| {' | '.join(cells)} |\n" for cells in (head, rule, *rows)]
        title = f"**{escape_markdown(self.title)}**\n\n" if self.title else ""
        notes = "".join(f"- {escape_markdown(note)}\n" for note in (*self._legend(), *self.notes))
        return title + "".join(lines) + (f"\n{notes}" if notes else "")

    def to_latex(self) -> str:
        """A whole tabular in the style of booktabs; title and notes are comments above it."""
        said = "".join(
            f"% {printable(line)}\n" for line in (self.title, *self._legend(), *self.notes) if line
        )
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
        notes = "".join(f"<li>{escape_html(note)}</li>\n" for note in (*self._legend(), *self.notes))
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


_LEAST = 20  # columns of a terminal that an elastic column keeps


def _is_best(cell: Any) -> bool:
    return isinstance(cell, Value) and cell.best


def _bare(cell: Any) -> Any:
    if isinstance(cell, Value):
        return cell.value
    return [cell.low, cell.high] if isinstance(cell, Interval) else cell


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(display_width, column)) for column in zip(*cells, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)
