"""The layers of a scatter plot, each with its own rows: contours, intervals, points, names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from evenrank.reporting.figures.contours import Contour, Plane
from evenrank.reporting.figures.labels import Label, text_width
from evenrank.reporting.figures.style import COLOURS, EVEN, GREY, rows_of, wrapped
from evenrank.tables import interval

if TYPE_CHECKING:
    from evenrank.scores.scores import SummaryRow

NAME_SIZE, CONTOUR_SIZE = 10.5, 10
AXIS_WIDTH = 64  # characters of an axis title
TICK = {"x": 64, "y": 46}  # pixels that a tick with its number has at least
PIECE = 6.0  # pixels of a line
FIRM, FAINT = 0.45, 0.18  # opacity of intervals, of few and of many runs
RING, NO_RING = "#333333", "transparent"
LABELS: dict[str, dict[str, Any]] = {  # how contours are labelled at each edge
    "top": {"align": "center", "baseline": "bottom", "dy": -3},
    "right": {"align": "left", "baseline": "middle", "dx": 4},
    "left": {"align": "left", "baseline": "bottom", "dx": 4, "dy": 2},
}


class Spot(NamedTuple):
    """A point. ``ends`` are those of the intervals of x and of y, None where one has no interval."""

    name: str
    x: float
    y: float
    ends: tuple[float, float, float, float] | None = None
    queries: tuple[int, int] = (1, 1)  # that the two values are over


def run_spot(run: str, x: SummaryRow, y: SummaryRow) -> Spot:
    """A run by its values of two measures, as the summary has them."""
    ends = (x.low, x.high, y.low, y.high)
    known = ends if all(map(math.isfinite, ends)) else None
    return Spot(run, x.value, y.value, known, (x.defined, y.defined))


def plane_of(spots: Iterable[Spot], width: float, height: float) -> Plane:
    """The plane around points and their intervals: narrower axes would let noise look like a difference."""
    there = list(spots)
    ends = [spot.ends for spot in there if spot.ends is not None]
    return Plane.around(
        [*(spot.x for spot in there), *(end for each in ends for end in each[:2])],
        [*(spot.y for spot in there), *(end for each in ends for end in each[2:])],
        width,
        height,
    )


def _edge(line: Contour, plane: Plane) -> str:
    """Labels stand outside, above or at the right; lines that end at neither are labelled inside."""
    if line.start[0] > plane.left:
        return "top"
    return "right" if line.end[0] >= plane.right else "left"


def contour_box(line: Contour, plane: Plane) -> tuple[float, float, float, float]:
    """The pixels of a contour's label within the frame; a box without size where it stands outside."""
    if _edge(line, plane) != "left":
        return (0.0, 0.0, 0.0, 0.0)
    across, down = plane.pixels(*line.start)
    return across, down - CONTOUR_SIZE, across + text_width(f"{line.mean:g}", CONTOUR_SIZE) + 6, down + 4


def cross_boxes(spot: Spot, plane: Plane) -> Iterator[tuple[float, float, float, float]]:
    """The pixels of the two lines of a point's intervals."""
    if spot.ends is None:
        return
    left, right, lower, upper = spot.ends
    (first, top), (last, bottom) = plane.pixels(left, upper), plane.pixels(right, lower)
    across, down = plane.pixels(spot.x, spot.y)
    yield first, down - 1, last, down + 1
    yield across - 1, top, across + 1, bottom


def line_boxes(
    points: Sequence[tuple[float, float]], plane: Plane
) -> list[tuple[float, float, float, float]]:
    """Small boxes of pixels along a line through these points, which names keep off."""
    boxes = []
    for start, end in pairwise(plane.pixels(*point) for point in points):
        pieces = max(1, int(math.dist(start, end) / PIECE))
        for piece in range(pieces + 1):
            x, y = (a + (b - a) * piece / pieces for a, b in zip(start, end, strict=True))
            boxes.append((x - 1, y - 1, x + 1, y + 1))
    return boxes


