"""Quantiles of Student's t for any degrees of freedom, whole or not.

scipy has them too, but importing it takes 0.15 s of processor time, more than scoring a run does, and every
table has intervals.
"""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_SERIES_FROM = 20.0  # from there on, the series of the gamma function is exact to the last bit
_STEPS = 10_000  # of the continued fraction; it ends long before


@lru_cache(maxsize=4096)
def student_quantile(probability: float, degrees: float) -> float:
    """The t with ``P(T <= t) = probability``, for ``degrees`` > 0 degrees of freedom.

    >>> round(student_quantile(0.975, 9), 4), round(student_quantile(0.025, 4.5), 4)
    (2.2622, -2.6589)
    """
    if probability == 0.5:
        return 0.0
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
    x, rest = degrees / (degrees + square), square / (degrees + square)
    if x <= 0 or rest <= _TINY:  # so near to the middle, one half is exact, and a logarithm may not exist
        return 0.0 if x <= 0 else 0.5
    a, b = degrees / 2, 0.5
    front = math.exp(_log_gamma_step(a) - a * math.log1p(square / degrees) + b * math.log(rest / math.pi))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a / 2
    return (1 - front * _fraction(b, a, rest) / b) / 2


def _log_gamma_step(a: float) -> float:
    """``log(gamma(a + 1/2) / gamma(a))``; of two large logarithms the difference would be inexact."""
    if a < _SERIES_FROM:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    square = a * a
    terms = -1 / 8 + (1 / 192 + (-1 / 640 + (17 / 14336 - 31 / 18432 / square) / square) / square) / square
    return math.log(a) / 2 + terms / a


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
