"""How values depend on how far down one looks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenrank.errors import ParameterError
from evenrank.measures import Measure
from evenrank.reporting.figures.cutoffs import cutoff_figure
from evenrank.reporting.page import safe
from evenrank.reporting.page.charts import Chart, chart_of
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import ReportData, best_first
from evenrank.scores import Scores
from evenrank.scores.cutoff_series import Point, points_of, without_cutoff
from evenrank.tables import number

PANELS = 6
LINES = 7  # in one panel
LEGEND = {"columns": 2, "labelLimit": 130, "labelFontSize": 11, "symbolSize": 60, "columnPadding": 20}


@section(40)
def cutoffs_section(material: ReportData) -> Section | None:
    kept = drawn(material)
    charts = list(_charts(curves(material), kept))
    if not charts:
        return None
    left = len(material.systems) - len(kept)
    lead = (
        f"{len(kept)} of {len(material.systems)} systems are drawn: the baseline, the one shown first, the "
        f"best and the worst by {safe.name(material.main.shown)}, and some between them."
    )
    body = render("figures.html", charts=charts, lead=lead if left else "")
    return Section("cutoffs", "Cut-off curves", body, charts=charts)


def drawn(material: ReportData) -> tuple[str, ...]:
    """So many systems that their lines can be told apart."""
    if len(material.systems) <= LINES:
        return material.systems
    rows = [
        row
        for row in material.scores.summary()
        if (row.measure, row.column) == (repr(material.main.measure), material.main.column)
        and math.isfinite(row.value)
    ]
    ranked = [row.run for row in sorted(rows, key=lambda row: best_first(material.main, row.value))]
    kept = dict.fromkeys(filter(None, (material.baseline, material.system)))
    spots = LINES - len(kept)
    for step in range(spots if ranked else 0):
        kept[ranked[round(step * (len(ranked) - 1) / (spots - 1))]] = None
    return tuple(system for system in material.systems if system in kept)


def curves(material: ReportData) -> Scores:
    """The scores at several cut-offs, those of the main measure first."""
    scores = material.scores if material.curves is None else material.curves
    panels = [found[0] for table in material.tables if (found := without_cutoff(table.measure)) is not None]
    place = {name: spot for spot, name in reversed(list(enumerate(panels)))}

    def spot(measure: Measure) -> int:
        found = without_cutoff(measure)
        return len(panels) if found is None else place.get(found[0], len(panels))

    blocks = sorted(scores.blocks, key=lambda block: spot(block.measure))
    return replace(scores, blocks=tuple(blocks), labels=material.scores.labels)


def _charts(scores: Scores, systems: Sequence[str]) -> Iterator[Chart]:
    """One panel each, so that they stand beside each other where there is room and below where not."""
    by_panel: dict[str, set[Measure]] = {}
    for block in scores.blocks:
        found = without_cutoff(block.measure)
        if found is not None and len(block.columns) == 1:
            by_panel.setdefault(found[0], set()).add(block.measure)
    for name, measures in list(by_panel.items())[:PANELS]:
        if len(measures) < 2:
            continue
        blocks = tuple(b for b in scores.blocks if b.measure in measures and b.run in systems)
        own = replace(scores, blocks=blocks)
        try:
            figure = cutoff_figure(own)
        except ParameterError:
            continue
        label = (
            f"Lines of {safe.name(name)} by cut-off, one for each system, with 95% intervals. "
            f"{describe_curves(own)}"
        ).rstrip()
        yield chart_of(figure, label, **LEGEND)


def describe_curves(scores: Scores) -> str:
    """From which value to which every line leads, for those who do not see it."""
    lines: dict[str, list[Point]] = {}
    for point in points_of(scores):
        if math.isfinite(point.value):
            lines.setdefault(point.run, []).append(point)
    said = []
    for run, points in lines.items():
        first, last = (choose(points, key=lambda point: point.cutoff) for choose in (min, max))
        ends = (f"{number(point.value)} at {point.cutoff}" for point in (first, last))
        said.append(f"{safe.name(run)}: {', '.join(ends)}")
    return f"{'; '.join(said)}." if said else ""
