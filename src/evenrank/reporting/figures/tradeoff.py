"""What re-rankers gain and lose: every measure by rank position, or one measure against another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError
from evenrank.measures import Direction
from evenrank.reporting.figures.cutoffs import cutoff_figure
from evenrank.reporting.figures.labels import place_labels
from evenrank.reporting.figures.measure_values import by_run, choose
from evenrank.reporting.figures.scatter_layers import (
    AXIS_WIDTH,
    FAINT,
    FIRM,
    NAME_SIZE,
    Canvas,
    Spot,
    cross_boxes,
    line_boxes,
    plane_of,
    run_spot,
)
from evenrank.reporting.figures.style import COLOURS, GREY, load_altair, shown_names, styled, wrapped
from evenrank.scores.cutoff_series import without_cutoff
from evenrank.scores.notes import INFORMED

if TYPE_CHECKING:
    import altair

    from evenrank.comparison.tradeoff import Tradeoff
    from evenrank.measures import Measure
    from evenrank.reporting.figures.measure_values import Chosen

WIDTH, HEIGHT = 560, 420
TITLE_WIDTH, SUBTITLE_WIDTH = 80, 96  # characters
FEW = 6  # points whose intervals can be told apart
ONE_WAY = (Direction.HIGHER, Direction.LOWER)
ORIGINAL = COLOURS[-1]  # black


def check_ranks(measures: Sequence[Measure]) -> None:
    """Say before anything is computed that there is nothing to draw by rank."""
    depths = [found[1] for found in map(without_cutoff, measures) if found is not None]
    if not any(depth > 1 for depth in depths):
        raise ParameterError("values by rank need a measure with a cut-off of 2 or more, as nDCG@10")


def check_plane(measures: Sequence[Measure]) -> None:
    if len(measures) < 2:
        raise ParameterError("a plane shows one measure against another: -m must name two")


def ranks_figure(found: Tradeoff) -> altair.ConcatChart:
    """Every measure that has a cut-off against rank position: one panel a measure, one line a method.

    Figure 1 of fair-2021. The band is the 95% interval over queries.
    """
    check_ranks(found.measures)
    return cutoff_figure(found.by_rank(), by_rank=True)


def plane_figure(found: Tradeoff, x: str | Measure | None = None, y: str | Measure | None = None) -> Any:
    """One measure against another, by default the first two: a point for the original and for each method.

    Filled points are those that no other one beats in these two measures; the dashed line bounds what they
    beat. Grey lines join the values of one parameter in their order.
    """
    check_plane(found.measures)
    alt = load_altair()
    pair = (
        choose(found.scores, found.measures[0] if x is None else x),
        choose(found.scores, found.measures[1] if y is None else y),
    )
    spots = _spots(found, pair)
    if not spots:
        raise ParameterError(f"no method has a value of both {pair[0].measure!r} and {pair[1].measure!r}")
    front = found.front([chosen.measure for chosen in pair])
    crosses = len(spots) <= FEW
    plane = plane_of(spots, WIDTH, HEIGHT)
    shown = shown_names(variant.name for variant in found.variants)
    steps = _steps(spots, front, pair)
    canvas = Canvas(alt, plane)
    families = _families(found, spots)
    taken = [box for spot in spots if crosses for box in cross_boxes(spot, plane)]
    taken += [box for line in (steps, *families) for box in line_boxes(line, plane)]
    labels = place_labels(
        [plane.pixels(spot.x, spot.y) for spot in spots], [shown[spot.name] for spot in spots],
        width=WIDTH, height=HEIGHT, size=NAME_SIZE, taken=taken,
    )  # fmt: skip
    layers = [
        *canvas.even([chosen.measure.direction is Direction.SIGNED for chosen in pair]),
        *_path(canvas, families, strokeWidth=1, color=GREY, opacity=0.55),
        *_path(canvas, [steps], strokeWidth=1.2, color=COLOURS[1], strokeDash=[5, 3]),
        *canvas.crosses(spots, FIRM if crosses else FAINT),
        _points(canvas, spots, shown, found, pair),
        *canvas.names(labels, spots),
    ]
    unnamed = sum(label is None for label in labels)
    remarks = [
        "filled: not dominated (no other is better on one and not worse on the other); diamond: the original"
    ]
    for chosen in pair:
        compared = found.compared(chosen.measure)
        if compared.queries < compared.of and chosen.column == "":
            remarks.append(
                f"{chosen.measure!r} compared over the {compared.queries} of {compared.of} queries for which "
                "all points have a value"
            )
    if found.informed:
        remarks.append(f"triangle: {INFORMED} by which it is scored, and is no choice")
    if steps:
        remarks.append("dashed: the edge of what they beat")
    if len(spots) < len(found.variants):
        remarks.append(f"left out, without both values: {len(found.variants) - len(spots)}")
    if unnamed:
        remarks.append(f"without room for a name: {unnamed}")
    title = alt.TitleParams(
        wrapped(f"{pair[1].title} against {pair[0].title}", TITLE_WIDTH),
        subtitle=[line for remark in remarks for line in wrapped(remark, SUBTITLE_WIDTH)],
        frame="group",
    )
    return styled(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title))


def _spots(found: Tradeoff, pair: tuple[Chosen, Chosen]) -> list[Spot]:
    """The variants that have both values, as the summary has them."""
    xs, ys = (by_run(found.scores, chosen) for chosen in pair)
    spots = []
    for variant in found.variants:
        if variant.name in xs and variant.name in ys:
            spots.append(run_spot(variant.name, xs[variant.name], ys[variant.name]))
    return spots


def _families(found: Tradeoff, spots: Sequence[Spot]) -> list[list[tuple[float, float]]]:
    """The points of each sweep, in the order of its values."""
    there = {spot.name: (spot.x, spot.y) for spot in spots}
    lines: dict[int, list[tuple[float, float]]] = {}
    for variant in found.variants:
        if variant.sweep is not None and variant.name in there:
            lines.setdefault(variant.sweep, []).append(there[variant.name])
    return [points for points in lines.values() if len(points) > 1]


def _steps(
    spots: Sequence[Spot], front: frozenset[str], pair: tuple[Chosen, Chosen]
) -> list[tuple[float, float]]:
    """The edge of all that the front beats. What is signed is best in the middle, which has no such edge;
    and there is none where the points, each over its own queries, do not stand as they compare.
    """
    if any(chosen.measure.direction not in ONE_WAY for chosen in pair):
        return []
    across = pair[0].measure
    best = sorted(
        {(spot.x, spot.y) for spot in spots if spot.name in front},
        key=lambda point: across.goodness(point[0]),
    )
    heights = [pair[1].measure.goodness(y) for _, y in best]
    if heights != sorted(heights, reverse=True):
        return []
    edge = best[:1]
    for worse, better in pairwise(best):
        edge += [(worse[0], better[1]), better]
    return edge if len(best) > 1 else []


def _path(canvas: Canvas, lines: Sequence[Sequence[tuple[float, float]]], **look: Any) -> list[Any]:
    """One layer a line, its points in their order."""
    layers = []
    for points in lines:
        if len(points) > 1:
            rows = [{"x": x, "y": y, "place": place} for place, (x, y) in enumerate(points)]
            line = canvas.rows(rows).mark_line(**look)
            layers.append(line.encode(**canvas.at(), order=canvas.alt.Order("place:Q")))
    return layers


def _points(
    canvas: Canvas,
    spots: Sequence[Spot],
    shown: dict[str, str],
    found: Tradeoff,
    pair: tuple[Chosen, Chosen],
) -> Any:
    alt, original = canvas.alt, found.variants[0].name
    front = found.front([chosen.measure for chosen in pair])
    rows = [
        {
            "method": shown[spot.name],
            "x": spot.x,
            "y": spot.y,
            "front": spot.name in front,
            "fill": _colour(spot, original) if spot.name in front else "white",
            "stroke": _colour(spot, original),
            "shape": "triangle"
            if spot.name in found.informed
            else ("diamond" if spot.name == original else "circle"),
        }
        for spot in sorted(spots, key=lambda spot: spot.name == original)  # it is drawn last, above others
    ]
    places = canvas.at()
    for side, place in enumerate("xy"):
        title = f"{pair[side].title}, {pair[side].measure.aggregation} over queries"
        places[place] = places[place].title(wrapped(title, AXIS_WIDTH)).axis(tickCount=canvas.ticks(place))
    tip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("x:Q", title=pair[0].title, format=".4f"),
        alt.Tooltip("y:Q", title=pair[1].title, format=".4f"),
        alt.Tooltip("front:N", title="beaten by none"),
    ]
    return (
        canvas.rows(rows)
        .mark_point(size=64, opacity=1, strokeWidth=1.6)
        .encode(
            **places,
            fill=alt.Fill("fill:N", scale=None),
            stroke=alt.Stroke("stroke:N", scale=None),
            shape=alt.Shape("shape:N", scale=None),
            tooltip=tip,
        )
    )


def _colour(spot: Spot, original: str) -> str:
    return ORIGINAL if spot.name == original else COLOURS[0]
