"""The table of one measure: values with intervals, and what is shown against the baselines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evenrank.comparison.measure_table import MeasureTable
from evenrank.measures import Direction
from evenrank.reporting.page import safe
from evenrank.reporting.page.report_data import ReportData, best_first
from evenrank.scores.names import arrow
from evenrank.tables import number, p_value

if TYPE_CHECKING:
    from evenrank.comparison import Pair
    from evenrank.scores.scores import SummaryRow

WIDTH = 132.0  # of the drawing of intervals
EDGE = 6.0
MARKED = {"better": "+ better", "worse": "− worse", "differs": "≠ differs", "": "no difference shown"}


@dataclass(frozen=True)
class Against:
    """A system beside one baseline, in words."""

    baseline: str
    difference: str
    interval: str
    p: str
    verdict: str
    kind: str  # better, worse, differs, or nothing
    outcomes: str
    note: str  # where the interval and the corrected p seem to contradict each other


@dataclass(frozen=True)
class SystemRow:
    system: str
    baseline: bool
    value: str
    interval: str
    queries: str
    against: Sequence[Against] = ()
    places: dict[str, float] = field(default_factory=dict)  # of value and interval in the drawing


@dataclass(frozen=True)
class SystemTable:
    name: str
    arrow: str
    direction: str
    meaning: str
    rows: Sequence[SystemRow]
    compared: bool


def table_of(material: ReportData, table: MeasureTable) -> SystemTable:
    summary = {
        row.run: row
        for row in material.scores.summary()
        if row.measure == repr(table.measure) and row.column == table.column
    }
    order = sorted(
        summary.values(),
        key=lambda row: (
            math.isnan(row.value),
            best_first(table, row.value) if row.value == row.value else 0,
        ),
    )
    reach = reach_of(order)
    pairs = pairs_of(material, table)
    return SystemTable(
        name=safe.name(table.shown),
        arrow=arrow(table.measure.direction.value),
        direction=table.measure.direction.value,
        meaning=type(table.measure).summary(),
        rows=[_row(material, table, row, reach, pairs.get(row.run, [])) for row in order],
        compared=bool(pairs),
    )


def pairs_of(material: ReportData, table: MeasureTable) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    if material.comparison is not None:
        for pair in material.comparison.pairs:
            if pair.measure == table.name:
                found.setdefault(pair.system, []).append(pair)
    return found


def _row(
    material: ReportData,
    table: MeasureTable,
    row: SummaryRow,
    reach: tuple[float, float],
    pairs: Sequence[Pair],
) -> SystemRow:
    known = math.isfinite(row.low) and math.isfinite(row.high)
    return SystemRow(
        system=safe.name(row.run),
        baseline=material.comparison is not None and row.run in material.comparison.baselines,
        value=number(row.value),
        interval=f"{number(row.low)} to {number(row.high)}" if known else "",
        queries=str(row.queries) if row.defined == row.queries else f"{row.defined} of {row.queries}",
        against=[_against(table, pair) for pair in pairs],
        places=places_of(row, reach),
    )


def _against(table: MeasureTable, pair: Pair) -> Against:
    known = math.isfinite(pair.low) and math.isfinite(pair.high)
    return Against(
        baseline=safe.name(pair.baseline),
        difference=number(pair.difference, signed=True),
        interval=f"{number(pair.low, signed=True)} to {number(pair.high, signed=True)}" if known else "",
        p="" if math.isnan(pair.corrected) else shown_p(pair.corrected),
        verdict=verdict(pair),
        kind=pair.verdict,
        outcomes=f"{pair.outcomes[0]} / {pair.outcomes[1]} / {pair.outcomes[2]}" if table.has_better else "",
        note=contradiction(pair),
    )


def marked(pair: Pair, alpha: float) -> str:
    """What is shown of a pair; where only the correction for all comparisons undoes it, that is said."""
    if pair.reason is not None:
        return "not tested"
    if not pair.verdict and pair.p_value < alpha:
        return "no difference shown once corrected"
    return MARKED[pair.verdict]


def contradiction(pair: Pair) -> str:
    """Why the interval of a difference excludes 0 and nothing is shown, or the other way round.

    The interval is that of one comparison alone; p is corrected for all comparisons of the measure.
    """
    if pair.reason is not None or not (math.isfinite(pair.low) and math.isfinite(pair.high)):
        return ""
    excludes = pair.low > 0 or pair.high < 0
    if excludes and not pair.verdict:
        return "the interval is of this comparison alone; corrected for all of them nothing is shown"
    if pair.verdict and not excludes:
        return f"the interval includes 0, and the {pair.test} test shows a difference: read it as borderline"
    return ""


def shown_p(p: float) -> str:
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def verdict(pair: Pair) -> str:
    if pair.reason is not None:
        return safe.name(pair.reason)
    return MARKED[pair.verdict]


def reach_of(rows: Sequence[SummaryRow]) -> tuple[float, float]:
    ends = [end for row in rows for end in (row.value, row.low, row.high) if math.isfinite(end)]
    if rows and rows[0].direction == Direction.SIGNED.value:
        ends.append(0.0)
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def places_of(
    row: SummaryRow, reach: tuple[float, float], width: float = WIDTH, edge: float = EDGE
) -> dict[str, float]:
    """Where value and interval lie in the drawing, in pixels; nothing where there is none."""
    low, high = reach
    size = (high - low) or 1.0

    def at(value: float) -> float:
        return round(edge + (width - 2 * edge) * (value - low) / size, 1)

    places = {
        name: at(getattr(row, name)) for name in ("value", "low", "high") if math.isfinite(getattr(row, name))
    }
    if row.direction == Direction.SIGNED.value:
        places["zero"] = at(0.0)
    return places
