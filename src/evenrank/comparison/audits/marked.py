"""Cells of audit tables: a value with its interval, best and worst by direction, and why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evenrank.comparison.audits.audited import FEWEST, Audited, SystemEstimate
from evenrank.measures import Direction, Measure
from evenrank.tables import Column, Value, number

NOT_HERE = "n/a"
EQUAL = 1e-12
NO_CLASS = "no class"
MARKS = "best and worst: of the systems in this column, by the direction of the measure"


class Footnotes:
    """Why cells have no value: each reason once, with its number."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    def cell(self, reason: str) -> Value:
        if reason not in self._reasons:
            self._reasons.append(reason)
        return Value(NOT_HERE, raised=str(self._reasons.index(reason) + 1))

    def notes(self) -> list[str]:
        return [f"{NOT_HERE} {number}: {reason}" for number, reason in enumerate(self._reasons, 1)]


def is_lower_better(measure: Measure) -> bool | None:
    """None where no value is better than another."""
    if measure.direction not in (Direction.HIGHER, Direction.LOWER):
        return None
    return measure.direction is Direction.LOWER


def marked_column(
    measure: Measure, found: Sequence[SystemEstimate], footnotes: Footnotes, *, intervals: bool = True
) -> list[Value]:
    """The cells of a column, best and worst marked where at least two systems differ; a system with fewer
    queries than others says how many."""
    most = max((one.queries for one in found), default=0)
    fewest = min(FEWEST, most)  # a value of fewer queries is of other queries, and no best one
    known = [
        one.value for one in found if not one.reason and math.isfinite(one.value) and one.queries >= fewest
    ]
    lower = is_lower_better(measure)
    top = bottom = math.nan
    if lower is not None and len(known) > 1 and max(known) - min(known) > EQUAL:
        top, bottom = (min(known), max(known)) if lower else (max(known), min(known))
    cells = []
    for one in found:
        if one.reason:
            cells.append(footnotes.cell(one.reason))
            continue
        best, worst = (one.queries >= fewest and abs(one.value - end) <= EQUAL for end in (top, bottom))
        shown = intervals and one.queries >= FEWEST
        spread = f"sd {number(one.spread)}" if one.seeds > 1 else ""
        fewer = f"n={one.queries}" if one.queries < most else ""
        cells.append(
            Value(
                one.value,
                one.low if shown else math.nan,
                one.high if shown else math.nan,
                best=best,
                raised="best" if best else "worst" if worst else "",
                after=" ".join(filter(None, (spread, fewer))),
            )
        )
    return cells


def system_heads(audited: Audited) -> list[Column]:
    heads = [Column("class", right=False)] if audited.has_classes else []
    return [*heads, Column("system", right=False)]


def system_cells(audited: Audited) -> list[list[Any]]:
    """The first cells of every row: the class, once for the systems that follow each other, and the name."""
    rows: list[list[Any]] = []
    before = None
    for one in audited.systems:
        kind = one.system_class or NO_CLASS  # blank means: as above
        shown = kind if kind != before else ""
        before = kind
        rows.append([shown, one.system] if audited.has_classes else [one.system])
    return rows


def seed_note(audited: Audited, *, spread: bool = True) -> list[str]:
    if not audited.several_seeds:
        return []
    note = "a system with several runs (seeds) has the mean of their values for every query"
    return [f"{note}; sd is the standard deviation of its value over the seeds" if spread else note]
