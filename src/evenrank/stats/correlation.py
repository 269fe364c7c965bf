"""Do two measures agree? Pearson, Spearman and Kendall's tau-b, each with an interval and a p-value.

The points are systems, queries or cut-offs. They should be independent: cut-offs of one averaged curve (Gao,
Ge and Shah 2021, Table 3) are not, and then neither the interval nor p means what it says. For few points p
is exact: how many orders of one side agree as much as this one?
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import UnknownNameError
from evenrank.stats.intervals import ConfidenceInterval
from evenrank.stats.paired import finite_pairs
from evenrank.stats.ties import TOLERANCE, slack, tied_ranks

TOO_FEW = "fewer than two points"
NORMAL = 1.9599639845400536  # the quantile of the normal distribution at 97.5%
PERFECT = "the coefficient is 1 or -1"
EXACT = "exact"
RECURSION = 33  # points up to which Kendall's recursion is used


MOST = 8  # points of which all orders are tried: 40,320
MOST_RANKED = 12  # ranks: of 479 million orders no one is made, sets of places are counted


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
    p_methods: tuple[tuple[str, ...], ...]  # which distribution p comes from
    least_p: Floats  # (m, m) no order of the values has a smaller p


class _Found(NamedTuple):
    """A coefficient, its p, from which distribution that is, and the least p that the values allow."""

    value: float
    p_value: float
    p_method: str
    least_p: float = 0.0


def pearson(first: npt.ArrayLike, second: npt.ArrayLike) -> Correlation:
    """Pearson's r; interval ``tanh(atanh(r) +- z sqrt(1/(n-3)))``.

    Up to 8 points p is exact: the share of all orders of one side whose |r| is as large. Above, it comes from
    t with n - 2 degrees of freedom. Reference: Fisher, On the probable error of a coefficient of correlation,
    1921. Undefined when there are fewer than two points or one side is constant; the interval when n <= 3 or
    |r| = 1.
    """

    def compute(one: Floats, two: Floats) -> _Found:
        return _moments(one, two, MOST, lambda: exact_p(one, two, product_moments))

    return _correlated(first, second, compute, lambda r, n: _fisher(r, n, 3, 1.0))


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> Correlation:
    """Spearman's rho, Pearson's r of the ranks, ties by the mean rank.

    Interval ``tanh(atanh(r) +- z sqrt((1 + r^2/2)/(n-3)))``, p as for Pearson, of the
    ranks, but exact up to 12 points. Reference: Bonett and Wright, Sample size requirements for estimating
    Pearson, Kendall and Spearman correlations, 2000. Undefined as Pearson's.
    """

    def compute(one: Floats, two: Floats) -> _Found:
        one, two = tied_ranks(one), tied_ranks(two)
        return _moments(one, two, MOST_RANKED, lambda: exact_rank_p(one, two))

    return _correlated(first, second, compute, lambda r, n: _fisher(r, n, 3, 1 + r * r / 2))


def _moments(one: Floats, two: Floats, most: int, exact: Callable[[], ExactP]) -> _Found:
    """Pearson's r; p is exact up to ``most`` points, above from t with n - 2 degrees of freedom."""
    r, n = _clipped(float(product_moments(one, two[None])[0])), len(one)
    if n <= most:
        p_value, least = exact()
        return _Found(r, p_value, EXACT, least)
    from scipy.special import stdtr

    p_value = 0.0 if abs(r) == 1 else 2 * float(stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))
    return _Found(r, p_value, "t")


