"""A straight line through points by least squares, and how sure it is."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError, ParameterError
from evenrank.stats.ties import slack


class Line(NamedTuple):
    """``intercept + slope x``, and at the places asked for its value and the interval of that mean."""

    slope: float
    intercept: float
    at: Floats  # (A,)
    value: Floats  # (A,)
    low: Floats  # (A,) NaN for fewer than three points
    high: Floats  # (A,)
    n: int


def least_squares(
    x: npt.ArrayLike, y: npt.ArrayLike, at: npt.ArrayLike, *, level: float = 0.95
) -> Line | None:
    """``y = a + b x`` with the interval ``a + b x +- t s sqrt(1/n + (x - mean)^2 / sum (x_i - mean)^2)``.

    s is the residual standard error and t has n - 2 degrees of freedom: the usual interval of the mean, which
    takes points as independent. None where there are fewer than two points or all have the same x.

    >>> line = least_squares([0, 1, 2], [1.0, 3.0, 5.0], [4])
    >>> round(line.slope, 6), line.value.round(6).tolist()
    (2.0, [9.0])
    """
    if not 0 < level < 1:
        raise ParameterError(f"level must be between 0 and 1, as 0.95; got {level!r}")
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    places = np.asarray(at, dtype=np.float64)
    if across.ndim != 1 or across.shape != up.shape:
        raise DataError(f"a line goes through points: got {across.shape} and {up.shape} coordinates")
    there = np.isfinite(across) & np.isfinite(up)
    across, up = across[there], up[there]
    n = len(across)
    if n < 2 or np.ptp(across) <= slack(across):
        return None
    mean = float(across.mean())
    spread = float(((across - mean) ** 2).sum())
    slope = float(((across - mean) * (up - up.mean())).sum()) / spread
    intercept = float(up.mean()) - slope * mean
    value = intercept + slope * places
    half = np.full(places.shape, np.nan)
    if n > 2:
        from scipy.special import stdtrit

        residuals = up - intercept - slope * across
        error = math.sqrt(float((residuals**2).sum()) / (n - 2))
        half = float(stdtrit(n - 2, (1 + level) / 2)) * error * np.sqrt(1 / n + (places - mean) ** 2 / spread)
    return Line(slope, intercept, places, value, value - half, value + half, n)
