"""What points of two measures say together: a line through them, and how far they agree in order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenrank.stats.correlation import Correlation, kendall
from evenrank.stats.regression import Line, least_squares

FEWEST = 3  # points: two always lie on one line, and always agree or disagree
PLACES = 40  # on a line, whose interval is bent


def line_through(xs: Sequence[float], ys: Sequence[float]) -> Line | None:
    """The line by least squares from the leftmost point to the rightmost; None through fewer than three.

    >>> line_through([0.0, 1.0, 2.0], [1.0, 3.0, 5.0]).slope
    2.0
    """
    if len(xs) < FEWEST:
        return None
    return least_squares(xs, ys, np.linspace(min(xs), max(xs), PLACES))


def order_agreement(xs: Sequence[float], ys: Sequence[float]) -> Correlation | None:
    """Kendall's tau of the points; None where there are too few or all have the same value.

    >>> order_agreement([1.0, 2.0, 3.0], [4.0, 6.0, 5.0]).value.__round__(4)
    0.3333
    """
    found = kendall(xs, ys)
    return None if math.isnan(found.value) or found.n < FEWEST else found
