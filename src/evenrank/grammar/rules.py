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


def rule(wording: str, accept: Callable[[Any], Any], *, optional: bool) -> ParameterRule:
    """A rule that takes None, too, where it is optional."""
    if not optional:
        return ParameterRule(wording, accept)
    return ParameterRule(f"{wording} or None", lambda value: None if value is None else accept(value))


def integer(at_least: int | None = None, *, optional: bool = False) -> ParameterRule:
    def accept(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST:
            return REFUSED
        return value if at_least is None or value >= at_least else REFUSED

    return rule("an integer" + ("" if at_least is None else f" >= {at_least}"), accept, optional=optional)


def number(
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
    optional: bool = False,
) -> ParameterRule:
    def accept(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return REFUSED
        if not abs(value) <= sys.float_info.max:  # an integer may be larger than any other number
            return REFUSED
        if value < low or value > high or (open_low and value == low) or (open_high and value == high):
            return REFUSED
        return float(value)

    left = "" if low == -math.inf else f" {'>' if open_low else '>='} {low:g}"
    right = "" if high == math.inf else f" {'<' if open_high else '<='} {high:g}"
    return rule("a number" + left + (" and" if left and right else "") + right, accept, optional=optional)


def grade(*, optional: bool = False) -> ParameterRule:
    """A grade of judgements: whole, as most are, or a fraction, as ratings have it."""

    def accept(value: Any) -> Any:
        if isinstance(value, float) and not value.is_integer() and math.isfinite(value) and value > 0:
            return value
        return integer(1).accept(value)

    return rule("an integer >= 1 or a fraction > 0", accept, optional=optional)


def choice(*options: str, optional: bool = False) -> ParameterRule:
    wording = "one of " + ", ".join(repr(option) for option in options)
    return rule(
        wording,
        lambda value: value if isinstance(value, str) and value in options else REFUSED,
        optional=optional,
    )


def flag(*, optional: bool = False) -> ParameterRule:
    return rule(
        "True or False", lambda value: value if isinstance(value, bool) else REFUSED, optional=optional
    )


def text(*, optional: bool = False) -> ParameterRule:
    return rule("a string", lambda value: value if isinstance(value, str) else REFUSED, optional=optional)
