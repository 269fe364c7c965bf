"""What a parameter may be."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class ParameterRule:
    """What a parameter may be: how it reads in an error, and a function that accepts or refuses."""

    wording: str
    accept: Callable[[Any], Any]  # the value to keep, or REFUSED


REFUSED: Any = object()
LARGEST = 2**63 - 1


def integer(at_least: int | None = None, *, optional: bool = False) -> ParameterRule:
    def accept(value: Any) -> Any:
        if value is None and optional:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or (at_least is not None and value < at_least)
            or abs(value) > LARGEST
        ):
            return REFUSED
        return value

    wording = "an integer" if at_least is None else f"an integer >= {at_least}"
    return ParameterRule(wording + (" or None" if optional else ""), accept)


def number(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
    optional: bool = False,
) -> ParameterRule:
    def accept(value: Any) -> Any:
        if value is None and optional:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return REFUSED
        if not abs(value) <= sys.float_info.max:  # an integer may be larger than any other number
            return REFUSED
        if value < low or value > high or (open_low and value == low) or (open_high and value == high):
            return REFUSED
        return float(value)

    left = "" if low == -math.inf else f" {'>' if open_low else '>='} {low:g}"
    right = "" if high == math.inf else f" {'<' if open_high else '<='} {high:g}"
    wording = "a number" + left + (" and" if left and right else "") + right
    return ParameterRule(wording + (" or None" if optional else ""), accept)


def grade(*, optional: bool = False) -> ParameterRule:
    """A grade of judgements: whole, as most are, or a fraction, as ratings have it."""

    def accept(value: Any) -> Any:
        if value is None and optional:
            return None
        if isinstance(value, float) and not value.is_integer() and math.isfinite(value) and value > 0:
            return value
        return integer(1).accept(value)

    return ParameterRule("an integer >= 1 or a fraction > 0" + (" or None" if optional else ""), accept)


def choice(*options: str, optional: bool = False) -> ParameterRule:
    def accept(value: Any) -> Any:
        if value is None and optional:
            return None
        return value if isinstance(value, str) and value in options else REFUSED

    wording = "one of " + ", ".join(repr(option) for option in options)
    return ParameterRule(wording + (" or None" if optional else ""), accept)


def flag(*, optional: bool = False) -> ParameterRule:
    def accept(value: Any) -> Any:
        return value if isinstance(value, bool) or (value is None and optional) else REFUSED

    return ParameterRule("True or False" + (" or None" if optional else ""), accept)


def text(*, optional: bool = False) -> ParameterRule:
    def accept(value: Any) -> Any:
        return value if isinstance(value, str) or (value is None and optional) else REFUSED

    return ParameterRule("a string" + (" or None" if optional else ""), accept)
