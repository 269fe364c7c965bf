"""Systems beside measures: one small table with an axis for every column, and every detail folded below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from evenrank.comparison.measure_table import MeasureTable
from evenrank.measures.group_share import GroupShare
from evenrank.reporting.page import safe
from evenrank.reporting.page.measure_pictures import MeasurePicture, picture_of
from evenrank.reporting.page.readable import readable
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import TABLES, ReportData, best_first
from evenrank.reporting.page.system_tables import (
    EDGE,
    marked,
    pairs_of,
    places_of,
    reach_of,
    table_of,
)
from evenrank.scores.names import arrow
from evenrank.scores.scores import SummaryRow
from evenrank.tables import number

COLUMNS = 8  # of the small table; all measures are in the details
WIDTH = 120.0
OF_ITSELF = "intervals of one share each; those above hold for all groups together, and are wider"
DIRECTIONS = {"↑": "more is better", "↓": "less is better"}


@dataclass(frozen=True)
class MatrixColumn:
    name: str
    readable: str
    arrow: str
    direction: str
    meaning: str
    picture: MeasurePicture | None  # two small lists: what is bad and what is good
    remark: str  # why the column's intervals are not those of the card


@dataclass(frozen=True)
class MatrixCell:
    value: str
    interval: str
    mark: str  # better, worse, differs, no difference shown, or nothing
    kind: str
    places: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class MatrixRow:
    system: str
    baseline: bool
    order: str  # the place of the system by each column, best first, with blanks between
    cells: Sequence[MatrixCell]


@section(20)
def systems_section(material: ReportData) -> Section:
    tables = material.shown_tables[:COLUMNS]
    found = [_column_of(material, table) for table in tables]
    rows = _rows(material, found)
    several = len(material.systems) > 1
    body = render(
        "matrix.html",
        columns=[_heading(table) for table in tables],
        rows=rows,
        width=int(WIDTH),
        comparison=material.comparison,
        compared=len(material.systems) - 1,
        tables=[table_of(material, table) for table in material.shown_tables],
        left=max(0, len(material.tables) - TABLES),
        more=max(0, len(material.tables) - COLUMNS),
    )
    return Section("systems", "Systems and measures" if several else "Measures", body)


def _heading(table: MeasureTable) -> MatrixColumn:
    sign = arrow(table.measure.direction.value)
    return MatrixColumn(
        name=safe.name(table.shown),
        readable=readable(table.measure),
        arrow=sign,
        direction=DIRECTIONS.get(sign, table.measure.direction.value.partition(":")[0]),
        meaning=type(table.measure).summary(),
        picture=picture_of(table.measure),
        remark=OF_ITSELF if isinstance(table.measure, GroupShare) else "",
    )


def _column_of(material: ReportData, table: MeasureTable) -> tuple[dict[str, MatrixCell], dict[str, int]]:
    """The cells of a column by system, and the place of each system in it, best first."""
    summary = {
        row.run: row
        for row in material.scores.summary()
        if row.measure == repr(table.measure) and row.column == table.column
    }
    reach = reach_of(list(summary.values()))
    base = summary.get(material.baseline or "")
    pairs = pairs_of(material, table)
    cells = {}
    for system, row in summary.items():
        pair = next((pair for pair in pairs.get(system, ()) if pair.baseline == material.baseline), None)
        kind = "" if pair is None or pair.reason is not None else pair.verdict
        mark = "" if pair is None else marked(pair, material.alpha)
        known = math.isfinite(row.low) and math.isfinite(row.high)
        places = places_of(row, reach, WIDTH, EDGE)
        if base is not None and math.isfinite(base.value):
            places["base"] = places_of(base, reach, WIDTH, EDGE)["value"]
        interval = f"{number(row.low)} to {number(row.high)}" if known else ""
        cells[system] = MatrixCell(number(row.value), interval, mark, kind, places)
    order = sorted(summary.values(), key=lambda row: _place(table, row))
    return cells, {row.run: place for place, row in enumerate(order)}


def _place(table: MeasureTable, row: SummaryRow) -> tuple[bool, float]:
    return math.isnan(row.value), 0.0 if math.isnan(row.value) else best_first(table, row.value)


def _rows(
    material: ReportData, found: Sequence[tuple[dict[str, MatrixCell], dict[str, int]]]
) -> list[MatrixRow]:
    none = MatrixCell(number(math.nan), "", "", "")
    first = found[0][1]
    systems = sorted(material.systems, key=lambda system: first.get(system, len(first)))
    return [
        MatrixRow(
            system=safe.name(system),
            baseline=material.comparison is not None and system in material.comparison.baselines,
            order=" ".join(str(places.get(system, len(places))) for _, places in found),
            cells=[cells.get(system, none) for cells, _ in found],
        )
        for system in systems
    ]
