"""How much two systems differ on the same queries: intervals of a difference, and bounds for decisions.

No single bound of a mean holds what it promises for differences between rankings. The percentile bootstrap is
too narrow for few queries, Student's t where a few queries gain or lose much, the studentised bootstrap where
most queries do not change at all. So all three are computed, and the outermost one counts. What that gives is
in ``benchmarks/gate.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import ParameterError
from evenrank.stats.intervals import (
    FEWEST,
    UNBOUNDED,
    Bounds,
    mean_interval,
    resampled,
    resampled_interval,
    student_quantile,
)
from evenrank.stats.paired import finite_pairs, paired_differences
from evenrank.stats.ties import slack
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


RESAMPLES = 10_000
IN_THE_TAIL = 10  # resamples that must lie beyond a bound, or chance decides where it is


class MeanBounds(NamedTuple):
    """Two one-sided bounds, each at ``alpha``. ``reason`` says why they are NaN.

    A bound is infinite where the queries that changed are so few that a sample may well miss them all.
    """

    mean: float
    lower: float
    upper: float
    n: int
    reason: str | None = None


def mean_bounds(
    values: npt.ArrayLike,
    bounds: Bounds = UNBOUNDED,
    *,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> MeanBounds:
    """Where the mean of all queries lies, given these: above ``lower``, and below ``upper``.

    For n values with mean m and standard error s, the upper bound is the largest of

    - percentile: the ``1 - alpha`` quantile of the means m* of values drawn again with replacement;
    - studentised: ``m - s q``, where q is the ``alpha`` quantile of ``(m* - m) / s*``;
    - Student's: ``m + s t``, where t is the ``1 - alpha`` quantile of t with n - 1 degrees of freedom;

    and the lower bound is its mirror image. Where all drawn values are equal, ``s*`` is 0 and the ratio is
    infinite, unless their mean is m. Where all values are equal, none of the three says how far others may
    lie: then the bounds are those of ``mean_interval``, which ``bounds``, between which a value lies, decide;
    without them they are infinite.

    Reference: Efron and Tibshirani, An introduction to the bootstrap, 1993, §12.5 and §13.3. Undefined when
    there are fewer than five values.

    >>> found = mean_bounds([0.1, -0.2, 0.0, 0.3, 0.1, 0.2])
    >>> found.lower < found.mean < found.upper
    True
    """
    d = np.asarray(values, dtype=np.float64)
    if not 0 < alpha < 0.5:
        raise ParameterError(f"alpha must be a number > 0 and < 0.5, got {alpha!r}")
    if resamples * alpha < IN_THE_TAIL:
        least = math.ceil(IN_THE_TAIL / alpha)
        raise ParameterError(f"alpha {alpha:g} needs at least {least:,} resamples, got {resamples:,}")
    n = len(d)
    mean = float(d.mean()) if n else math.nan
    if n < FEWEST:
        return MeanBounds(mean, math.nan, math.nan, n, f"fewer than {FEWEST} pairs of defined values")
    room = slack(d)
    error = float(d.std(ddof=1)) / math.sqrt(n)
    if error <= room:
        low, high, unknown = mean_interval(d, bounds, level=1 - 2 * alpha)
        return MeanBounds(mean, -math.inf, math.inf, n) if unknown else MeanBounds(mean, low, high, n)
    means, ratios = _drawn(d, mean, room, resamples, seed)
    student = error * student_quantile(1 - alpha, n - 1)
    # whole draws, not points between them: a ratio may be infinite, and the outer draw is the careful one
    low_mean, low_ratio = (float(np.quantile(drawn, alpha, method="lower")) for drawn in (means, ratios))
    high_mean, high_ratio = (float(np.quantile(one, 1 - alpha, method="higher")) for one in (means, ratios))
    lower = min(low_mean, mean - error * high_ratio, mean - student)
    return MeanBounds(mean, lower, max(high_mean, mean - error * low_ratio, mean + student), n)


def _drawn(d: Floats, mean: float, room: float, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """The means of drawn values, and how many of their own standard errors they lie from ``mean``."""

    def moments(drawn: Floats) -> Floats:  # (B, n) -> (B, 2)
        return np.column_stack([drawn.mean(axis=1), drawn.std(axis=1, ddof=1)])

    means, deviations = resampled(d, moments, resamples=resamples, seed=seed).T
    errors = deviations / math.sqrt(len(d))
    away = means - mean
    constant = errors <= room
    ratios = away / np.where(constant, 1.0, errors)
    far = np.where(np.abs(away) <= room, 0.0, np.copysign(np.inf, away))
    return means, np.where(constant, far, ratios)
