"""Templates filled in, with everything escaped, and the sections that a page is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from evenrank.errors import MissingExtraError
from evenrank.report.page import safe
from evenrank.report.page.charts import Chart

FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Section:
    """One part of the page. ``body`` is markup that ``render`` gave: nothing else may stand there."""

    key: str
    title: str
    body: Any
    charts: Sequence[Chart] = ()
    data: Any = None  # for the script


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError.for_job("the report", "Jinja2", "report") from None
    # by default Jinja escapes nothing, and nothing in files that are not called .html
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["name"] = safe.name
    made.filters["prose"] = safe.prose
    return made


def render(template: str, **values: Any) -> Any:
    """A template with these values, as markup that is not escaped again."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(**values))


def trusted(text: str) -> Any:
    """Our own script and style, and data that ``safe.script_json`` wrote: as they are."""
    from markupsafe import Markup

    return Markup(text)


@cache
def asset(file: str) -> str:
    """A script or a style of ours."""
    return (FOLDER / file).read_text(encoding="utf-8")
