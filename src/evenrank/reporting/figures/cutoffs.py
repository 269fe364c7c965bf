"""A figure of value against cut-off: one panel a measure, one line a run, with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError
from evenrank.measures import Direction
from evenrank.reporting.figures.style import (
    COLOURS,
    EVEN,
    OTHERS,
    SHAPES,
    load_altair,
    rows_of,
    styled,
    wrapped,
)
from evenrank.scores.cutoff_series import Point, points_of
from evenrank.scores.names import arrow
from evenrank.scores.notes import INFORMED
from evenrank.text import printable

if TYPE_CHECKING:
    import altair

    from evenrank.scores import Scores

PANELS = 24
PANELS_IN_A_ROW = 3
WIDTH, HEIGHT = 240, 190  # of a panel
NAME_WIDTH = 320  # of a run in the legend
TITLE_WIDTH = 34  # characters of a panel's title
BAND, BAND_OF_MANY = 0.18, 0.07  # opacity: many bands lie over each other
MANY_RUNS = 4
MARKS = 10  # on a line of ranks
ORIGINAL = COLOURS[-1]  # black, for the run that others were made from


def cutoff_figure(scores: Scores, *, by_rank: bool = False) -> altair.ConcatChart:
    """Value against cut-off, from scores of measures at several cut-offs.

    Measures that differ in their cut-off only form one line; each has a panel with its own axis. The band
    is the 95% interval of the scores; a point where a measure is undefined is left out. ``by_rank`` is for
    scores at every rank: ranks are equally far apart, and only some of them have a mark.
    """
    alt = load_altair()
    scores = _marked(scores)
    panels = _panels(scores)
    runs = [run for run in scores.runs if any(p.run == run for points in panels.values() for p in points)]
    drawn = [_panel(alt, points, runs, by_rank=by_rank) for points in panels.values()]
    return _laid_out(alt.concat(*drawn, columns=PANELS_IN_A_ROW, spacing=28), len(runs))


def cutoff_rows_figure(corpora: Mapping[str, Scores]) -> altair.ConcatChart:
    """The same for several sets of scores, such as query sets: each is a row of panels under its name.

    This is how Fig. 2 of texfair-2024 is drawn.
    """
    alt = load_altair()
    corpora = {name: _marked(scores) for name, scores in corpora.items()}
    rows = []
    runs = list(dict.fromkeys(run for scores in corpora.values() for run in scores.runs))
    for name, scores in corpora.items():
        panels = _panels(scores)
        if len(panels) > PANELS_IN_A_ROW:
            raise ParameterError(
                f"{name or 'the scores'}: {len(panels)} measures are too many for a row of a figure: "
                f"the most is {PANELS_IN_A_ROW}"
            )
        drawn = [_panel(alt, points, runs, by_rank=False) for points in panels.values()]
        titled = {"title": printable(name)} if name else {}
        rows.append(alt.hconcat(*drawn, spacing=28, **titled))
    return _laid_out(alt.vconcat(*rows, spacing=36), len(runs))


def _marked(scores: Scores) -> Scores:
    """The same scores; the names of runs that read the judgements which score them say so."""
    marks = {run: f"{run} ({INFORMED})" for run in scores.informed}
    return replace(
        scores, blocks=tuple(replace(block, run=marks.get(block.run, block.run)) for block in scores.blocks)
    )


def _panels(scores: Scores) -> dict[str, list[Point]]:
    """The points of each panel: of each measure that has several cut-offs."""
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
    return panels


def _laid_out(chart: Any, runs: int) -> altair.ConcatChart:
    shared = chart.resolve_scale(color="shared", shape="shared")
    drawing: altair.ConcatChart = styled(shared).configure_legend(
        orient="bottom", columns=min(runs, PANELS_IN_A_ROW), labelLimit=NAME_WIDTH, labelFontSize=12,
        symbolSize=90, titleFontSize=12,
    )  # fmt: skip
    return drawing


def _depth(alt: Any, cutoffs: list[int], *, by_rank: bool) -> Any:
    """The horizontal axis."""
    if by_rank:
        scale = alt.Scale(domain=[cutoffs[0], cutoffs[-1]], nice=False, padding=10)
        return alt.X("cutoff:Q", title="rank position", scale=scale, axis=alt.Axis(format="d", tickMinStep=1))
    return alt.X(
        "cutoff:Q",
        title="cut-off k",
        scale=alt.Scale(type="log", domain=[cutoffs[0], cutoffs[-1]], nice=False, padding=12),
        axis=alt.Axis(values=cutoffs, format="d", labelOverlap="greedy", labelSeparation=3, labelFlush=False),
    )


def _panel(alt: Any, points: list[Point], runs: list[str], *, by_rank: bool) -> Any:
    first = points[0]
    cutoffs = sorted({point.cutoff for point in points})
    shown = [printable(run) for run in runs]
    palette = [ORIGINAL, *(colour for colour in COLOURS if colour != ORIGINAL)] if by_rank else COLOURS
    colours = [palette[place % len(palette)] for place in range(len(runs))]
    if by_rank:  # the original alone is black; where colours begin again, lines are dashed
        colours[1:] = [palette[1 + place % (len(palette) - 1)] for place in range(len(runs) - 1)]
    else:  # a colour that came again would be taken for another run
        colours[len(COLOURS) :] = [OTHERS] * (len(runs) - len(COLOURS))
    style = {"domain": shown, "range": colours}
    # a colour that comes again has another shape
    forms = [SHAPES[(place + place // len(COLOURS)) % len(SHAPES)] for place in range(len(runs))]
    shapes = {"domain": shown, "range": forms}
    # the legend would take the opacity of the bands
    legend = alt.Legend(title=None, symbolOpacity=1) if len(runs) > 1 else None
    colour = alt.Color("run:N", scale=alt.Scale(**style), legend=legend)
    depth = _depth(alt, cutoffs, by_rank=by_rank)
    scale = alt.Scale(zero=False, nice=False, padding=10)
    tip = [alt.Tooltip(field) for field in ("run:N", "cutoff:Q", "value:Q", "low:Q", "high:Q", "queries:Q")]
    base = alt.Chart(rows_of(alt, [_row(point) for point in points if math.isfinite(point.value)]))
    band = base.mark_area(opacity=BAND if len(runs) <= MANY_RUNS else BAND_OF_MANY).encode(
        x=depth, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour
    )
    value = alt.Y("value:Q", title=f"{first.aggregation} over queries", scale=scale)
    line = base.mark_line(strokeWidth=1.8).encode(x=depth, y=value, color=colour)
    if by_rank and len(runs) > len(palette):
        dashes = [[5, 3] if place >= len(palette) else [1, 0] for place in range(len(runs))]
        scale_of_dashes = alt.Scale(domain=shown, range=dashes)
        line = line.encode(strokeDash=alt.StrokeDash("run:N", scale=scale_of_dashes, legend=None))
    marked = base
    if by_rank and len(cutoffs) > MARKS:
        step = math.ceil(len(cutoffs) / MARKS)
        kept = {*cutoffs[::step], cutoffs[-1]}
        rows = [_row(point) for point in points if math.isfinite(point.value) and point.cutoff in kept]
        marked = alt.Chart(rows_of(alt, rows))
    marks = marked.mark_point(filled=True, opacity=1, size=45).encode(
        x=depth, y=value, color=colour, shape=alt.Shape("run:N", scale=alt.Scale(**shapes), legend=legend),
        tooltip=tip,
    )  # fmt: skip
    known = any(math.isfinite(point.low) and math.isfinite(point.high) for point in points)
    layers = [*([band] if known else []), line, marks]  # a band of nothing has no place on the axis
    if first.direction == Direction.SIGNED.value:
        zero = alt.Chart(alt.Data(values=[{"even": 0}])).mark_rule(**EVEN)
        layers.insert(0, zero.encode(y=alt.Y("even:Q", scale=scale)))
    subtitle = _subtitle(first, runs) + (_fewer(points) if by_rank else [])
    title = alt.TitleParams(_title(first), subtitle=subtitle, frame="group")
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title)


def _title(point: Point) -> list[str]:
    return wrapped(f"{printable(point.title)} {arrow(point.direction)}".rstrip(), TITLE_WIDTH)


def _subtitle(point: Point, runs: list[str]) -> list[str]:
    """What a larger value means, the rule for missing evidence, and which run, where there is no legend."""
    only = printable(runs[0]) if len(runs) == 1 else ""
    below = "; ".join(filter(None, (only, point.missing)))
    return [point.direction.partition(":")[0], *([below] if below else [])]


def _fewer(points: list[Point]) -> list[str]:
    """Where a measure is undefined for some queries, which is so at the first ranks, lines compare less."""
    counts = {point.defined for point in points}
    return [f"over {min(counts)} to {max(counts)} queries"] if len(counts) > 1 else []


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
