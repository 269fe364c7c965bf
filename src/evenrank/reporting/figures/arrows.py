"""Arrows from one point to another: what became of a run (gfr-2022, Figure 9)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenrank.errors import ParameterError
from evenrank.measures import Direction
from evenrank.reporting.figures.scatter_layers import Canvas, Spot
from evenrank.reporting.figures.style import COLOURS, GREY

BETTER, WORSE, MIXED = COLOURS[2], COLOURS[1], GREY
SHORT, HEAD = 9.0, 5.0  # pixels: from the point to the head, and of half a head
SAID = "arrows: green better in one and worse in none, orange the reverse, grey both"


def joined_spots(arrows: Sequence[tuple[str, str]], spots: Sequence[Spot]) -> list[tuple[Spot, Spot]]:
    """The two points of each arrow."""
    by_name: Mapping[str, Spot] = {spot.name: spot for spot in spots}
    for name in (name for arrow in arrows for name in arrow):
        if name not in by_name:
            raise ParameterError(f"an arrow needs two points, and {name!r} has none: {', '.join(by_name)}")
    return [(by_name[start], by_name[end]) for start, end in arrows if start != end]


def arrow_layers(
    canvas: Canvas, pairs: Sequence[tuple[Spot, Spot]], directions: Sequence[Direction]
) -> list[Any]:
    """Lines that stop short of their points, and their heads."""
    alt, plane = canvas.alt, canvas.plane
    rows = []
    for start, end in pairs:
        (x, y), (x2, y2) = plane.pixels(start.x, start.y), plane.pixels(end.x, end.y)
        length = math.dist((x, y), (x2, y2))
        if length <= 2 * SHORT:
            continue  # the points touch
        part = (length - SHORT) / length
        tip = plane.values(x + (x2 - x) * part, y + (y2 - y) * part)
        rows.append(
            {
                "from": start.name, "to": end.name, "x": start.x, "y": start.y, "x2": tip[0], "y2": tip[1],
                "angle": math.degrees(math.atan2(x2 - x, y - y2)), "colour": _colour(start, end, directions),
            }
        )  # fmt: skip
    if not rows:
        return []
    colour = alt.Color("colour:N", scale=None)
    lines = canvas.rows(rows).mark_rule(strokeWidth=1.6, opacity=0.9)
    heads = canvas.rows(rows).mark_point(shape="triangle-up", filled=True, size=(2 * HEAD) ** 2, opacity=1)
    return [
        lines.encode(**canvas.at(x2="x2", y2="y2"), color=colour),
        heads.encode(**canvas.at("x2", "y2"), color=colour, angle=alt.Angle("angle:Q", scale=None)),
    ]


def _colour(start: Spot, end: Spot, directions: Sequence[Direction]) -> str:
    gains = [
        (after - before) * {Direction.HIGHER: 1, Direction.LOWER: -1}.get(direction, 0)
        for before, after, direction in zip((start.x, start.y), (end.x, end.y), directions, strict=True)
    ]
    if min(gains) >= 0 < max(gains):
        return BETTER
    return WORSE if min(gains) < 0 >= max(gains) else MIXED
