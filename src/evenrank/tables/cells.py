"""What stands in a table before it is text: numbers and values with their marks, columns, and the styles that
write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from evenrank.text import escape_html, escape_latex, escape_markdown, printable

UNDEFINED = "undefined"


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


def count_of(defined: int, queries: int, infinite: int = 0, unlabelled: int = 0) -> str:
    """How many queries a value is over, of how many where some do not count, how many are infinite, and how
    many lists count although none of their documents has a label.

    >>> count_of(44, 44), count_of(12, 44), count_of(12, 44, 30), count_of(44, 44, 0, 3)
    ('44', '12/44', '12/44, 30 infinite', '44, 3 without a label')
    """
    count = str(queries) if defined == queries else f"{defined}/{queries}"
    count += f", {infinite} infinite" if infinite else ""
    return count + (f", {unlabelled} without a label" if unlabelled else "")


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
    wraps: bool = False  # its text goes on in the next line so that the table fits


_TONES = {"better": Tone.GOOD, "worse": Tone.BAD}


def verdict_cell(verdict: str, shown: str = "") -> Value:
    """A verdict, coloured by whether it is better or worse.

    >>> verdict_cell("better").tone, verdict_cell("no difference shown").tone
    (<Tone.GOOD: 'good'>, None)
    """
    return Value(shown or verdict, tone=_TONES.get(verdict))


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
