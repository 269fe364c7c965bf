"""The compiled loop of ``shuffles``. Importing this needs numba."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# what numba compiles has no types that a checker could follow; ``shuffles.py`` is the typed door to it

from __future__ import annotations

import numpy as np
from numba import njit

_AT_ONCE = 64  # queries: their rows stay in the processor's nearest memory


def _compiled(function):
    """``njit`` that keeps its result for the next process, where there is a folder to keep it in."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the home can be written to
        return njit(nogil=True)(function)


@_compiled
def ranges_of_shuffled(values, draws, ranges):
    """Fill ``ranges`` (trials,) from ``values`` (n, m) and ``draws`` (m-1, trials * n).

    A step of the shuffle is done for many queries before the next step: one query's swaps wait for each
    other, those of different queries do not. Places are unsigned, since a signed index is tested for -1.
    """
    queries, systems = values.shape
    one = np.uint64(1)
    sums = np.empty(systems)
    rows = np.empty((systems, _AT_ONCE))
    for trial in range(len(ranges)):
        sums[:] = 0.0
        for first in range(0, queries, _AT_ONCE):
            count = min(_AT_ONCE, queries - first)
            column = np.uint64(trial * queries + first)
            for row in range(count):
                for system in range(systems):
                    rows[system, row] = values[first + row, system]
            for step in range(systems - 1, 0, -1):
                k = np.uint64(step)
                total = sums[k]
                for row in range(count):
                    query = np.uint64(row)
                    other = np.uint64(draws[k - one, column + query]) * (k + one) >> np.uint64(32)
                    total += rows[other, query]
                    rows[other, query] = rows[k, query]
                sums[k] = total
            for row in range(count):
                sums[0] += rows[0, row]
        ranges[trial] = (sums.max() - sums.min()) / queries
