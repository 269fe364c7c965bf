"""The plane of two measures: what of it is shown, and the lines on which their mean is the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

MARGIN = 0.07  # of the spread of the values, on either side
CONTOURS = 10  # at most
STEPS = (1, 2, 5)
CLOSE = 1e-9  # of a step


class Plane(NamedTuple):
    """A rectangle of values, drawn on so many pixels."""

    left: float
    right: float
    lower: float
    upper: float
    width: float
    height: float

    @classmethod
    def around(cls, xs: Sequence[float], ys: Sequence[float], width: float, height: float) -> Plane:
        return cls(*_widened(xs), *_widened(ys), width, height)

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """How far across and how far down a point is."""
        across = (x - self.left) / (self.right - self.left)
        return across * self.width, (self.upper - y) / (self.upper - self.lower) * self.height

    def values(self, across: float, down: float) -> tuple[float, float]:
        return (
            self.left + across / self.width * (self.right - self.left),
            self.upper - down / self.height * (self.upper - self.lower),
        )


class Contour(NamedTuple):
    """The line of one mean, from its upper left to its lower right end."""

    mean: float
    start: tuple[float, float]
    end: tuple[float, float]


def _widened(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = MARGIN * (high - low) or 0.05 * (abs(high) or 1)
    return low - margin, high + margin


def contours(plane: Plane) -> list[Contour]:
    """Lines x + y = 2 m through the plane, for round m.

    >>> [line.mean for line in contours(Plane(0, 1, 0, 1, 100, 100))]
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    >>> contours(Plane(0, 1, 0, 1, 100, 100))[6]
    Contour(mean=0.7, start=(0.3999999999999999, 1), end=(1, 0.3999999999999999))
    """
    low, high = (plane.left + plane.lower) / 2, (plane.right + plane.upper) / 2
    step = _step(high - low)
    places = range(math.ceil(low / step + CLOSE), math.floor(high / step - CLOSE) + 1)
    digits = max(0, -math.floor(math.log10(step)))
    lines = []
    for place in places:
        mean = round(place * step, digits)  # 3 * 0.1 is not 0.3
        first = max(plane.left, 2 * mean - plane.upper)
        last = min(plane.right, 2 * mean - plane.lower)
        start = (first, plane.upper if first > plane.left else 2 * mean - first)
        end = (last, plane.lower if last < plane.right else 2 * mean - last)
        lines.append(Contour(mean, start, end))
    return lines


def _step(span: float) -> float:
    """The smallest of 1, 2, 5, 10, .. and their tenths that gives few enough lines."""
    power = math.floor(math.log10(span / CONTOURS))
    sizes = [step * 10.0 ** (power + more) for more in (0, 1) for step in STEPS]
    return next(size for size in sizes if span / size <= CONTOURS * (1 + CLOSE))
