"""Do two measures agree? Pearson, Spearman and Kendall's tau-b, each with an interval and a p-value.

The points are systems, queries or cut-offs. They should be independent: cut-offs of one averaged curve
(fair-2021, Table 3) are not, and then neither the interval nor p means what it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError, ParameterError, UnknownNameError
from evenrank.stats.intervals import ConfidenceInterval, check_level
from evenrank.stats.orders import MOST, MOST_RANKED, concordances, exact_p, exact_rank_p, product_moments
from evenrank.stats.paired import FinitePairs, finite_pairs
from evenrank.stats.ties import slack, tied_ranks

TOO_FEW = "fewer than two points"
PERFECT = "the coefficient is 1 or -1"
EXACT = "exact"
RECURSION = 33  # points up to which Kendall's recursion is used


class Correlation(NamedTuple):
    """``reason`` says why ``value`` is NaN, the interval's own why that one is."""

    value: float
    interval: ConfidenceInterval
    p_value: float
    n: int
    dropped: int  # points with an undefined or an infinite value
    reason: str | None = None
    p_method: str = "none"  # which distribution p comes from: exact, t, normal
    least_p: float = 0.0  # no order of these values has a smaller p

    def cannot_be_significant(self, alpha: float) -> bool:
        """True where not even the largest coefficient would have a p below ``alpha``."""
        return not self.least_p < alpha


class CorrelationMatrix(NamedTuple):
    """Every column against every other; the order is that of the columns."""

    method: str
    values: Floats  # (m, m)
    low: Floats  # (m, m)
    high: Floats  # (m, m)
    p_values: Floats  # (m, m)
    counts: npt.NDArray[np.int64]  # (m, m) points that entered
    reasons: tuple[tuple[str | None, ...], ...]  # why a value is NaN
    p_methods: tuple[tuple[str, ...], ...] = ()  # which distribution p comes from
    least_p: Floats = np.zeros((0, 0))  # (m, m) no order of the values has a smaller p


def pearson(first: npt.ArrayLike, second: npt.ArrayLike, *, level: float = 0.95) -> Correlation:
    """Pearson's r; interval ``tanh(atanh(r) +- z sqrt(1/(n-3)))``.

    Up to 8 points p is exact: the share of all orders of one side whose |r| is as large. Above, it comes from
    t with n - 2 degrees of freedom. Reference: Fisher, On the probable error of a coefficient of correlation,
    1921. Undefined when there are fewer than two points or one side is constant; the interval when n <= 3 or
    |r| = 1.
    """
    pairs = finite_pairs(first, second)
    if (early := _undefined(pairs, level)) is not None:
        return early
    one, two, n = pairs.first, pairs.second, len(pairs.first)
    r = _clipped(float(product_moments(one, two[None])[0]))
    interval = _fisher(r, n, level, 3, 1.0)
    if n > MOST:
        return Correlation(r, interval, _p_by_t(r, n), n, _dropped(pairs), None, "t")
    p_value, least = exact_p(one, two, product_moments)
    return Correlation(r, interval, p_value, n, _dropped(pairs), None, EXACT, least)


def spearman(first: npt.ArrayLike, second: npt.ArrayLike, *, level: float = 0.95) -> Correlation:
    """Spearman's rho, Pearson's r of the ranks, ties by the mean rank.

    Interval ``tanh(atanh(r) +- z sqrt((1 + r^2/2)/(n-3)))``, p as for Pearson, of the
    ranks, but exact up to 12 points. Reference: Bonett and Wright, Sample size requirements for estimating
    Pearson, Kendall and Spearman correlations, 2000. Undefined as Pearson's.
    """
    pairs = finite_pairs(first, second)
    if (early := _undefined(pairs, level)) is not None:
        return early
    one, two, n = tied_ranks(pairs.first), tied_ranks(pairs.second), len(pairs.first)
    r = _clipped(float(product_moments(one, two[None])[0]))
    interval = _fisher(r, n, level, 3, 1 + r * r / 2)
    if n > MOST_RANKED:
        return Correlation(r, interval, _p_by_t(r, n), n, _dropped(pairs), None, "t")
    p_value, least = exact_rank_p(one, two)
    return Correlation(r, interval, p_value, n, _dropped(pairs), None, EXACT, least)


def kendall(first: npt.ArrayLike, second: npt.ArrayLike, *, level: float = 0.95) -> Correlation:
    """Kendall's tau-b, ``(C - D) / sqrt((C + D + T1)(C + D + T2))``, where T1, T2 are tied on one side only.

    The interval is that of ``kendall_interval``. p is exact up to 8 points, over all orders, and without ties
    up to 33, by Kendall's recursion; above, it comes from the normal distribution.
    Undefined when there are fewer than two points or one side is constant.

    >>> round(kendall([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5]).value, 3)
    0.733
    """
    pairs = finite_pairs(first, second)
    if (early := _undefined(pairs, level)) is not None:
        return early
    from scipy.stats import kendalltau

    one, two, n = tied_ranks(pairs.first), tied_ranks(pairs.second), len(pairs.first)
    ties = len(np.unique(one)) < n or len(np.unique(two)) < n
    method = EXACT if not ties and n <= RECURSION else "asymptotic"
    tau, p_value = kendalltau(one, two, method=method)
    least = 2 / math.factorial(n) if method == EXACT else 0.0
    if ties and n <= MOST:
        p_value, least = exact_p(one, two, concordances)
        method = EXACT
    value = _clipped(float(tau))
    interval = kendall_interval(value, n, level=level)
    name = EXACT if method == EXACT else "normal"
    return Correlation(value, interval, float(p_value), n, _dropped(pairs), None, name, least)


