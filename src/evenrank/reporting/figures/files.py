"""Figures in files: HTML that needs no network, SVG, PNG and PDF, each whole or not there."""

from __future__ import annotations

import math
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import InputTypeError, ParameterError
from evenrank.io.atomic import atomic_write
from evenrank.reporting.figures.style import load_altair

if TYPE_CHECKING:
    import altair

PIXELS = 3.0  # of a PNG for one unit of the chart

# no script but these two, no request, and no eval: expressions are interpreted
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
    "script-src {scripts}; style-src {styles}"
)
_STYLE = """
body { margin: 1rem; font-family: sans-serif; }
.vega-actions a { margin-right: 1rem; font-size: .8rem; color: #444; }
.vg-tooltip { position: fixed; visibility: hidden; z-index: 3; padding: .4rem .6rem; font-size: .8rem;
  background: #fff; border: 1px solid #bbb; border-radius: 4px; pointer-events: none; }
.vg-tooltip.visible { visibility: visible; }
.vg-tooltip td { padding: 0 .5rem 0 0; }
.vg-tooltip td.key { color: #666; text-align: right; }
"""
# the links to an editor would send the data away
_DRAW = """
vegaEmbed("#figure", JSON.parse(document.getElementById("chart").textContent), {
  ast: true, renderer: "svg", defaultStyle: false, tooltip: { disableDefaultStyle: true },
  actions: { export: true, source: false, compiled: false, editor: false }
});
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>evenrank</title>
<style>{style}</style></head>
<body><div id="figure"></div>
<script type="application/json" id="chart">{chart}</script>
<script>{library}</script>
<script>{draw}</script></body>
</html>
"""


def _html(chart: dict[str, Any]) -> bytes:
    from evenrank.reporting.page import safe
    from evenrank.reporting.page.chart_library import library

    scripts = [library(), _DRAW]
    policy = _POLICY.format(scripts=" ".join(map(safe.digest, scripts)), styles=safe.digest(_STYLE))
    page = _PAGE.format(
        policy=policy,
        style=_STYLE,
        chart=safe.script_json(_finite(chart)),  # a run may be called "</script>"
        library=scripts[0],
        draw=_DRAW,
    )
    return page.encode("utf-8", "replace")


def _finite(value: Any) -> Any:
    """JSON has neither NaN nor infinity; a point that has no place is not drawn, as in the other formats."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
