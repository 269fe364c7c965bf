"""One measure against another: does what is fair cost relevance?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenrank.errors import ParameterError
from evenrank.reporting.figures.bars import bars_figure
from evenrank.reporting.figures.scatter import scatter_figure
from evenrank.reporting.page import safe
from evenrank.reporting.page.charts import Chart, chart_of
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import FAIRNESS, ReportData, best_first
from evenrank.tables import number

OTHER = ("relevance", "diversity", "delegated", "combined")


@section(30)
def tradeoff_section(material: ReportData) -> Section | None:
    chart = _plane(material) or _bars(material)
    if chart is None:
        return None
    crossed = len(material.systems) > 1
    title = "Trade-off" if crossed else "Query by query"
    return Section("tradeoff", title, render("figures.html", charts=[chart], lead=""), charts=[chart])


def _pair(material: ReportData) -> tuple[str, str] | None:
    """Across what is not about fairness, if there is any, and up the main measure."""
    main, rest = material.tables[0], material.tables[1:]
    if not rest:
        return None
    families = [{part.family for part in table.measure.parts()} for table in rest]
    others = [table for table, found in zip(rest, families, strict=True) if not found & set(FAIRNESS)]
    across = (others or list(rest))[0]
    return across.shown, main.shown


def _plane(material: ReportData) -> Chart | None:
    pair = _pair(material)
    if pair is None:
        return None
    run = None if len(material.systems) > 1 else material.systems[0]
    texts = material.query_texts if run is not None else None
    try:
        figure, narrow = (
            scatter_figure(material.scores, *pair, run=run, narrow=small, texts=texts)
            for small in (False, True)
        )
    except ParameterError:  # no point has both values
        return None
    x, y = map(safe.name, pair)
    what = "one point for each system" if run is None else "one point for each query"
    finding = describe_best(material, pair) if run is None else ""
    label = f"Scatter plot of {y} against {x}, {what}. {finding}The table of systems has the values."
    return chart_of(figure, label, narrow=narrow)


def describe_best(material: ReportData, shown: Sequence[str]) -> str:
    """Which system is best by each of these measures, for those who do not see the figure: one that reads
    the judgements is a bound, and no choice."""
    said = []
    for name in shown:
        table = next(table for table in material.tables if table.shown == name)
        rows = [
            row
            for row in material.scores.summary()
            if (row.measure, row.column) == (repr(table.measure), table.column)
            and math.isfinite(row.value)
            and row.run not in material.scores.informed
        ]
        if rows and table.has_better:
            best = min(rows, key=lambda row: best_first(table, row.value))
            said.append(f"{safe.name(best.run)} is best by {safe.name(name)} with {number(best.value)}")
    return f"{'; '.join(said)}. " if said else ""


def _bars(material: ReportData) -> Chart | None:
    name = material.main.shown
    by_query = len(material.systems) == 1
    try:
        figure = bars_figure(material.scores, name, by_query=by_query, texts=material.query_texts)
    except ParameterError:  # nothing has a value
        return None
    what = "a bar a query" if by_query else "one bar for each system, with 95% intervals"
    finding = "" if by_query else describe_best(material, [name])
    return chart_of(figure, f"Bars of {safe.name(name)}, {what}. {finding}".rstrip())
