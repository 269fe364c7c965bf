"""What stands in a table before it is text: values with their marks, columns, and styles that write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from evenrank.tables.numbers import UNDEFINED, interval, number
from evenrank.text import escape_html, escape_latex, escape_markdown, printable


class Tone(Enum):
    """What a cell is for the reader, which a terminal shows by a colour beside the word."""

    GOOD = "good"
    BAD = "bad"
    FAINT = "faint"


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
    tone: Tone | None = None  # of a verdict


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
    wraps: bool = False  # its text goes on in the next line so that the table fits


_TONES = {"better": Tone.GOOD, "worse": Tone.BAD}


def verdict_cell(verdict: str, shown: str = "") -> Value:
    """A verdict, coloured by whether it is better or worse.

    >>> verdict_cell("better").tone, verdict_cell("no difference shown").tone
    (<Tone.GOOD: 'good'>, None)
    """
    return Value(shown or verdict, tone=_TONES.get(verdict))


def is_undefined(cell: Any) -> bool:
    """Whether the cell has a number that is not defined."""
    value = cell.value if isinstance(cell, Value) else cell
    return isinstance(value, float) and math.isnan(value)


@dataclass(frozen=True)
class CellStyle:
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


TEXT = CellStyle()
LATEX = CellStyle(escape_latex, "--", "$-$", r"\textbf{%s}", r"\textsuperscript{%s}", r"\textsubscript{%s}")
MARKDOWN = CellStyle(escape_markdown, best="**%s**", raised="<sup>%s</sup>", lowered="<sub>%s</sub>")
HTML = CellStyle(escape_html, best="<b>%s</b>", raised="<sup>%s</sup>", lowered="<sub>%s</sub>")
