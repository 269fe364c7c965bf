"""FA*IR's m-table: how many protected documents the first k must have so that chance could have made them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from evenrank.arrays import Int64s, ragged

_EQUAL = 1 + 1e-12  # F(0; 1, 0.9) is 0.1, give or take the last bit


def minimum_table(ranks: int, p: float, alpha: float) -> Int64s:
    """(ranks,): for the first k documents the smallest m with ``F(m; k, p) > alpha``, F binomial.

    Fewer protected ones than that, and the test for ``p`` fails.

    >>> minimum_table(12, 0.5, 0.1).tolist()
    [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4]
    """
    from scipy.stats import binom

    k = np.arange(1, ranks + 1)
    if p <= 0 or p >= 1:  # all of a kind: none are due, or all
        return k if p >= 1 else np.zeros_like(k)
    m: Int64s = np.clip(np.nan_to_num(binom.ppf(alpha, k, p)), 0, k).astype(np.int64)
    # the quantile is the smallest m with F >= alpha, and both it and F are rounded
    for _ in range(2):
        m -= (m > 0) & (binom.cdf(m - 1, k, p) > alpha * _EQUAL)
    for _ in range(2):
        m += (m < k) & (binom.cdf(m, k, p) <= alpha * _EQUAL)
    return m


def failure_probability(table: Int64s, p: float) -> float:
    """How likely a list that takes each document from the protected with probability p fails somewhere.

    Exact: the distribution of the protected so far, over the lists that have not failed yet.

    >>> round(failure_probability(np.array([0, 0, 0, 1]), 0.5), 4)
    0.0625
    """
    most = int(table.max(initial=0))
    alive = np.zeros(most + 1)  # as many as the last minimum can no more fail
    alive[0], failed = 1.0, 0.0
    for m in table.tolist():
        following = alive * (1 - p)
        following[1:] += alive[:-1] * p
        following[-1] += alive[-1] * p
        failed += float(following[:m].sum())
        following[:m] = 0.0
        alive = following
    return failed


@lru_cache(maxsize=4096)
def adjusted_alpha(ranks: int, p: float, alpha: float) -> float:
    """The largest significance of each single test with which all of them together fail at most by alpha.

    Tables change only where alpha is some F(m; k, p), so these are all there is to try: 0.0 where already
    the smallest of them fails too often.
    """
    from scipy.stats import binom

    table = minimum_table(ranks, p, alpha)
    k = np.repeat(np.arange(1, ranks + 1), table)
    m = ragged(np.zeros_like(table), table)  # from 0 to the minimum of k: all with F(m; k, p) <= alpha
    steps = np.unique(binom.cdf(m, k, p))
    low, high = -1, len(steps)  # the step before all fails never; that behind all is as good as too often
    while high - low > 1:
        middle = (low + high) // 2
        fails = failure_probability(minimum_table(ranks, p, float(steps[middle])), p)
        low, high = (middle, high) if fails <= alpha * _EQUAL else (low, middle)
    return float(steps[low]) if low >= 0 else 0.0


@lru_cache(maxsize=4096)
def table_of(ranks: int, p: float, alpha: float, adjust: bool) -> tuple[int, ...]:
    """The minimum at each rank, where ``adjust`` says that alpha is for all ranks together."""
    if adjust:
        alpha = adjusted_alpha(ranks, p, alpha)
    return tuple(minimum_table(ranks, p, alpha).tolist())
