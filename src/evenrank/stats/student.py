"""Quantiles of Student's t for any degrees of freedom, whole or not.

scipy has them too, but importing it takes longer than scoring a run does, and every table has intervals.
"""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_STEPS = 10_000  # of the continued fraction; it ends long before


@lru_cache(maxsize=4096)
def student_quantile(probability: float, degrees: float) -> float:
    """The t with ``P(T <= t) = probability``, for ``degrees`` > 0 degrees of freedom.

    >>> round(student_quantile(0.975, 9), 4), round(student_quantile(0.025, 4.5), 4)
    (2.2622, -2.6589)
    """
    tail = min(probability, 1 - probability)
    low, high = 0.0, 1.0
    while _upper_tail(high, degrees) > tail:
        low, high = high, high * 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _upper_tail(middle, degrees) > tail else (low, middle)
    found = (low + high) / 2
    return found if probability > 0.5 else -found


def _upper_tail(t: float, degrees: float) -> float:
    """``P(T > t)`` for ``t >= 0``: half the regularised incomplete beta function at ``d / (d + t^2)``."""
    square = t * t
    return _beta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square)) / 2


def _beta(a: float, b: float, x: float, rest: float) -> float:
    """``I_x(a, b)``, with ``rest`` = 1 - x given apart, since it may be too small to subtract."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
