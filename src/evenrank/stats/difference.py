"""Confidence intervals of the difference between two systems on the same queries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.stats.intervals import UNBOUNDED, Bounds, mean_interval, resampled_interval
from evenrank.stats.paired import finite_pairs, paired_differences
from evenrank.stats.weights import weighted_mean


class DifferenceInterval(NamedTuple):
    """``first - second`` over the pairs that count. ``reason`` says why an end of the interval is NaN."""

    difference: float
    low: float
    high: float
    n: int
    undefined: int
    infinite: int
    reason: str | None = None


def mean_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    bounds: Bounds = UNBOUNDED,
    *,
    level: float = 0.95,
    weights: Floats | None = None,
) -> DifferenceInterval:
    """The difference of two means over the same queries, with the interval of ``mean_interval``.

    ``bounds`` are those of a value; a difference then lies between ``low - high`` and ``high - low``.
    ``weights`` are those of the queries.
    Undefined when fewer than five pairs count, and when all differences are equal and a bound is missing.

    >>> found = mean_difference([0.5, 0.6, 0.7, 0.8, 0.9], [0.4, 0.4, 0.6, 0.5, 0.9], (0.0, 1.0))
    >>> round(found.difference, 2), bool(found.low < 0 < 0.14 < found.high)
    (0.14, True)
    """
    pairs = finite_pairs(first, second)
    n = len(pairs.first)
    values = paired_differences(pairs.first, pairs.second).values
    own = None if weights is None else weights[np.isfinite(first) & np.isfinite(second)]
    low, high, reason = mean_interval(values, difference_bounds(bounds), level=level, weights=own)
    value = weighted_mean(pairs.first, own) - weighted_mean(pairs.second, own) if n else math.nan
    return DifferenceInterval(value, low, high, n, pairs.undefined, pairs.infinite, reason)


def difference_bounds(bounds: Bounds) -> Bounds:
    """Between what the difference of two values within ``bounds`` lies.

    >>> difference_bounds((0.0, 1.0)), difference_bounds((0.0, math.inf))
    ((-1.0, 1.0), (-inf, inf))
    """
    return bounds[0] - bounds[1], bounds[1] - bounds[0]


def resampled_difference(
    first: npt.ArrayLike, second: npt.ArrayLike, aggregate: Callable[[Floats], Floats], *, seed: int = 0
) -> DifferenceInterval:
    """``aggregate(first) - aggregate(second)``, for what is not a mean, with its ``resampled_interval``.

    A query is drawn with both its values. Reference: Efron and Tibshirani, An introduction to the bootstrap,
    1993, §13.3.

    >>> median = lambda drawn: np.median(drawn, axis=-1)
    >>> found = resampled_difference([0.5, 0.6, 0.7, 0.8, 0.9], [0.4, 0.4, 0.6, 0.5, 0.9], median)
    >>> round(found.difference, 2), bool(found.low < 0.2 < found.high)
    (0.2, True)
    """
    pairs = finite_pairs(first, second)
    both = np.stack([pairs.first, pairs.second], axis=-1)  # (n, 2)

    def difference(drawn: Floats) -> Floats:  # (..., n, 2)
        return np.asarray(aggregate(drawn[..., 0]) - aggregate(drawn[..., 1]))

    low, high, reason = resampled_interval(both, difference, seed=seed)
    value = float(difference(both)) if len(both) else math.nan
    return DifferenceInterval(value, low, high, len(both), pairs.undefined, pairs.infinite, reason)