def kendall(first: npt.ArrayLike, second: npt.ArrayLike) -> Correlation:
    """Kendall's tau-b, ``(C - D) / sqrt((C + D + T1)(C + D + T2))``, where T1, T2 are tied on one side only.

    Interval ``tanh(atanh(tau) +- z sqrt(.437 / (n-4)))``, as in Sakai, Kim and Kang 2022, Tables 1-2. p is
    exact up to 8 points, over all orders, and without ties up to 33, by Kendall's recursion; above, it comes
    from the normal distribution. Reference: Fieller, Hartley and Pearson, Tests for rank correlation
    coefficients, 1957. Undefined as Pearson's; the interval when n <= 4 or |tau| = 1.

    >>> round(kendall([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5]).value, 3)
    0.733
    """

    def compute(one: Floats, two: Floats) -> _Found:
        from scipy.stats import kendalltau

        one, two, n = tied_ranks(one), tied_ranks(two), len(one)
        ties = len(np.unique(one)) < n or len(np.unique(two)) < n
        exact = not ties and n <= RECURSION
        tau, p_value = map(float, kendalltau(one, two, method="exact" if exact else "asymptotic"))
        if exact:
            return _Found(_clipped(tau), p_value, EXACT, 2 / math.factorial(n))
        if n > MOST:
            return _Found(_clipped(tau), p_value, "normal")
        p_value, least = exact_p(one, two, concordances)
        return _Found(_clipped(tau), p_value, EXACT, least)

    return _correlated(first, second, compute, lambda tau, n: _fisher(tau, n, 4, 0.437))


METHODS: Mapping[str, Callable[..., Correlation]] = MappingProxyType(
    {"kendall": kendall, "pearson": pearson, "spearman": spearman}
)


def correlation_matrix(columns: Floats, method: str = "kendall") -> CorrelationMatrix:
    """Correlate every column of ``columns``, points by measures, with every other.

    A point that lacks a value for one measure is left out only where that measure takes part.
    """
    if method not in METHODS:
        raise UnknownNameError(f"no correlation {method!r}; there are {', '.join(METHODS)}")
    every = range(columns.shape[1])
    found: dict[tuple[int, int], Correlation] = {}
    for one in every:
        for two in every[one:]:
            both = METHODS[method](columns[:, one], columns[:, two])
            found[two, one] = both._replace(reason=_SWAPPED.get(both.reason or "", both.reason))
            found[one, two] = both

    def of(part: Callable[[Correlation], Any]) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(part(found[one, two]) for two in every) for one in every)

    def matrix(part: Callable[[Correlation], float], kind: type = float) -> Any:
        return np.array(of(part), dtype=kind)

    return CorrelationMatrix(
        method,
        matrix(lambda one: one.value),
        matrix(lambda one: one.interval.low),
        matrix(lambda one: one.interval.high),
        matrix(lambda one: one.p_value),
        matrix(lambda one: one.n, np.int64),
        of(lambda one: one.reason),
        of(lambda one: one.p_method),
        matrix(lambda one: one.least_p),
    )


_CONSTANT = {
    (True, False): "all values of the first are equal",
    (False, True): "all values of the second are equal",
    (True, True): "all values of both are equal",
}
_SWAPPED = {_CONSTANT[one, two]: _CONSTANT[two, one] for one, two in _CONSTANT}


def _correlated(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    compute: Callable[[Floats, Floats], _Found],
    interval: Callable[[float, int], ConfidenceInterval],
) -> Correlation:
    """What ``compute`` says of the points that count, or why there is nothing to compute."""
    one, two, undefined, infinite = finite_pairs(first, second)
    n, dropped = len(one), undefined + infinite
    constant = (_is_constant(one), _is_constant(two)) if n > 1 else (False, False)
    if n < 2 or any(constant):
        reason = TOO_FEW if n < 2 else _CONSTANT[constant]
        nothing = ConfidenceInterval(math.nan, math.nan, reason)
        return Correlation(math.nan, nothing, math.nan, n, dropped, reason)
    value, p_value, p_method, least_p = compute(one, two)
    return Correlation(value, interval(value, n), p_value, n, dropped, None, p_method, least_p)


def _is_constant(values: Floats) -> bool:
    return bool(np.ptp(values) <= slack(values))


def _clipped(value: float) -> float:
    """A coefficient that is 1, -1 or 0 but for rounding is 1, -1 or 0."""
    if abs(value) >= 1 - 1e-14:
        return math.copysign(1.0, value)
    return value if abs(value) > 1e-15 else 0.0


