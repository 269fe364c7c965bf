"""The analysis of a study as one HTML page that loads nothing."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenrank.errors import MissingExtraError
from evenrank.io.atomic import atomic_write
from evenrank.reporting.figures.files import save_figure
from evenrank.study.analysis import StudyAnalysis
from evenrank.study.figures import flow_figure, shifts_figure, slopes_figure
from evenrank.study.settings import StudySettings
from evenrank.tables import Table

HERE = Path(__file__).parent


def write_analysis(
    found: StudyAnalysis, tables: Sequence[Table], settings: StudySettings, path: str | Path
) -> None:
    """Tables and figures; the figures are images, and every text is escaped."""
    try:
        from markupsafe import Markup

        from evenrank.web.pages import Pages

        pages = Pages([HERE / "templates"])
    except ImportError:
        raise MissingExtraError.for_job("the page of an analysis", "Jinja2", "report") from None
    drawn = [("Flow of participants", flow_figure(found))]
    if any(row.answered for row in found.conditions):
        drawn.append(("Change of opinion by condition", shifts_figure(found)))
    if any(effect.published.undefined is None for effect in found.effects):
        drawn.append(("Effect of signed DUO, with both kinds of intervals", slopes_figure(found)))
    body = pages.render(
        "analysis.html",
        title=settings.title,
        version=settings.version,
        figures=[(name, _image(chart)) for name, chart in drawn],
        tables=[Markup(table.to_html()) for table in tables],  # to_html escapes its cells
        language="en",
    )
    with atomic_write(path) as file:
        file.write(body.encode())


def _image(chart: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        save_figure(chart, path)
        return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode()
