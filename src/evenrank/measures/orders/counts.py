"""Two groups: the utility of a prefix depends on its length and on how many protected documents it has.

So the best way to have c protected documents among the first k is the better of the ways to have c or c - 1
of them among the first k - 1, plus the utility: a programme over counts gives the range over all orders.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.measures.orders.spread import inside

Utility = Callable[[Floats, Floats, Floats, Floats], Floats]  # of c of k, where the list has P of n

DISCOUNTS = ("log2(1+i)", "log2(i)")


def difference(c: Floats, k: Floats, protected: Floats, n: Floats) -> Floats:
    """rND: ``|c/k - P/n|``."""
    return np.abs(c / k - protected / n)


def divergence(c: Floats, k: Floats, protected: Floats, n: Floats, *, clamp: float | None = None) -> Floats:
    """rKL: the divergence in bits of (c/k, 1 - c/k) from (P/n, 1 - P/n). With ``clamp`` a share of 0 and a
    share of 1 are both replaced by it, as the published code does."""
    p, q = np.broadcast_arrays(c / k, protected / n)
    if clamp is not None:
        p = np.where((p == 0) | (p == 1), clamp, p)
        q = np.where((q == 0) | (q == 1), clamp, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(p > 0, p * np.log2(p / q), 0.0)
        return bits + np.where(p < 1, (1 - p) * np.log2((1 - p) / (1 - q)), 0.0)


def ratio(c: Floats, k: Floats, protected: Floats, n: Floats) -> Floats:
    """rRD: ``|min(r_k, r_n) - r_n|``, r the protected over the unprotected, 0 where none is unprotected."""
    whole = _quotient(protected, n - protected)
    return np.abs(np.minimum(_quotient(c, k - c), whole) - whole)


def _quotient(one: Floats, other: Floats) -> Floats:
    return np.where(other > 0, one / np.maximum(other, 1), 0.0)


UTILITIES: dict[str, Utility] = {"rND": difference, "rKL": divergence, "rRD": ratio}


def clamped(clamp: float | None) -> Utility:
    return partial(divergence, clamp=clamp)


def count_weights(depth: int, step: int = 1, discount: str = DISCOUNTS[0]) -> Floats:
    """(K,): one over the discount at every step-th rank, else 0; ``log2(i)`` leaves out rank 1."""
    k = np.arange(1, depth + 1)
    if discount == DISCOUNTS[0]:
        return np.where(k % step == 0, 1 / np.log2(k + 1), 0.0)
    return np.where((k % step == 0) & (k > 1), 1 / np.log2(np.maximum(k, 2)), 0.0)


def count_terms(
    protected: Bools, lengths: Int64s, utility: Utility, *, step: int = 1, discount: str = DISCOUNTS[0]
) -> Floats:
    """(Q, K): what each rank adds to the sum; ``protected`` (Q, K) marks documents of the group.

    >>> first = np.array([[True, True, False, False]])
    >>> count_terms(first, np.array([4]), difference, step=2).sum().round(4)
    np.float64(0.3155)
    """
    depth = protected.shape[1]
    there = inside(depth, lengths)
    c = np.cumsum(protected & there, axis=1).astype(float)
    k = np.arange(1.0, depth + 1)
    members = (protected & there).sum(axis=1, keepdims=True).astype(float)
    u = utility(c, k, members, np.maximum(lengths, 1)[:, None].astype(float))
    return np.where(there, u, 0.0) * count_weights(depth, step, discount)


def count_extremes(
    protected: Int64s, lengths: Int64s, utility: Utility, *, step: int = 1, discount: str = DISCOUNTS[0]
) -> tuple[Floats, Floats]:
    """(Q,): the smallest and the largest sum over all orders of n documents of which P are protected.

    >>> count_extremes(np.array([2]), np.array([4]), difference, step=2)
    (array([0.]), array([0.31546488]))
    """
    pairs, back = np.unique(np.stack([protected, lengths]), axis=1, return_inverse=True)
    members, n = pairs[0][:, None].astype(float), np.maximum(pairs[1], 1)[:, None].astype(float)  # (G, 1)
    depth, most = int(lengths.max(initial=0)), int(protected.max(initial=0))
    weights = count_weights(depth, step, discount)
    c = np.arange(most + 1.0)
    low = np.full((pairs.shape[1], most + 1), np.inf)  # (G, C)
    low[:, 0] = 0.0
    high = -low
    least, greatest = np.zeros(pairs.shape[1]), np.zeros(pairs.shape[1])
    for k in range(1, depth + 1):
        low[:, 1:] = np.minimum(low[:, 1:], low[:, :-1])
        high[:, 1:] = np.maximum(high[:, 1:], high[:, :-1])
        possible = c <= np.minimum(k, members)  # too few for the ranks left never come to P in the end
        if weights[k - 1]:
            cost = weights[k - 1] * utility(np.minimum(c, k), np.asarray(float(k)), members, n)
            low, high = low + np.where(possible, cost, 0.0), high + np.where(possible, cost, 0.0)
        low, high = np.where(possible, low, np.inf), np.where(possible, high, -np.inf)
        (ends,) = np.nonzero(pairs[1] == k)
        least[ends], greatest[ends] = low[ends, pairs[0, ends]], high[ends, pairs[0, ends]]
    return least[back], greatest[back]
