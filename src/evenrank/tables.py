"""One table and one number format for everything that is printed or written.

A ``Table`` holds cells that are still values: text, counts, numbers with their interval and marks. It is
laid out for people (``to_text``, ``to_markdown``, ``to_latex``, ``to_html``) with four decimals and with
names from outside neutralised, and written for programs (``to_tsv``, ``to_csv``, ``to_jsonl``) with every
digit.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenrank.errors import ParameterError
from evenrank.grammar import Term
from evenrank.text import display_width, escape_html, escape_latex, escape_markdown, fit, printable, wrapped

WIDTH = 100  # columns of a terminal, where nobody says how many there are
UNDEFINED = "undefined"
NO_INTERVALS = "The intervals do not fit this width: ask for one measure or use --format tsv."
TOO_WIDE = "The table is wider than this terminal: ask for fewer measures or use --format tsv."
BEST = "bold: the best value of a measure"
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")  # the last, so that what is put on can be taken off

Record = Mapping[str, Any]
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
DELIMITERS = {"csv": ",", "tsv": "\t"}


class ReasonCounts(dict[str, int]):
    """How often, by reason: JSON has them all, a cell of TSV or CSV their sum."""


def number(value: float | None, *, signed: bool = False, undefined: str = UNDEFINED, minus: str = "-") -> str:
    """A number as people read it: four decimals, unless they would hide it or make it very long.

    NaN is undefined, and None is a blank: there the question does not arise.

    >>> number(0.12345), number(-1.2e-05), number(math.nan), number(-math.inf), number(None)
    ('0.1235', '-1.2e-05', 'undefined', '-infinite', '')
    >>> number(0.1, signed=True), number(0.0, signed=True), number(123456789.0)
    ('+0.1000', '0.0000', '1.2346e+08')
    """
    if value is None:
        return ""
    if math.isnan(value):
        return undefined
    size = abs(value)
    if math.isinf(value):
        text = "infinite"
    elif 0 < size < 5e-5:
        text = f"{size:.1e}"  # four decimals would call it 0
    else:
        text = f"{size:.4f}" if size < 1e7 else f"{size:.4e}"
    return (minus if value < 0 else "+" if signed and value > 0 else "") + text


def interval(low: float, high: float, *, signed: bool = False, undefined: str = "", minus: str = "-") -> str:
    """
    >>> interval(0.1, 0.25), interval(math.nan, math.nan)
    ('[0.1000, 0.2500]', '')
    """
    if math.isnan(low) or math.isnan(high):
        return undefined
    ends = (number(end, signed=signed, minus=minus) for end in (low, high))
    return f"[{', '.join(ends)}]"


def estimate(value: float, low: float, high: float, *, signed: bool = False) -> str:
    """A number with its interval behind it, where there is one.

    >>> estimate(0.5, 0.25, 0.75), estimate(0.5, math.nan, math.nan)
    ('0.5000 [0.2500, 0.7500]', '0.5000')
    """
    return f"{number(value, signed=signed)} {interval(low, high, signed=signed)}".rstrip()


def p_value(p: float) -> str:
    """Four decimals; a value that they would call 0 is said to be below the smallest.

    >>> p_value(0.03), p_value(1e-9)
    ('0.0300', '< 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else number(p)


def count_of(defined: int, queries: int, infinite: int = 0) -> str:
    """How many queries a value is over, of how many where some do not count, and how many are infinite.

    >>> count_of(44, 44), count_of(12, 44), count_of(12, 44, 30)
    ('44', '12/44', '12/44, 30 infinite')
    """
    count = str(queries) if defined == queries else f"{defined}/{queries}"
    return f"{count}, {infinite} infinite" if infinite else count


@dataclass(frozen=True)
class Value:
    """A number, or a name, with what belongs to it: its interval, and marks of a comparison."""

    value: float | str | None
    low: float = math.nan
    high: float = math.nan
    signed: bool = False  # a difference: positive ones have a plus
    best: bool = False  # of its measure
    raised: str = ""  # letters of the baselines that it beats
    lowered: str = ""  # letters of those that it loses to
    after: str = ""  # what follows it, as a share


@dataclass(frozen=True)
class Interval:
    """An interval in a cell of its own."""

    low: float
    high: float
    signed: bool = False


@dataclass(frozen=True)
class Column:
    """What stands above a column, and how its cells are laid out."""

    head: str
    right: bool = True  # numbers are aligned to the right, text to the left
    elastic: bool = False  # its text may be cut so that the table fits


@dataclass(frozen=True)
class _Style:
    """What differs between the layouts before cells become lines."""

    escape: Callable[[str], str] = printable
    undefined: str = UNDEFINED
    minus: str = "-"
    best: str = "%s"
    raised: str = " %s"
    lowered: str = " -%s"
    intervals: bool = True

    def cell(self, cell: Any) -> str:
        if isinstance(cell, str):
            return self.escape(cell)
        if isinstance(cell, bool):
            return "yes" if cell else ""
        if isinstance(cell, int):
            return f"{cell:,}"
        if isinstance(cell, Interval):
            return interval(
                cell.low, cell.high, signed=cell.signed, undefined=self.undefined, minus=self.minus
            )
        if isinstance(cell, Value):
            return self._value(cell)
        return number(cell, undefined=self.undefined, minus=self.minus)

    def _value(self, cell: Value) -> str:
        if isinstance(cell.value, str):
            text = self.escape(cell.value)
        else:
            text = number(cell.value, signed=cell.signed, undefined=self.undefined, minus=self.minus)
        text = self.best % text if cell.best else text
        text += self.raised % self.escape(cell.raised) if cell.raised else ""
        text += self.lowered % self.escape(cell.lowered) if cell.lowered else ""
        ends = interval(cell.low, cell.high, signed=cell.signed, minus=self.minus) if self.intervals else ""
        return " ".join(filter(None, (text, ends, self.escape(cell.after))))


_BOLD = "\x1b[1m%s\x1b[0m"
_LATEX = _Style(escape_latex, "--", "$-$", r"\textbf{%s}", r"\textsuperscript{%s}", r"\textsubscript{%s}")
_MARKDOWN = _Style(escape_markdown, best="**%s**", raised="<sup>%s</sup>", lowered="<sub>%s</sub>")
_HTML = _Style(escape_html, best="<b>%s</b>", raised="<sup>%s</sup>", lowered="<sub>%s</sub>")


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

    def _cells(self, style: _Style) -> list[list[str]]:
        """The head and the rows as text."""
        return [
            [style.escape(head) for head in self.head],
            *([style.cell(cell) for cell in row] for row in self.rows),
        ]

    def width(self, *, intervals: bool = True) -> int:
        """The columns of a terminal that the whole table takes."""
        return _total(_widths(self._cells(_Style(intervals=intervals))))

    def to_text(self, width: int | None = None, *, color: bool = False) -> str:
        """For a terminal of ``width`` columns: where they are too few, intervals behind values are left out
        and elastic columns are cut. ``color`` marks the head and the best values in bold."""
        limit = width or WIDTH
        style, said = _Style(), [*(self._legend() if color else ()), *self.notes]
        if width is not None and self.width() > limit >= self.width(intervals=False) - self._spare():
            style, said = replace(style, intervals=False), [NO_INTERVALS, *said]
        cells = self._cells(style)
        sizes = self._fitted(_widths(cells), limit)
        if width is not None and _total(sizes) > limit:
            said = [TOO_WIDE, *said]
        lines = [wrapped(self.title, limit)] if self.title else []
        strong = [[True] * len(self.columns), *([_is_best(cell) for cell in row] for row in self.rows)]
        for row, marks in zip(cells, strong, strict=True):
            lines.append(self._line(row, sizes, [color and mark for mark in marks]))
        return "\n".join([*lines, *(wrapped(note, limit) for note in said)])

    def marks_best(self) -> bool:
        return any(_is_best(cell) for row in self.rows for cell in row)

    def _legend(self) -> tuple[str, ...]:
        return (BEST,) if self.legend and self.marks_best() else ()

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
        sizes = _widths(self._cells(_Style()))
        return sum(
            max(0, size - _LEAST) for size, column in zip(sizes, self.columns, strict=True) if column.elastic
        )

    def _fitted(self, sizes: list[int], width: int) -> list[int]:
        over = _total(sizes) - width
        for place, column in enumerate(self.columns):
            if column.elastic and over > 0:
                cut = min(over, max(0, sizes[place] - _LEAST))
                sizes[place] -= cut
                over -= cut
        return sizes

    def to_markdown(self) -> str:
        head, *rows = self._cells(_MARKDOWN)
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
        head, *rows = (" & ".join(cells) + " \\\\\n" for cells in self._cells(_LATEX))
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

        head, *rows = self._cells(_HTML)
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


def as_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula: it gets an apostrophe, which reading takes off.

    >>> as_cell("=1+1"), as_cell("bm25")
    ("'=1+1", 'bm25')
    """
    return "'" + text if text.startswith(FORMULAS) else text


def of_cell(text: str) -> str:
    """What ``as_cell`` was given."""
    return text.removeprefix("'")


def exact(value: Any) -> str:
    """A value for a program: all digits of a number, and an empty cell where there is no value.

    >>> exact(0.1), exact(math.nan), exact(None), exact(True), exact("=1"), exact(-math.inf)
    ('0.1', '', '', 'true', "'=1", '-inf')
    """
    if isinstance(value, str):
        return as_cell(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, ReasonCounts):
        return str(sum(value.values()))
    return as_cell(json.dumps(value, ensure_ascii=False))


def delimited(records: Iterable[Record], delimiter: str, fields: Sequence[str] | None = None) -> str:
    """CSV or TSV with a head. Cells with a delimiter, a quote or a line end are quoted."""
    if fields is None:
        records = tuple(records)
        fields = list(dict.fromkeys(name for record in records for name in record))
    special = re.compile(f'[{delimiter}"\r\n]').search

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if special(text) else text

    lines = [fields, *([exact(record.get(name)) for name in fields] for record in records)]
    return "".join(delimiter.join(map(cell, line)) + "\n" for line in lines)


def json_number(value: float) -> float | str | None:
    """JSON has no NaN and no infinity: null, and a word."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def json_line(record: Record) -> str:
    try:
        return _JSON(record) + "\n"
    except (TypeError, ValueError):  # there is something in it that JSON has not
        return _JSON(plain(record)) + "\n"


def plain(value: Any) -> Any:
    """The same value in what JSON has: no NaN, no infinity, no tuple; a measure is its name."""
    if isinstance(value, float):
        return json_number(value)
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return repr(value) if isinstance(value, Term) else value


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

    ``width`` is that of a terminal: there heads and best values are bold, unless ``color`` or the variable
    NO_COLOR says otherwise.
    """
    marked = [place for place, table in enumerate(tables) if table.marks_best()]
    tables = [replace(table, legend=place in marked[-1:]) for place, table in enumerate(tables)]
    if form == "table":
        bold = width is not None and not os.environ.get("NO_COLOR") if color is None else color
        return "\n\n".join(table.to_text(width, color=bold) for table in tables) + "\n"
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
