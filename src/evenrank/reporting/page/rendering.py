"""Templates filled in, with everything escaped, and the sections that a page is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import MissingExtraError
from evenrank.reporting.page import safe
from evenrank.reporting.page.charts import Chart

if TYPE_CHECKING:
    from evenrank.reporting.page.report_data import ReportData

FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Section:
    """One part of the page. ``body`` is markup that ``render`` gave: nothing else may stand there."""

    key: str
    title: str
    body: Any
    charts: Sequence[Chart] = ()
    data: Any = None  # for the script
    named_data: tuple[str, Any] | None = None  # the same under an id of its own
    parts: Sequence[tuple[str, str]] = ()  # packed, for the script: what they hold, and the packed text


MakeSection = Callable[["ReportData"], Section | None]
_SECTIONS: dict[str, tuple[int, MakeSection]] = {}  # by the name of the function


def section(place: int) -> Callable[[MakeSection], MakeSection]:
    """Declare a function that makes a section of the page, or None where it has nothing to show.

    Sections stand in the order of ``place``; ours are ten apart, so that others fit between them.
    """

    def declare(make: MakeSection) -> MakeSection:
        _SECTIONS[make.__name__] = (place, make)
        return make

    return declare


def all_sections() -> list[MakeSection]:
    return [make for _, make in sorted(_SECTIONS.values(), key=lambda entry: entry[0])]


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