def kendall_interval(tau: float, n: int, *, level: float = 0.95) -> ConfidenceInterval:
    """``tanh(atanh(tau) +- z sqrt(.437 / (n-4)))``, z = 1.96 for 95%: the intervals of gfr-2022, Tables 1-2.

    Reference: Fieller, Hartley and Pearson, Tests for rank correlation coefficients, 1957. Undefined when
    n <= 4 or |tau| = 1.

    >>> [round(end, 3) for end in kendall_interval(0.438, 21)[:2]]
    [0.154, 0.655]
    """
    if not -1 <= tau <= 1:
        raise ParameterError(f"tau must lie between -1 and 1, got {tau!r}")
    return _fisher(tau, n, level, 4, 0.437)


METHODS: Mapping[str, Callable[..., Correlation]] = MappingProxyType(
    {"kendall": kendall, "pearson": pearson, "spearman": spearman}
)


def correlation_matrix(
    columns: npt.ArrayLike, method: str = "kendall", *, level: float = 0.95
) -> CorrelationMatrix:
    """Correlate every column of ``columns``, points by measures, with every other.

    A point that lacks a value for one measure is left out only where that measure takes part.
    """
    if method not in METHODS:
        raise UnknownNameError(f"no correlation {method!r}; there are {', '.join(METHODS)}")
    table = np.asarray(columns, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"a matrix of correlations needs points by measures, got shape {table.shape}")
    count = table.shape[1]
    values, low, high, p_values = (np.full((count, count), np.nan) for _ in range(4))
    counts = np.zeros((count, count), dtype=np.int64)
    reasons: list[list[str | None]] = [[None] * count for _ in range(count)]
    least_p = np.zeros((count, count))
    methods = [["none"] * count for _ in range(count)]
    for one in range(count):
        for two in range(one, count):
            found = METHODS[method](table[:, one], table[:, two], level=level)
            for place in ((one, two), (two, one)):
                values[place], p_values[place], counts[place] = found.value, found.p_value, found.n
                low[place], high[place] = found.interval.low, found.interval.high
                least_p[place], methods[place[0]][place[1]] = found.least_p, found.p_method
            reasons[one][two] = found.reason
            reasons[two][one] = _SWAPPED.get(found.reason or "", found.reason)
    return CorrelationMatrix(
        method,
        values,
        low,
        high,
        p_values,
        counts,
        tuple(map(tuple, reasons)),
        tuple(map(tuple, methods)),
        least_p,
    )


_CONSTANT = {
    (True, False): "all values of the first are equal",
    (False, True): "all values of the second are equal",
    (True, True): "all values of both are equal",
}
_SWAPPED = {_CONSTANT[one, two]: _CONSTANT[two, one] for one, two in _CONSTANT}


def _undefined(pairs: FinitePairs, level: float) -> Correlation | None:
    check_level(level)
    n = len(pairs.first)
    if n < 2:
        reason = TOO_FEW
    else:
        constant = (_is_constant(pairs.first), _is_constant(pairs.second))
        if not any(constant):
            return None
        reason = _CONSTANT[constant]
    return Correlation(
        math.nan, ConfidenceInterval(math.nan, math.nan, reason), math.nan, n, _dropped(pairs), reason
    )


def _is_constant(values: Floats) -> bool:
    return bool(np.ptp(values) <= slack(values))


def _dropped(pairs: FinitePairs) -> int:
    return pairs.undefined + pairs.infinite


def _clipped(value: float) -> float:
    """A coefficient that is 1, -1 or 0 but for rounding is 1, -1 or 0."""
    if abs(value) >= 1 - 1e-14:
        return math.copysign(1.0, value)
    return value if abs(value) > 1e-15 else 0.0


def _p_by_t(r: float, n: int) -> float:
    if abs(r) == 1:
        return 0.0
    from scipy.special import stdtr

    return 2 * float(stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


def _fisher(value: float, n: int, level: float, lost: int, variance: float) -> ConfidenceInterval:
    """``tanh(atanh(value) +- z sqrt(variance / (n - lost)))``."""
    check_level(level)
    if abs(value) == 1:
        return ConfidenceInterval(math.nan, math.nan, PERFECT)
    if n <= lost:
        return ConfidenceInterval(math.nan, math.nan, f"an interval needs more than {lost} points")
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(variance / (n - lost))
    centre = math.atanh(value)
    return ConfidenceInterval(math.tanh(centre - half), math.tanh(centre + half))
