"""One measure against another: a point a run, or a point a query of one run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evenrank.comparison.points import order_agreement
from evenrank.errors import ParameterError
from evenrank.measures import Direction
from evenrank.measures.group_fairness import GF
from evenrank.reporting.figures.arrows import SAID, arrow_layers, joined_spots
from evenrank.reporting.figures.contours import Plane, contours
from evenrank.reporting.figures.labels import place_labels, shortened
from evenrank.reporting.figures.measure_values import Chosen, by_run, choose, values_by_query
from evenrank.reporting.figures.scatter_layers import (
    FAINT,
    FIRM,
    NAME_SIZE,
    Canvas,
    Spot,
    contour_box,
    cross_boxes,
    line_boxes,
    plane_of,
    run_spot,
)
from evenrank.reporting.figures.style import counted, load_altair, query_names, styled, wrapped
from evenrank.tables import interval, number
from evenrank.text import printable

if TYPE_CHECKING:
    import altair

    from evenrank.measures import Measure
    from evenrank.scores import Scores

WIDTH, HEIGHT = 600, 440
NARROW_WIDTH, NARROW_HEIGHT = 280, 300  # for a phone
TITLE_WIDTH, SUBTITLE_WIDTH, RUN_WIDTH = 84, 104, 48  # characters
NARROW_TITLE, NARROW_SUBTITLE = 42, 52
FEW = 6  # runs whose intervals can be told apart
WAYS_OUT = 16  # directions in which the query that lies farthest out is named
APART = 4  # so many queries are named since their two values differ most, in units of their spread


def scatter_figure(
    scores: Scores,
    x: str | Measure,
    y: str | Measure,
    *,
    run: str | None = None,
    arrows: Sequence[tuple[str, str]] = (),
    narrow: bool = False,
    texts: Mapping[str, str] | None = None,
) -> altair.LayerChart:
    """One measure against another: a point for each run or, with ``run``, for each of its queries.

    Where the mean of the two is a measure, as GFR for its two parts, dotted lines join the points of equal
    mean. All runs are named, and of queries those that lie farthest out; names that find no room
    are in the tooltip of the .html. Points where one of the two has no value are left out and counted.
    Kendall's tau is over the points. ``arrows`` lead from the first run of a pair to the second. ``narrow``
    is for the width of a phone. ``texts`` of queries are drawn instead of their ids.
    """
    alt = load_altair()
    width, height = (NARROW_WIDTH, NARROW_HEIGHT) if narrow else (WIDTH, HEIGHT)
    pair = choose(scores, x), choose(scores, y)
    spots, remarks = _runs(scores, *pair) if run is None else _queries(scores, *pair, run)
    if not spots:
        what = "run" if run is None else f"query of {run!r}"
        raise ParameterError(f"no {what} has a value of both {pair[0].measure!r} and {pair[1].measure!r}")
    pointed = joined_spots(arrows, spots)
    crosses = run is None and len(spots) <= FEW and not pointed  # so few that names can keep off them
    plane = plane_of(spots, width, height)
    lines = contours(plane) if has_mean([chosen.measure for chosen in pair], scores.measures) else []
    names = list(query_names((spot.name for spot in spots), None if run is None else texts).values())
    wanted: list[str | None] = [*names] if run is None else _remarkable(spots, names, plane)
    taken = [contour_box(line, plane) for line in lines]
    if crosses:
        taken += [box for spot in spots for box in cross_boxes(spot, plane)]
    taken += [box for ends in pointed for box in line_boxes([(spot.x, spot.y) for spot in ends], plane)]
    labels = place_labels(
        [plane.pixels(spot.x, spot.y) for spot in spots], wanted,
        width=width, height=height, size=NAME_SIZE, taken=taken,
    )  # fmt: skip
    unnamed = sum(text is not None and label is None for text, label in zip(wanted, labels, strict=True))
    if unnamed:
        remarks.append(f"without room for a name: {unnamed}")
    if lines:
        remarks.append("dotted: equal mean of the two")
    if pointed:
        remarks.append(SAID)
    canvas = Canvas(alt, plane)
    over = [f"{chosen.measure.aggregation} over queries" for chosen in pair] if run is None else None
    ringed = [run is not None and label is not None for label in labels]  # which of many a name is of
    layers = [
        *canvas.even([chosen.measure.direction is Direction.SIGNED for chosen in pair]),
        *canvas.contours(lines),
        *(canvas.crosses(spots, FIRM if crosses else FAINT) if run is None else ()),
        *arrow_layers(canvas, pointed, [chosen.measure.direction for chosen in pair]),
        canvas.points(spots, names, [chosen.title for chosen in pair], over, ringed),
        *canvas.names(labels, spots),
    ]
    title = alt.TitleParams(
        wrapped(f"{pair[1].title} against {pair[0].title}", NARROW_TITLE if narrow else TITLE_WIDTH),
        subtitle=[
            line
            for remark in remarks
            for line in wrapped(remark, NARROW_SUBTITLE if narrow else SUBTITLE_WIDTH)
        ],
        frame="group",
        offset=18 if lines else 8,  # labels of contours stand above the frame
    )
    chart: altair.LayerChart = styled(alt.layer(*layers).properties(width=width, height=height, title=title))
    return chart


def has_mean(pair: Sequence[Measure], others: Sequence[Measure] = ()) -> bool:
    """Whether the mean of two measures is a measure too: a weighted sum of the two that was evaluated, or
    GFR, which is made of relevance and GF. A mean of others, such as NFaiRR and nDCG, says nothing."""
    if any(measure.direction is not Direction.HIGHER for measure in pair):
        return False
    sums = [set(other.parts()) for other in others]
    if any(len(parts) > 1 and set(pair) <= parts for parts in sums):
        return True
    of_groups = [isinstance(measure, GF) for measure in pair]
    return sum(of_groups) == 1 and pair[of_groups.index(False)].family == "relevance"


def _runs(scores: Scores, across: Chosen, up: Chosen) -> tuple[list[Spot], list[str]]:
    """The runs that have both values, as the summary has them, and what is to be said about them."""
    xs, ys = by_run(scores, across), by_run(scores, up)
    spots, counts, asked = [], set(), set()
    for run in scores.runs:
        if run not in xs or run not in ys:
            continue
        x, y = xs[run], ys[run]
        spots.append(run_spot(run, x, y))
        counts |= {x.defined, y.defined}
        asked |= {x.queries, y.queries}
    remarks = [counted(len(spots), "run") + _correlation(spots)]
    if counts != asked:
        over = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{max(counts)}"
        remarks.append(f"values are over the {over} of {max(asked)} queries where the measure is defined")
    if len(spots) < len(scores.runs):
        remarks.append(f"left out: {counted(len(scores.runs) - len(spots), 'run')} without both values")
    return spots, remarks


def _queries(scores: Scores, across: Chosen, up: Chosen, run: str) -> tuple[list[Spot], list[str]]:
    """The queries of a run where both measures are defined and finite, and what is to be said about them."""
    xs, ys = values_by_query(scores, across, run), values_by_query(scores, up, run)
    asked = list(dict.fromkeys([*xs, *ys]))
    spots = [
        Spot(query, x, y)
        for query in asked
        if (x := xs.get(query)) is not None and (y := ys.get(query)) is not None
    ]
    remarks = [f"{shortened(printable(run), RUN_WIDTH)}: {counted(len(spots), 'query')}{_correlation(spots)}"]
    if len(spots) < len(asked):
        left = counted(len(asked) - len(spots), "query")
        remarks.append(f"left out: {left} of {len(asked)}, where one of the two is undefined or infinite")
    return spots, remarks


def _correlation(spots: Sequence[Spot]) -> str:
    found = order_agreement([spot.x for spot in spots], [spot.y for spot in spots])
    if found is None:
        return ""
    low, high, _ = found.interval
    known = f", 95% interval {interval(low, high)}" if math.isfinite(low + high) else ""
    return f", Kendall's tau {number(found.value)}{known}, n = {found.n}"


def _remarkable(spots: Sequence[Spot], names: Sequence[str], plane: Plane) -> list[str | None]:
    """Names of the points that lie farthest out in each of several directions, and of those whose two values
    differ most from each other. A point that several queries share is named after the first of them.
    """
    places = [plane.pixels(spot.x, spot.y) for spot in spots]
    found: dict[tuple[float, float], None] = {}
    for turn in range(WAYS_OUT):
        angle = 2 * math.pi * turn / WAYS_OUT
        found[max(places, key=lambda place: math.cos(angle) * place[0] + math.sin(angle) * place[1])] = None
    xs, ys = _standardised([spot.x for spot in spots]), _standardised([spot.y for spot in spots])
    apart = [abs(x - y) for x, y in zip(xs, ys, strict=True)]
    for index in sorted(range(len(spots)), key=lambda index: -apart[index])[:APART]:
        found[places[index]] = None
    texts: list[str | None] = [None] * len(spots)
    for place in found:
        first, more = places.index(place), places.count(place) - 1
        texts[first] = f"{names[first]} (+{more} more)" if more else names[first]
    return texts


def _standardised(values: Sequence[float]) -> list[float]:
    mean, spread = statistics.fmean(values), statistics.pstdev(values) or 1.0
    return [(value - mean) / spread for value in values]
