"""Where the numbers come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenrank.reporting.page import safe
from evenrank.reporting.page.paths import without_folders
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import ReportData

LONGEST = 200  # characters of a value


@section(60)
def provenance_section(material: ReportData) -> Section | None:
    rows = [*_made(material), *_rows(material.scores.provenance)]
    if not rows:
        return None
    return Section("provenance", "Where the numbers come from", render("provenance.html", rows=rows))


def _made(material: ReportData) -> Iterator[tuple[str, str]]:
    """When the page was made, and by which command."""
    if material.made is not None:
        yield "made", f"{material.made:%Y-%m-%d %H:%M} {material.made.tzname() or ''}".rstrip()
    if material.command:
        yield "command", safe.name(without_folders(material.command))


def _rows(facts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Every fact with its path, on one line."""
    for name, value in facts.items():
        path = f"{above} / {name}" if above else str(name)
        if isinstance(value, Mapping):
            yield from _rows(value, path)
        elif isinstance(value, (list, tuple)):
            yield safe.name(path), _short(", ".join(map(str, value)))
        elif value is not None:
            yield safe.name(path), _short(str(value))


def _short(text: str) -> str:
    text = safe.name(without_folders(text))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
