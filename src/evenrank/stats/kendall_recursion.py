"""Kendall's tau of few points without ties, with its exact distribution.

It is what ``scipy.stats.kendalltau(method="exact")`` computes, in the same steps. Importing scipy.stats takes
a second of processor time, which is longer than a report needs for all its numbers.
"""

from __future__ import annotations

import math

import numpy as np

from evenrank.arrays import Floats


def without_ties(first: Floats, second: Floats) -> tuple[float, float]:
    """Tau and its two-sided p.

    >>> tau, p_value = without_ties(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    >>> round(tau, 4), p_value
    (0.3333, 1.0)
    """
    n, pairs = len(first), len(first) * (len(first) - 1) // 2
    signs = np.sign(first[:, None] - first) * np.sign(second[:, None] - second)  # (n, n)
    difference = int(signs.sum()) // 2  # concordant pairs less discordant ones
    discordant = (pairs - difference) // 2
    tau = float(difference / np.sqrt(pairs) / np.sqrt(pairs))
    return tau, two_sided(n, min(discordant, pairs - discordant))


def two_sided(n: int, fewer: int) -> float:
    """Twice the share of all orders of n values with at most ``fewer`` discordant pairs, and at most 1.

    Kendall, Rank Correlation Methods, 1970: the orders of n values by their discordant pairs come from those
    of n - 1, since a new largest value makes 0 to n - 1 of them.
    """
    if n <= 2 or 4 * fewer == n * (n - 1):
        return 1.0
    if fewer <= 1:
        return 2.0 / math.factorial(n - fewer)
    orders = np.zeros(fewer + 1)
    orders[:2] = 1.0
    for size in range(3, n + 1):
        orders = np.cumsum(orders)
        if size <= fewer:
            orders[size:] -= orders[: fewer + 1 - size]
    return float(min(2.0 * np.sum(orders) / math.factorial(n), 1.0))
