"""A figure of value against cut-off: one panel a measure, one line a run, with its interval."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from evenrank.errors import MissingExtraError, ParameterError
from evenrank.measures import Direction
from evenrank.report.lines import Point, points_of
from evenrank.scores.render import arrow, printable

if TYPE_CHECKING:
    import altair

    from evenrank.scores import Scores

# Okabe and Ito's colours, told apart by readers of any colour vision, without the yellow, which is too
# light for a line; shapes differ as well, for print without colour
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")

PANELS = 24
PANELS_IN_A_ROW = 3
WIDTH, HEIGHT = 240, 190  # of a panel
NAME_WIDTH = 320  # of a run in the legend
TITLE_WIDTH = 34  # characters of a panel's title
BAND, BAND_OF_MANY = 0.18, 0.07  # opacity: many bands lie over each other
MANY_RUNS = 4


def load_altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401  draws what altair describes
    except ImportError:
        raise MissingExtraError.for_job("figures", "altair and vl-convert-python", "report") from None
    return altair


def cutoff_figure(scores: Scores) -> altair.ConcatChart:
    """Value against cut-off, from scores of measures at several cut-offs.

    Measures that differ in their cut-off only form one line; each has a panel with its own axis. The band
    is the 95% interval of the scores; a point where a measure is undefined is left out.
    """
    alt = load_altair()
    by_panel: dict[str, list[Point]] = {}
    for point in points_of(scores):
        by_panel.setdefault(point.panel, []).append(point)
    panels = {
        name: points for name, points in by_panel.items() if len({point.cutoff for point in points}) > 1
    }
    if not panels:
        raise ParameterError(
            "a figure of cut-offs needs a measure at two cut-offs or more: "
            "evaluate with cutoffs=[5, 10, 20] (--cutoffs 5,10,20)"
        )
    if len(panels) > PANELS:
        raise ParameterError(f"{len(panels)} panels are too many for a figure: the most is {PANELS}")
    runs = [run for run in scores.runs if any(p.run == run for points in panels.values() for p in points)]
    drawn = [_panel(alt, points, runs) for points in panels.values()]
    chart: altair.ConcatChart = (
        alt.concat(*drawn, columns=PANELS_IN_A_ROW, spacing=28)
        .resolve_scale(color="shared", shape="shared")
        .configure(font="Helvetica, Arial, sans-serif", background="white")
        .configure_view(stroke="#dddddd")
        .configure_axis(labelFontSize=11, titleFontSize=12, gridColor="#eeeeee", titleFontWeight="normal")
        .configure_title(fontSize=13, subtitleFontSize=11, subtitleColor="#666666", anchor="start", offset=8)
        .configure_legend(
            orient="bottom", columns=min(len(runs), PANELS_IN_A_ROW), labelLimit=NAME_WIDTH, labelFontSize=12,
            symbolSize=90, titleFontSize=12,
        )
    )  # fmt: skip
    return chart


def _panel(alt: Any, points: list[Point], runs: list[str]) -> Any:
    first = points[0]
    cutoffs = sorted({point.cutoff for point in points})
    shown = [printable(run) for run in runs]
    style = {"domain": shown, "range": [COLOURS[place % len(COLOURS)] for place in range(len(runs))]}
    shapes = {"domain": shown, "range": [SHAPES[place % len(SHAPES)] for place in range(len(runs))]}
    # the legend would take the opacity of the bands
    legend = alt.Legend(title=None, symbolOpacity=1) if len(runs) > 1 else None
    colour = alt.Color("run:N", scale=alt.Scale(**style), legend=legend)
    depth = alt.X(
        "cutoff:Q",
        title="cut-off k",
        scale=alt.Scale(type="log", domain=[cutoffs[0], cutoffs[-1]], nice=False, padding=12),
        axis=alt.Axis(values=cutoffs, format="d", labelOverlap="greedy", labelSeparation=3, labelFlush=False),
    )
    scale = alt.Scale(zero=False, nice=False, padding=10)
    tip = [alt.Tooltip(field) for field in ("run:N", "cutoff:Q", "value:Q", "low:Q", "high:Q", "queries:Q")]
    base = alt.Chart(alt.Data(values=[_row(point) for point in points if math.isfinite(point.value)]))
    band = base.mark_area(opacity=BAND if len(runs) <= MANY_RUNS else BAND_OF_MANY).encode(
        x=depth, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour
    )
    value = alt.Y("value:Q", title=f"{first.aggregation} over queries", scale=scale)
    line = base.mark_line(strokeWidth=1.8).encode(x=depth, y=value, color=colour)
    marks = base.mark_point(filled=True, opacity=1, size=45).encode(
        x=depth, y=value, color=colour, shape=alt.Shape("run:N", scale=alt.Scale(**shapes), legend=legend),
        tooltip=tip,
    )  # fmt: skip
    layers = [band, line, marks]
    if first.direction == Direction.SIGNED.value:
        zero = alt.Chart(alt.Data(values=[{"even": 0}])).mark_rule(color="#888888", strokeDash=[4, 3])
        layers.insert(0, zero.encode(y=alt.Y("even:Q", scale=scale)))
    title = alt.TitleParams(_title(first), subtitle=_subtitle(first, runs), frame="group")
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title)


def _title(point: Point) -> list[str]:
    """In as many lines as the panel needs; parameters have no blanks, so the lines break after commas."""
    text = f"{printable(point.title)} {arrow(point.direction)}".rstrip()
    lines = textwrap.wrap(text.replace(",", ", "), TITLE_WIDTH, break_on_hyphens=False)
    return [line.replace(", ", ",") for line in lines]


def _subtitle(point: Point, runs: list[str]) -> list[str]:
    """What a larger value means, the rule for missing evidence, and which run, where there is no legend."""
    only = printable(runs[0]) if len(runs) == 1 else ""
    below = "; ".join(filter(None, (only, point.missing)))
    return [point.direction.partition(":")[0], *([below] if below else [])]


def _row(point: Point) -> dict[str, Any]:
    """What is drawn of a value. Too few queries have no interval: then the band is left out."""
    known = math.isfinite(point.low) and math.isfinite(point.high)
    return {
        "run": printable(point.run),
        "cutoff": point.cutoff,
        "value": point.value,
        "low": point.low if known else None,
        "high": point.high if known else None,
        "queries": point.defined,
    }
