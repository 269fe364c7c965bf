"""Confidence intervals of a mean over queries: one rule for every table, comparison and report.

Percentiles of resampled means are too narrow for few queries, and Student's t is too narrow where many
queries have the same value and a few lie far away, as NFaiRR is 1 for most queries. The rule here adds half
an observation to the sample before it takes Student's t: a quarter on each side, as far out as values that
were not seen may lie. ``benchmarks/intervals.md`` has its coverage and its width beside those of other rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import ParameterError
from evenrank.stats.ties import slack
from evenrank.stats.weights import effective_number

Bounds = tuple[float, float]

UNBOUNDED: Bounds = (-math.inf, math.inf)
FEWEST = 5  # values that an interval is given for
ADDED = 0.25  # of an observation, on each side
REACH_WITHIN = 2.5  # times as far from the mean as the outermost value, where there is a bound
REACH_BEYOND = 3.0  # the same on a side without a bound
ENOUGH_BOUNDED = 10  # values from which an interval covers what it says, whatever their shape
ENOUGH_UNBOUNDED = 20

TOO_FEW = f"no interval: fewer than {FEWEST} queries have a value"
CONSTANT = "no interval: all values are equal, and the measure has no bounds that say how far others may lie"
INFINITE_VALUE = "no interval: the value is infinite"
ONE_VALUE = "no interval: it is one value for all queries together"
UNMOVED = "no interval: drawing the queries again never changes the value"
FEW_BOUNDED = f"the interval may be too narrow: it is over fewer than {ENOUGH_BOUNDED} queries"
FEW_UNBOUNDED = (
    f"the interval may be too narrow: it is over fewer than {ENOUGH_UNBOUNDED} queries, and the measure has "
    "no bounds"
)
_LARGE = 1e100  # the square of a larger number may be too large
_NUMBERS_AT_ONCE = 1 << 21


class ConfidenceInterval(NamedTuple):
    """NaN with the reason where there is none."""

    low: float
    high: float
    reason: str | None = None


def mean_interval(
    values: npt.ArrayLike,
    bounds: Bounds = UNBOUNDED,
    *,
    level: float = 0.95,
    weights: Floats | None = None,
) -> ConfidenceInterval:
    """The interval of a mean: Student's t after a quarter of an observation was added on each side.

    For n values x with mean m, of which at most k are equal, the added ones are at ``low'`` and ``high'``:

    - ``high' = min(high, m + 2.5 (max x - m))`` where the values have an upper bound, moved towards
      ``high`` by the share ``(k - 1)/(n - 1)`` of the way: where many values are equal, a few that were not
      seen may lie anywhere up to the bound;
    - ``high' = m + 3 (max x - m)`` where they have none; and ``low'`` is the mirror image.

    With ``N = n + 1/2`` and M, S the mean and the standard deviation (``N - 1`` below the sum of squares) of
    the sample with these, the interval is ``M -+ t(N - 1) S / sqrt(N)``, cut to the bounds; it holds m.
    Values beyond the bounds, as NFaiRR of a collection has, move the bounds.

    With ``weights`` (n,) the mean is weighted, and n is the effective number of values: a value counts for
    its weight, scaled so that the weights sum to n.

    Undefined when there are fewer than five values, and when all are equal and a bound is missing.

    >>> low, high, _ = mean_interval([1.0] * 20, (0.0, 1.0))
    >>> round(low, 3), high
    (0.936, 1.0)
    """
    check_level(level)
    x = np.asarray(values, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    x, w = x[w > 0], w[w > 0]
    n = len(x) if weights is None else effective_number(w)
    if n < FEWEST - 1e-9:
        return ConfidenceInterval(math.nan, math.nan, TOO_FEW)
    size = float(np.abs(x).max())
    if size > _LARGE:
        smaller = bounds[0] / size, bounds[1] / size
        low, high, reason = mean_interval(x / size, smaller, level=level, weights=w)
        return ConfidenceInterval(low * size, high * size, reason)
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order] * (n / w.sum())
    equal = _share_equal(x, w, n)
    if equal == 1 and not all(map(math.isfinite, bounds)):
        return ConfidenceInterval(math.nan, math.nan, CONSTANT)
    mean = float((w * x).sum() / n)
    lowest, highest = min(bounds[0], float(x[0])), max(bounds[1], float(x[-1]))
    below = _added(mean - float(x[0]), mean - lowest, equal)  # how far from the mean: (0, inf)
    above = _added(float(x[-1]) - mean, highest - mean, equal)
    total = n + 2 * ADDED
    shift = ADDED * (above - below) / total
    added = ADDED * ((above - shift) ** 2 + (below + shift) ** 2)
    squares = float((w * (x - mean - shift) ** 2).sum()) + added
    half = student_quantile((1 + level) / 2, total - 1) * math.sqrt(squares / (total - 1) / total)
    low, high = max(lowest, mean + shift - half), min(highest, mean + shift + half)
    return ConfidenceInterval(min(low, mean), max(high, mean))


def resampled_interval(
    values: Floats,
    aggregate: Callable[[Floats], Floats],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> ConfidenceInterval:
    """The interval of an aggregate that is not a mean: percentiles of resampled values, further out.

    The percentiles are those that would turn a normal interval into one of Student's t with n - 1 degrees
    of freedom (Hesterberg, What teachers should know about the bootstrap, 2015, §4.4). Undefined when there
    are fewer than five values, and where resampling never changes the aggregate: no interval has width 0.
    """
    check_level(level)
    if resamples < 1:
        raise ParameterError(f"resamples must be at least 1, got {resamples!r}")
    if len(values) < FEWEST:
        return ConfidenceInterval(math.nan, math.nan, TOO_FEW)
    drawn = resampled(values, aggregate, resamples=resamples, seed=seed)
    tail = (1 - expanded_level(level, len(values))) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    if high - low <= slack(np.array([low, high])):
        return ConfidenceInterval(math.nan, math.nan, UNMOVED)
    return ConfidenceInterval(low, high)


def resampled(
    values: Floats, statistic: Callable[[Floats], Floats], *, resamples: int, seed: int
) -> Floats:  # (B, ...)
    """``statistic`` of values drawn with replacement, as many as there are, ``resamples`` times."""
    count = len(values)
    generator = np.random.default_rng(seed)
    step = max(1, _NUMBERS_AT_ONCE // count)
    drawn = []
    for begin in range(0, resamples, step):
        rows = min(step, resamples - begin)
        picks = generator.integers(0, count, size=(rows, count))  # (B, n)
        drawn.append(statistic(values[picks]))
    return np.concatenate(drawn)


def student_quantile(probability: float, degrees: float) -> float:
    """The t with ``P(T <= t) = probability``, for any number of degrees of freedom, whole or not."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def expanded_level(level: float, n: int) -> float:
    """The level at which percentiles of n resampled values are as far out as Student's t is.

    >>> round(expanded_level(0.95, 10), 4), round(expanded_level(0.95, 1000), 4)
    (0.9829, 0.9504)
    """
    t = student_quantile((1 + level) / 2, n - 1)
    return min(math.erf(math.sqrt(n / (n - 1)) * t / math.sqrt(2)), math.nextafter(1.0, 0.0))


