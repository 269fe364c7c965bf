"""Relevance against fairness for many variants of rankers, with a line through each family.

Reference: nfairc-advbert-2021, Figure 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenrank.comparison.points import FEWEST, line_through
from evenrank.errors import ParameterError
from evenrank.reporting.figures.contours import Plane
from evenrank.reporting.figures.labels import place_labels
from evenrank.reporting.figures.measure_values import by_run, choose
from evenrank.reporting.figures.scatter_layers import (
    AXIS_WIDTH,
    FAINT,
    FIRM,
    NAME_SIZE,
    Canvas,
    Spot,
    line_boxes,
    plane_of,
    run_spot,
)
from evenrank.reporting.figures.style import (
    GREY,
    SHAPES,
    counted,
    load_altair,
    series_colours,
    shown_names,
    styled,
    wrapped,
)
from evenrank.scores.notes import INFORMED
from evenrank.tables import number

if TYPE_CHECKING:
    import altair

    from evenrank.measures import Measure
    from evenrank.reporting.figures.measure_values import Chosen
    from evenrank.scores import Scores
    from evenrank.stats.regression import Line

WIDTH, HEIGHT = 600, 420
TITLE_WIDTH, SUBTITLE_WIDTH = 84, 104  # characters
FEWEST_FOR_BAND = 6  # the interval of a line through fewer runs says little more than that they are few
NAMED = 30  # runs; the names and the intervals of more would hide the points
ALONE = "(others)"
FILL, LIGHTEST = 0.75, 0.2  # how dense points are, and that of the smallest shade


def cloud_figure(
    scores: Scores,
    x: str | Measure,
    y: str | Measure,
    *,
    families: Mapping[str, Sequence[str]] | None = None,
    shades: Mapping[str, float] | None = None,
    shade: str = "shade",
) -> altair.LayerChart:
    """A point for each run; a dashed line by least squares through each family of three or more. Runs that
    read the judgements by which they are scored are a family of their own, without a line.

    ``families`` are lists of runs by name; without them all runs are one. Runs of no family are grey.
    ``shades`` are numbers of runs, as the weight of an adversary, that ``shade`` is the name of: the larger,
    the darker the point.
    """
    alt = load_altair()
    pair = choose(scores, x), choose(scores, y)
    own = _families(scores, families)
    spots = _spots(scores, pair)
    if not spots:
        raise ParameterError(f"no run has a value of both {pair[0].measure!r} and {pair[1].measure!r}")
    typical = _typical(spots, own)
    bare = [spot._replace(ends=None) for spot in spots.values()]
    plane = plane_of([*bare, *typical], WIDTH, HEIGHT)
    canvas = Canvas(alt, plane)
    lines = {name: _line(spots, runs) for name, runs in own.items() if name not in (ALONE, INFORMED)}
    shown = shown_names(scores.runs)
    layers: list[Any] = [*canvas.crosses(typical, FAINT if len(typical) == len(spots) else FIRM)]
    for place, (name, line) in enumerate(lines.items()):
        there = sum(run in spots for run in own[name])
        layers += _drawn(canvas, line, there, _colour(name, place), plane)
    layers.append(_points(canvas, spots, own, shown, shades or {}, pair))
    if len(spots) <= NAMED:
        labels = place_labels(
            [plane.pixels(spot.x, spot.y) for spot in spots.values()], [shown[run] for run in spots],
            width=WIDTH, height=HEIGHT, size=NAME_SIZE, taken=_taken(lines, plane),
        )  # fmt: skip
        layers += canvas.names(labels, list(spots.values()))
    title = alt.TitleParams(
        wrapped(f"{pair[1].title} against {pair[0].title}", TITLE_WIDTH),
        subtitle=_subtitle(scores, spots, lines, shades, shade),
        frame="group",
    )
    chart: altair.LayerChart = styled(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title))
    return chart


def _families(scores: Scores, given: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
    choices = [run for run in scores.runs if run not in scores.informed]
    bounds = {INFORMED: sorted(scores.informed)} if scores.informed else {}
    if not given:
        return {**({"all runs": choices} if choices else {}), **bounds}
    seen: dict[str, str] = {}
    for name, runs in given.items():
        for run in runs:
            if run not in scores.runs:
                raise ParameterError(
                    f"family {name!r}: no run is called {run!r}; there are {', '.join(scores.runs)}"
                )
            if seen.setdefault(run, name) != name:
                raise ParameterError(f"run {run!r} is in family {seen[run]!r} and in {name!r}")
    rest = [run for run in choices if run not in seen]
    own = {
        name: kept
        for name, runs in given.items()
        if (kept := [run for run in dict.fromkeys(runs) if run not in scores.informed])
    }
    return {**own, **({ALONE: rest} if rest else {}), **bounds}


def _spots(scores: Scores, pair: tuple[Chosen, Chosen]) -> dict[str, Spot]:
    xs, ys = (by_run(scores, chosen) for chosen in pair)
    return {run: run_spot(run, xs[run], ys[run]) for run in scores.runs if run in xs and run in ys}


def _typical(spots: Mapping[str, Spot], families: Mapping[str, Sequence[str]]) -> list[Spot]:
    """The runs whose intervals are shown: all, or of many runs the middle one of each family."""
    if len(spots) <= NAMED:
        return list(spots.values())
    there = ([spots[run] for run in runs if run in spots] for runs in families.values())
    ordered = [sorted(family, key=lambda spot: spot.x) for family in there]
    return [family[len(family) // 2] for family in ordered if family]


def _line(spots: Mapping[str, Spot], runs: Sequence[str]) -> Line | None:
    there = [spots[run] for run in runs if run in spots]
    return line_through([spot.x for spot in there], [spot.y for spot in there])


def _taken(lines: Mapping[str, Line | None], plane: Plane) -> list[tuple[float, float, float, float]]:
    """What names keep off: the lines, from end to end."""
    ends = [line for line in lines.values() if line is not None]
    return [
        box
        for line in ends
        for box in line_boxes([(float(line.at[p]), float(line.value[p])) for p in (0, -1)], plane)
    ]


def _colour(family: str, place: int) -> str:
    return GREY if family == ALONE else series_colours(place + 1)[place]


def _drawn(canvas: Canvas, line: Line | None, points: int, colour: str, plane: Plane) -> list[Any]:
    """The line, and its interval as far as it lies within the figure; that of few points would fill it."""
    if line is None:
        return []
    rows = [
        {"x": x, "y": y, "low": low, "high": high}
        for x, y, low, high in zip(
            line.at.tolist(),
            line.value.tolist(),
            np.clip(line.low, plane.lower, plane.upper).tolist(),
            np.clip(line.high, plane.lower, plane.upper).tolist(),
            strict=True,
        )
    ]
    dashed = canvas.rows(rows).mark_line(color=colour, strokeDash=[6, 4], strokeWidth=1.6)
    layers = [dashed.encode(**canvas.at())]
    if points >= FEWEST_FOR_BAND and np.isfinite(line.low).all():
        band = canvas.rows(rows).mark_area(color=colour, opacity=0.12)
        layers.insert(0, band.encode(**canvas.at(y="low", y2="high")))
    return layers


def _points(
    canvas: Canvas,
    spots: Mapping[str, Spot],
    families: Mapping[str, Sequence[str]],
    shown: Mapping[str, str],
    shades: Mapping[str, float],
    pair: tuple[Chosen, Chosen],
) -> Any:
    alt = canvas.alt
    names = list(families)
    known = [shades[run] for run in spots if run in shades]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    rows = []
    for family, runs in families.items():
        for run in runs:
            if run in spots:
                share = (shades[run] - low) / ((high - low) or 1.0) if run in shades else 1.0
                fill = LIGHTEST + (1 - LIGHTEST) * share if known else FILL
                rows.append(
                    {
                        "run": shown[run], "family": family, "x": spots[run].x, "y": spots[run].y,
                        "shade": shades.get(run), "fill": fill,
                    }
                )  # fmt: skip
    look = {"domain": names, "range": [_colour(name, place) for place, name in enumerate(names)]}
    legend = alt.Legend(title=None, orient="bottom", labelLimit=300) if len(names) > 1 else None
    places = canvas.at()
    for side, place in enumerate("xy"):
        title = f"{pair[side].title}, {pair[side].measure.aggregation} over queries"
        places[place] = places[place].title(wrapped(title, AXIS_WIDTH)).axis(tickCount=canvas.ticks(place))
    tip = [
        alt.Tooltip("run:N"),
        alt.Tooltip("family:N"),
        alt.Tooltip("x:Q", title=pair[0].title, format=".4f"),
        alt.Tooltip("y:Q", title=pair[1].title, format=".4f"),
        *([alt.Tooltip("shade:Q", format="~g")] if shades else []),
    ]
    forms = {"domain": names, "range": [SHAPES[place % len(SHAPES)] for place in range(len(names))]}
    return (
        canvas.rows(rows)
        .mark_point(filled=True, size=58, opacity=1, strokeWidth=1)
        .encode(
            **places,
            color=alt.Color("family:N", scale=alt.Scale(**look), legend=legend),
            stroke=alt.Stroke("family:N", scale=alt.Scale(**look), legend=None),
            shape=alt.Shape("family:N", scale=alt.Scale(**forms), legend=legend),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None),
            tooltip=tip,
        )
    )


def _subtitle(
    scores: Scores,
    spots: Mapping[str, Spot],
    lines: Mapping[str, Line | None],
    shades: Mapping[str, float] | None,
    shade: str,
) -> list[str]:
    remarks = [counted(len(spots), "run")]
    slopes = [f"{name} {number(line.slope, signed=True)}" for name, line in lines.items() if line is not None]
    if slopes:
        band = f", with the 95% interval of the mean for {FEWEST_FOR_BAND} runs or more"
        remarks[0] += f"; dashed: least squares{band}"
        remarks.append(f"slope: {', '.join(slopes)}")
    else:
        remarks[0] += f"; a line is drawn through {FEWEST} runs of a family or more"
    if len(spots) > NAMED:
        remarks.append("crosses: the 95% intervals of one run of each family, the middle one")
    if len(spots) < len(scores.runs):
        remarks.append(f"left out, without both values: {len(scores.runs) - len(spots)}")
    if shades:
        remarks.append(f"the darker, the larger {shade}")
    return [line for remark in remarks for line in wrapped(remark, SUBTITLE_WIDTH)]