class Canvas(NamedTuple):
    """Altair and the plane that all layers share."""

    alt: Any
    plane: Plane

    def at(self, x: str = "x", y: str = "y", **more: Any) -> dict[str, Any]:
        """The encoding of a place by two fields of a row, and of its other end, ``x2`` and ``y2``."""
        shown = self.plane
        across = self.alt.Scale(domain=[shown.left, shown.right], nice=False, zero=False)
        up = self.alt.Scale(domain=[shown.lower, shown.upper], nice=False, zero=False)
        places = {"x": self.alt.X(f"{x}:Q", scale=across), "y": self.alt.Y(f"{y}:Q", scale=up)}
        return places | {name: f"{field}:Q" for name, field in more.items()}

    def ticks(self, place: str) -> int:
        """About how many ticks an axis has, so that their numbers do not collide."""
        return max(2, int((self.plane.width if place == "x" else self.plane.height) // TICK[place]))

    def rows(self, rows: Sequence[dict[str, Any]]) -> Any:
        return self.alt.Chart(rows_of(self.alt, rows))

    def even(self, signed: Sequence[bool]) -> Iterator[Any]:
        """Lines where a signed measure is even, if that is within the figure."""
        shown = self.plane
        line = self.rows([{"x": 0, "y": 0}]).mark_rule(**EVEN)
        places = self.at()
        if signed[0] and shown.left <= 0 <= shown.right:
            yield line.encode(x=places["x"])
        if signed[1] and shown.lower <= 0 <= shown.upper:
            yield line.encode(y=places["y"])

    def contours(self, lines: Sequence[Contour]) -> Iterator[Any]:
        if not lines:
            return
        rows = [
            {"mean": line.mean, "x": line.start[0], "y": line.start[1], "x2": line.end[0], "y2": line.end[1]}
            for line in lines
        ]
        dotted = self.rows(rows).mark_rule(strokeDash=[2, 3], color=GREY, opacity=0.8)
        yield dotted.encode(**self.at(x2="x2", y2="y2"))
        for edge, look in LABELS.items():
            there = [line for line in lines if _edge(line, self.plane) == edge]
            ends = [line.end if edge == "right" else line.start for line in there]
            if there:
                labels = [
                    {"x": x, "y": y, "mean": f"{line.mean:g}"}
                    for line, (x, y) in zip(there, ends, strict=True)
                ]
                texts = self.rows(labels).mark_text(fontSize=CONTOUR_SIZE, color="#666666", **look)
                yield texts.encode(**self.at(), text="mean:N")

    def crosses(self, spots: Sequence[Spot], opacity: float = FIRM) -> Iterator[Any]:
        rows = [
            {
                "x": spot.x,
                "y": spot.y,
                **dict(zip(("left", "right", "lower", "upper"), spot.ends, strict=True)),
            }
            for spot in spots
            if spot.ends is not None
        ]
        if rows:
            line = self.rows(rows).mark_rule(color=COLOURS[0], opacity=opacity, strokeWidth=1)
            yield line.encode(**self.at(x="left", x2="right"))
            yield line.encode(**self.at(y="lower", y2="upper"))

    def points(
        self,
        spots: Sequence[Spot],
        names: Sequence[str],
        titles: Sequence[str],
        over: Sequence[str] | None,
        ringed: Sequence[bool],
    ) -> Any:
        """One point a run, with what its values are ``over``, or without it one a query; some have a ring."""
        alt = self.alt
        what = "query" if over is None else "run"
        rows: list[dict[str, Any]] = []
        for spot, name, ring in zip(spots, names, ringed, strict=True):
            row: dict[str, Any] = {what: name, "x": spot.x, "y": spot.y, "ring": RING if ring else NO_RING}
            if over is not None:
                row |= {"x_over": _over(spot, 0), "y_over": _over(spot, 1)}
            rows.append(row)
        tip = [alt.Tooltip(f"{what}:N", title="query" if over is None else "system")]
        for field, title in zip("xy", titles, strict=True):
            tip.append(alt.Tooltip(f"{field}:Q", title=title, format=".4f"))
            if over is not None:
                tip.append(alt.Tooltip(f"{field}_over:N", title=f"{title}, over"))
        places = self.at()
        for side, place in enumerate("xy"):
            shown = titles[side] + ("" if over is None else f", {over[side]}")
            places[place] = places[place].title(wrapped(shown, AXIS_WIDTH)).axis(tickCount=self.ticks(place))
        marks = self.rows(rows).mark_point(
            filled=True,
            size=46,
            color=COLOURS[0],
            opacity=1,
            strokeWidth=1,
            fillOpacity=0.6 if over is None else 0.85,
        )
        return marks.encode(**places, stroke=alt.Stroke("ring:N", scale=None), tooltip=tip)

    def names(self, labels: Sequence[Label | None], spots: Sequence[Spot]) -> Iterator[Any]:
        """Names where they were placed, joined to points that are farther off."""
        texts, lines = [], []
        for label, spot in zip(labels, spots, strict=True):
            if label is None:
                continue
            left, middle = self.plane.values(label.left, label.middle)
            texts.append({"x": left, "y": middle, "name": label.text})
            if label.joined is not None:
                x2, y2 = self.plane.values(*label.joined)
                lines.append({"x": spot.x, "y": spot.y, "x2": x2, "y2": y2})
        if lines:
            yield (
                self.rows(lines)
                .mark_rule(color="#bbbbbb", strokeWidth=0.8)
                .encode(**self.at(x2="x2", y2="y2"))
            )
        if texts:
            marks = self.rows(texts).mark_text(
                align="left", baseline="middle", fontSize=NAME_SIZE, color="#333333"
            )
            yield marks.encode(**self.at(), text="name:N")


def _over(spot: Spot, side: int) -> str:
    """How many queries a value is over, and its interval."""
    queries = f"{spot.queries[side]} queries"
    if spot.ends is None:
        return queries
    low, high = spot.ends[2 * side : 2 * side + 2]
    return f"{queries}, 95% interval {interval(low, high)}"
