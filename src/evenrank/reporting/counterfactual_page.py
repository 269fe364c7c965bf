"""A page of lists before and after a swap, side by side, the swapped words marked. No script runs in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from evenrank.io.atomic import atomic_write
from evenrank.reporting.page import safe
from evenrank.reporting.page.rendering import Section, asset, render, trusted

TITLE = "Lists before and after the swap"
POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {styles}"
STYLE = """
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.5rem; }
.sides ol { padding-left: 1.8rem; margin: 0; }
.sides li { margin: 0 0 .75rem; }
.sides .text { display: block; font-size: .875rem; }
.moved { font-weight: 600; }
mark { background: #ffe28a; color: inherit; padding: 0 .1em; border-radius: .15em; }
@media (max-width: 40rem) { .sides { grid-template-columns: 1fr; } }
"""


def write_page(path: str | PathLike[str], sheets: Sequence[Mapping[str, Any]], title: str = TITLE) -> None:
    """Write the page of these sheets, one a system and kind of swap (see ``counterfactuals.lists``)."""
    page = page_of(sheets, title)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8", "replace"))


def page_of(sheets: Sequence[Mapping[str, Any]], title: str = TITLE) -> str:
    from evenrank._version import __version__

    style = asset("page.css") + STYLE
    sections = [
        Section(f"sheet-{number}", _title(sheet), render("counterfactual.html", sheet=sheet))
        for number, sheet in enumerate(sheets, 1)
    ]
    page: str = render(
        "page.html",
        title=title,
        about=[f"{len(sheets)} lists beside their swapped ones", f"evenrank {__version__}"],
        policy=POLICY.format(styles=safe.digest(style)),
        style=trusted(style),
        scripts=[],
        charts=[],
        data=trusted("null"),
        named=[],
        parts=[],
        library="",
        sections=sections,
    )
    return str(page)


def _title(sheet: Mapping[str, Any]) -> str:
    return f"{safe.name(sheet['system'])}, {safe.name(sheet['swapped'])}"
