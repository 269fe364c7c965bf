"""How values depend on how far down one looks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenrank.errors import EvenrankError, ParameterError
from evenrank.evaluation import evaluate
from evenrank.measures import Measure
from evenrank.report.figures.cutoff_series import points_of, without_cutoff
from evenrank.report.figures.cutoffs import cutoff_figure
from evenrank.report.page import safe
from evenrank.report.page.charts import Chart, chart_of
from evenrank.report.page.rendering import Section, render, section
from evenrank.report.page.report_data import ReportData, best_first
from evenrank.scores import Scores

STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
PANELS = 6
LINES = 7  # in one panel
LEGEND = {"columns": 2, "labelLimit": 130, "labelFontSize": 11, "symbolSize": 60}


@section(40)
def cutoffs_section(material: ReportData) -> Section | None:
    kept = drawn(material)
    charts = list(_charts(curves(material), kept))
    if not charts:
        return None
    left = len(material.systems) - len(kept)
    lead = (
        f"{len(kept)} of {len(material.systems)} systems are drawn: the baseline, the one shown first, the "
        "best, the worst, and some between them."
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
    """The scores at several cut-offs: those that were evaluated, or the measures evaluated again, at no
    greater depth than before unless somebody says so: nothing is known of the documents below."""
    panels: dict[str, set[int]] = {}
    for point in points_of(material.scores):
        panels.setdefault(point.panel, set()).add(point.cutoff)
    if not material.runs or (material.cutoffs is None and any(len(found) > 1 for found in panels.values())):
        return material.scores
    wanted = [measure for table in material.tables for measure in _at_steps(material, table.measure)]
    if not wanted or material.inputs is None:
        return material.scores
    try:
        found = evaluate(material.inputs.with_runs(dict(material.runs)), list(dict.fromkeys(wanted)))
        return replace(found, labels=material.scores.labels)
    except EvenrankError:
        if material.cutoffs is not None:
            raise
        return material.scores  # a measure that cannot be looked at from above has no curve


def _at_steps(material: ReportData, measure: Measure) -> list[Measure]:
    found = without_cutoff(measure)
    if found is None:
        return []
    if material.cutoffs is not None:
        return [measure @ depth for depth in material.cutoffs]
    return [measure @ depth for depth in sorted({*(step for step in STEPS if step < found[1]), found[1]})]


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
        label = f"Lines of {safe.name(name)} by cut-off, one for each system, with 95% intervals."
        yield chart_of(figure, label, **LEGEND)
