"""Numbers as people read them: one format for values, intervals, p-values and counts."""

from __future__ import annotations

import math

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
