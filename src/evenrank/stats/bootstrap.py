"""Bootstrap intervals: queries are drawn again with replacement."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import ParameterError

FEWEST = 5  # values that an interval is given for
_NUMBERS_AT_ONCE = 1 << 21


def bootstrap_interval(
    values: Floats,
    aggregate: Callable[[Floats], Floats],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """The percentile interval of ``aggregate`` over resampled queries.

    For fewer than five values it is NaN: resampling so few says nothing about other queries.

    >>> low, high = bootstrap_interval(np.array([0.0, 1.0, 1.0, 0.0, 0.5]), lambda v: v.mean(axis=-1))
    >>> bool(0 <= low < 0.5 < high <= 1)
    True
    """
    if not 0 < level < 1:
        raise ParameterError(f"level must be between 0 and 1, as 0.95; got {level!r}")
    if resamples < 1:
        raise ParameterError(f"resamples must be at least 1, got {resamples!r}")
    if len(values) < FEWEST:
        return math.nan, math.nan
    drawn = resampled(values, aggregate, resamples=resamples, seed=seed)
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


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
