"""How low, and how high, may the mean over other queries be? Bounds that err on the careful side.

No single bound of a mean holds what it promises for differences between rankings. The percentile bootstrap
is too narrow for few queries, Student's t where a few queries gain or lose much, the studentised bootstrap
where most queries do not change at all. So all three are computed, and the outermost one counts. What that
gives is in ``benchmarks/gate.md``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import ParameterError
from evenrank.stats.intervals import FEWEST, UNBOUNDED, Bounds, mean_interval, resampled, student_quantile
from evenrank.stats.ties import slack

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
