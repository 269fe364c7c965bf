"""The compiled loop of ``shuffles``. Importing this needs numba."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# what numba compiles has no types that a checker could follow; ``shuffles.py`` is the typed door to it

from __future__ import annotations

import numpy as np
from numba import njit


def _compiled(function):
    """``njit`` that keeps its result for the next process, where there is a folder to keep it in."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the home can be written to
        return njit(nogil=True)(function)


@_compiled
def ranges_of_shuffled(values, draws, ranges):
    """Fill ``ranges`` (trials,) from ``values`` (n, m) and ``draws`` (m-1, trials * n)."""
    queries, systems = values.shape
    sums = np.empty(systems)
    row = np.empty(systems)
    column = 0
    for trial in range(len(ranges)):
        sums[:] = 0.0
        for query in range(queries):
            row[:] = values[query]
            for k in range(systems - 1, 0, -1):
                place = np.int64(np.uint64(draws[k - 1, column]) * np.uint64(k + 1) >> np.uint64(32))
                taken = row[place]
                row[place] = row[k]
                sums[k] += taken
            sums[0] += row[0]
            column += 1
        ranges[trial] = (sums.max() - sums.min()) / queries