def _fisher(value: float, n: int, lost: int, variance: float) -> ConfidenceInterval:
    """``tanh(atanh(value) +- z sqrt(variance / (n - lost)))``, z = 1.96 for 95%."""
    if abs(value) == 1:
        return ConfidenceInterval(math.nan, math.nan, PERFECT)
    if n <= lost:
        return ConfidenceInterval(math.nan, math.nan, f"an interval needs more than {lost} points")
    half = NORMAL * math.sqrt(variance / (n - lost))
    centre = math.atanh(value)
    return ConfidenceInterval(math.tanh(centre - half), math.tanh(centre + half))


class ExactP(NamedTuple):
    """``least`` is the p of the largest coefficient that these values allow: no order has a smaller one."""

    p_value: float
    least: float


def exact_p(first: Floats, second: Floats, coefficient: Callable[[Floats, Floats], Floats]) -> ExactP:
    """The share of all orders of the second side whose coefficient is as far from 0.

    ``coefficient`` takes the first side and rows of the second; the rows are its orders, (n!, n).

    >>> exact_p(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), product_moments)
    ExactP(p_value=0.3333333333333333, least=0.3333333333333333)
    """
    sizes = np.abs(coefficient(first, second[_orders(len(second))]))
    observed = abs(float(coefficient(first, second[None])[0]))
    return ExactP(
        float((sizes >= observed - TOLERANCE).mean()), float((sizes >= sizes.max() - TOLERANCE).mean())
    )


@lru_cache(maxsize=MOST)
def _orders(n: int) -> npt.NDArray[np.int8]:
    return np.array(list(itertools.permutations(range(n))), dtype=np.int8)


def product_moments(first: Floats, orders: Floats) -> Floats:
    """Pearson's r of one side with every order of the other, up to rounding."""
    one, others = first - first.mean(), orders - orders[0].mean()
    one, others = one / np.abs(one).max(), others / np.abs(others[0]).max()  # squares of any numbers fit
    moments: Floats = others @ one / math.sqrt(float(one @ one) * float(others[0] @ others[0]))
    return moments


def concordances(first: Floats, orders: Floats) -> Floats:
    """What Kendall's tau-b is proportional to: concordant pairs less discordant ones, over all pairs."""
    rows, columns = np.triu_indices(len(first), 1)
    signs = np.sign(first[rows] - first[columns])  # (pairs,)
    agreement: Floats = np.sign(orders[:, rows] - orders[:, columns]) @ signs / len(rows)
    return agreement


def exact_rank_p(first: Floats, second: Floats) -> ExactP:
    """``exact_p`` of Spearman's coefficient, by counting orders with the same sum of products of ranks.

    >>> exact_rank_p(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 4.0])).p_value == 2 / 24
    True
    """
    one, two = (np.rint(2 * ranks).astype(np.int64) for ranks in (first, second))  # mean ranks are halves
    counts = _sums_of_products(tuple(sorted(one.tolist())), tuple(sorted(two.tolist())))
    sums = np.arange(len(counts))
    # n times the sum less the product of totals: 0 where there is no correlation, in whole numbers
    distance = np.abs(len(one) * sums - one.sum() * two.sum())
    observed = abs(len(one) * int(one @ two) - int(one.sum() * two.sum()))
    possible = distance[counts > 0].max()
    total = counts.sum()
    return ExactP(
        float(counts[distance >= observed].sum() / total), float(counts[distance >= possible].sum() / total)
    )


@lru_cache(maxsize=64)  # without ties all pairs of so many points have the same
def _sums_of_products(first: tuple[int, ...], second: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """How many of the orders of ``second`` have each sum of products with ``first``.

    Place by place: the sums that a set of places of ``second`` can have with as many of the first places.
    """
    size = sum(one * two for one, two in zip(first, second, strict=True)) + 1  # both sorted: the largest
    layer = {0: np.zeros(size, dtype=np.int64)}
    layer[0][0] = 1
    for value in first:
        following: dict[int, npt.NDArray[np.int64]] = {}
        for chosen, counts in layer.items():
            for place, other in enumerate(second):
                if chosen >> place & 1:
                    continue
                held = following.setdefault(chosen | 1 << place, np.zeros(size, dtype=np.int64))
                shift = value * other
                held[shift:] += counts[: size - shift]
        layer = following
    (found,) = layer.values()
    return found
