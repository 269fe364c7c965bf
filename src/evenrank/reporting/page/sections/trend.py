"""How shares changed from audit to audit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenrank.reporting.figures.trend import trend_figure
from evenrank.reporting.page import safe
from evenrank.reporting.page.charts import Chart, chart_of
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import ReportData
from evenrank.verdict import GroupFinding, Verdict
from evenrank.verdict.sentences import percent

CHARTS = 4  # attributes that have a figure; the table has all
AUDITS = 24  # the last that are shown

Points = Sequence[tuple[str, Verdict]]


@section(7)
def trend_section(material: ReportData) -> Section | None:
    series = trends(material)
    if not series:
        return None
    charts: list[Chart] = []
    for (system, attribute), points in list(series.items())[:CHARTS]:
        label = (
            f"Shares of the groups of {safe.name(attribute)} by date, {safe.name(system)}. "
            f"{describe_trend(points)}"
        )
        charts.append(chart_of(trend_figure(points), label, narrow=trend_figure(points, narrow=True)))
    rows = [
        (date, safe.name(f"{system}: {attribute}"), *cells)
        for (system, attribute), points in series.items()
        for date, verdict in points
        for cells in group_cells(verdict)
    ]
    body = render("trend.html", charts=charts, lead="", rows=rows)
    return Section("trend", "Over time", body, charts=charts)


def describe_trend(points: Points) -> str:
    """Where the shares of groups began and where they are now, for those who do not see the figure."""
    (first, then), (last, now) = points[0], points[-1]
    before = {group.value: group.share for group in then.groups}
    moved = [
        f"{safe.name(group.value)} from {percent(before[group.value])} to {percent(group.share)}"
        for group in now.groups
        if not math.isnan(group.share) and not math.isnan(before.get(group.value, math.nan))
    ]
    return f"From {first} to {last}: {', '.join(moved)}."


def trends(material: ReportData) -> dict[tuple[str, str], Points]:
    """For each system and attribute its verdicts by date, where there are two or more.

    Only audits with the same target and the same number of places compare.
    """
    found: dict[tuple[str, str], Points] = {}
    for latest in material.verdicts or ():
        key = (latest.system, latest.attribute)
        points = [
            (date, verdict)
            for date, verdicts in material.history[-AUDITS:]
            for verdict in verdicts
            if (verdict.system, verdict.attribute) == key
            and (verdict.target, verdict.cutoff) == (latest.target, latest.cutoff)
        ]
        if len(points) > 1:
            found[key] = points
    return found


def group_cells(verdict: Verdict) -> list[tuple[str, str, str, str]]:
    """For every group that has a share: its name, the share with the interval, the target, the decision."""
    return [
        (safe.name(group.value), _share(group), percent(group.target), group.decision)
        for group in verdict.groups
        if not math.isnan(group.share)
    ]


def _share(group: GroupFinding) -> str:
    if math.isnan(group.share_low):
        return percent(group.share)
    return f"{percent(group.share)} ({percent(group.share_low)} to {percent(group.share_high)})"