def interval_note(found: ConfidenceInterval, n: int, bounds: Bounds) -> str:
    """Why there is no interval, or why it may be too narrow; nothing where neither is so."""
    if found.reason is not None:
        return found.reason
    bounded = all(map(math.isfinite, bounds))
    if n >= (ENOUGH_BOUNDED if bounded else ENOUGH_UNBOUNDED):
        return ""
    return FEW_BOUNDED if n < ENOUGH_BOUNDED else FEW_UNBOUNDED


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"level must be between 0 and 1, as 0.95; got {level!r}")


def _share_equal(x: Floats, w: Floats, n: float) -> float:
    """For sorted values ``(k - 1)/(n - 1)``, k of which are equal: 0 where none are, 1 where all are.

    Values of weights ``w`` count for these, which sum to n; one that counts for less than 1 is one value.
    """
    starts = np.flatnonzero(np.concatenate([[True], np.diff(x) > slack(x)]))
    if len(starts) == 1:
        return 1.0
    return max(0.0, float(np.add.reduceat(w, starts).max()) - 1) / (n - 1)


def _added(outermost: float, bound: float, equal: float) -> float:
    """How far from the mean the added observation is, given how far the outermost value and the bound are."""
    if math.isinf(bound):
        return REACH_BEYOND * outermost
    return equal * bound + (1 - equal) * min(bound, REACH_WITHIN * outermost)
