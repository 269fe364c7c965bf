"""Figures in files: HTML that needs no network, SVG, PNG and PDF, each whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import InputTypeError, ParameterError
from evenrank.io.atomic import atomic_write
from evenrank.report.style import load_altair

if TYPE_CHECKING:
    import altair

PIXELS = 3.0  # of a PNG for one unit of the chart

# the links to an editor would send the data away
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>evenrank</title>
<script>{library}</script></head>
<body><div id="figure"></div>
<script>
vegaEmbed("#figure", {chart}, {{"renderer": "svg",
  "actions": {{"export": true, "source": false, "compiled": false, "editor": false}}}});
</script></body>
</html>
"""


def _html(chart: dict[str, Any]) -> bytes:
    import vl_convert

    # a run may be called "</script>"; JSON can write < without it
    safe = json.dumps(chart).replace("<", "\\u003c").replace("\u2028", "\\u2028")
    library = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return _PAGE.format(library=library, chart=safe).encode()


def _svg(chart: dict[str, Any]) -> bytes:
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(chart)
    return text.encode()


def _png(chart: dict[str, Any]) -> bytes:
    import vl_convert

    content: bytes = vl_convert.vegalite_to_png(chart, scale=PIXELS)
    return content


def _pdf(chart: dict[str, Any]) -> bytes:
    import vl_convert

    content: bytes = vl_convert.vegalite_to_pdf(chart)
    return content


FORMATS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    ".html": _html,
    ".svg": _svg,
    ".png": _png,
    ".pdf": _pdf,
}


def check_figure(path: str | PathLike[str]) -> None:
    """Say before anything is computed that a figure cannot be written so, or at all."""
    if not isinstance(path, (str, PathLike)):
        raise InputTypeError(f"a path is a str or a Path, got {type(path).__name__}")
    if Path(path).suffix.lower() not in FORMATS:
        raise ParameterError(f"{fspath(path)}: the name of a figure must end in {', '.join(FORMATS)}")
    load_altair()


def save_figure(chart: altair.TopLevelMixin, path: str | PathLike[str]) -> None:
    """Write a figure in the format that the name tells: .html (needs no network), .svg, .png or .pdf."""
    check_figure(path)
    content = FORMATS[Path(path).suffix.lower()](chart.to_dict())
    with atomic_write(path) as file:
        file.write(content)
