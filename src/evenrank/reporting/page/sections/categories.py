"""The values by category of query, where queries have categories."""

from __future__ import annotations

from evenrank.reporting.page import safe
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import ReportData
from evenrank.tables import interval, number


@section(25)
def categories_section(material: ReportData) -> Section | None:
    """A row for each run, category and measure."""
    if material.inputs is None or material.inputs.categories is None:
        return None
    scores = material.scores.by(material.inputs.categories)
    rows = [
        (
            safe.name(row.run),
            safe.name(scores.names.heading(row.measure, row.column, row.direction)),
            number(row.value),
            interval(row.low, row.high),
            row.over,
        )
        for row in scores.summary()
    ]
    return Section("categories", "By category of query", render("categories.html", rows=rows))
