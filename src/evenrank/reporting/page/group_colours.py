"""The colour and the sign of every group: the same in texts, bars, lists and figures.

Colours belong to groups, never to good and bad. Values that stand for no group are grey.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenrank.reporting.figures.style import GROUP_COLOURS, group_places
from evenrank.reporting.page import safe

MARKS = ("▲", "●", "■", "◆", "★", "✚")  # groups, told apart without colour
NO_MARK = "○"


@dataclass(frozen=True)
class GroupLook:
    """``style`` is the class of its colour in the page: g0 to g5, or gn for what is no group."""

    label: str
    style: str
    mark: str


def mark_of(group: int) -> str:
    return MARKS[group % len(MARKS)] + (str(group // len(MARKS) + 1) if group >= len(MARKS) else "")


def looks_of(values: Sequence[str]) -> dict[str, GroupLook]:
    """
    >>> [(look.style, look.mark) for look in looks_of(["female", "neutral", "male"]).values()]
    [('g0', '▲'), ('gn', '○'), ('g1', '●')]
    """
    return {
        value: GroupLook(safe.name(value), "gn", NO_MARK)
        if place is None
        else GroupLook(safe.name(value), f"g{place % len(GROUP_COLOURS)}", mark_of(place))
        for value, place in zip(values, group_places(values), strict=True)
    }
