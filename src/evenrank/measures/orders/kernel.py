"""Compiled loops: the same operations in the same order as ``intervals.py`` and ``largest.py``."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# what numba compiles has no types that a checker could follow; those two files are the typed doors to it

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


def compiled(**options: Any) -> Any:
    """``njit`` that keeps its result for the next process, where there is a folder to keep it in."""

    def decorate(function):
        try:
            return njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # neither the package's folder nor the home can be written to
            return njit(nogil=True, **options)(function)

    return decorate


@compiled(boundscheck=False)
def interval_programme(x, lengths, weights, least, fence):
    """Sorted, centred lists ``x`` (Q, K); ``least`` (Q,) and ``fence`` (Q, K) are filled."""
    depth = x.shape[1]
    total, squares = np.zeros(depth + 1), np.zeros(depth + 1)
    cost, variance = np.zeros(depth + 1), np.zeros(depth + 1)
    for query in range(x.shape[0]):
        n = lengths[query]
        for at in range(n):
            total[at + 1] = total[at] + x[query, at]
            squares[at + 1] = squares[at] + x[query, at] * x[query, at]
        cost[:] = 0.0
        for k in range(2, n + 1):
            intervals, weight, share = n - k + 1, weights[k - 1], 1 / k
            if weight == 0:
                for at in range(intervals):
                    cost[at] = min(cost[at], cost[at + 1])
                continue
            for at in range(intervals):
                mean = (total[at + k] - total[at]) * share
                variance[at] = max((squares[at + k] - squares[at]) * share - mean * mean, 0.0) * weight
            for at in range(intervals):
                cost[at] = min(cost[at], cost[at + 1]) + variance[at]
            # four at a time: one minimum after the other would wait for each
            a, b, c, d = variance[0], variance[0], variance[0], variance[0]
            at = 0
            while at + 4 <= intervals:
                a, b = min(a, variance[at]), min(b, variance[at + 1])
                c, d = min(c, variance[at + 2]), min(d, variance[at + 3])
                at += 4
            while at < intervals:
                a = min(a, variance[at])
                at += 1
            fence[query, k - 1] = min(min(a, b), min(c, d))
        least[query] = cost[0]


@compiled(boundscheck=False)
def ends_first(x, below, above, lengths, near, order):
    """Sorted, centred lists ``x`` (Q, K), where they stood, what is near (Q,); ``order`` (Q, K) is filled."""
    for query in range(x.shape[0]):
        low, high, total, first = 0, lengths[query] - 1, 0.0, False
        for k in range(lengths[query]):
            lowest, highest = x[query, low], x[query, high]
            further = (highest + lowest) - 2 * (total / max(k, 1))
            earlier = above[query, high] < below[query, low]
            take_high = earlier if abs(further) <= near[query] else further > 0
            if k == 0:
                take_high = first = earlier
            elif k == 1:
                take_high = not first
            if take_high:
                order[query, k] = high
                total += highest
                high -= 1
            else:
                order[query, k] = low
                total += lowest
                low += 1
