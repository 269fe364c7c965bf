"""Confidence intervals of the difference between two systems on the same queries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.stats.bootstrap import FEWEST, bootstrap_interval
from evenrank.stats.intervals import TOO_FEW, UNBOUNDED, Bounds, expanded_level, mean_interval, unless_unmoved
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


def mean(values: Floats) -> Floats:
    """Over the last axis."""
    return np.asarray(values.mean(axis=-1))


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
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    aggregate: Callable[[Floats], Floats],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> DifferenceInterval:
    """``bootstrap_difference`` with the percentiles of ``resampled_interval``, for what is not a mean."""
    n = max(FEWEST, len(finite_pairs(first, second).first))
    wide = expanded_level(level, n)
    found = bootstrap_difference(first, second, aggregate, level=wide, resamples=resamples, seed=seed)
    if found.reason is not None:
        return found
    low, high, reason = unless_unmoved(found.low, found.high)
    return found._replace(low=low, high=high, reason=reason)


def bootstrap_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    aggregate: Callable[[Floats], Floats] = mean,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> DifferenceInterval:
    """The percentile interval of ``aggregate(first) - aggregate(second)``, both on the same drawn queries.

    Reference: Efron and Tibshirani, An introduction to the bootstrap, 1993, §13.3. Undefined when fewer than
    five pairs count.

    >>> found = bootstrap_difference([0.5, 0.6, 0.7, 0.8, 0.9], [0.4, 0.4, 0.6, 0.5, 0.9])
    >>> round(found.difference, 2), bool(0 <= found.low < 0.14 < found.high <= 0.3)
    (0.14, True)
    """
    pairs = finite_pairs(first, second)
    both = np.stack([pairs.first, pairs.second], axis=-1)  # (n, 2): a query is drawn with both its values

    def difference(drawn: Floats) -> Floats:  # (..., n, 2)
        return np.asarray(aggregate(drawn[..., 0]) - aggregate(drawn[..., 1]))

    low, high = bootstrap_interval(both, difference, level=level, resamples=resamples, seed=seed)
    n = len(both)
    reason = None if n >= FEWEST else TOO_FEW
    value = float(difference(both)) if n else math.nan
    return DifferenceInterval(value, low, high, n, pairs.undefined, pairs.infinite, reason)
