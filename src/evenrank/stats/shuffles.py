"""How far apart the best and the worst system fall when each query's values are shuffled among systems.

The work is one random swap for each value of each trial. It is done in chunks of trials, by numpy or by a
compiled loop, both of which read the same random numbers: the result does not depend on which one ran.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import MissingExtraError

Draws = npt.NDArray[np.uint32]

_NUMBERS_AT_ONCE = 1 << 19
_WORTH_COMPILING = 1 << 26  # swaps from which the compiler's start, about half a second, is won back


def shuffled_ranges(values: Floats, trials: int, seed: int, *, compiled: bool | None = None) -> Floats:
    """(B,): for each trial the largest mean less the smallest, after shuffling every row of ``values``.

    Fisher-Yates with the place ``floor(u (k+1) / 2^32)`` for a 32-bit ``u``; for m systems a place is too
    likely or too rare by at most ``m / 2^32``. ``compiled`` None: where numba is there and pays.
    """
    queries, systems = values.shape
    if compiled is None:
        large = trials * values.size >= _WORTH_COMPILING
        compiled = "numba" in sys.modules or (large and find_spec("numba") is not None)
    elif compiled and find_spec("numba") is None:
        raise MissingExtraError.for_job("compiled shuffling", "numba", "scan")
    generator = np.random.default_rng(seed)
    ranges = np.empty(trials)
    if not values.size:
        return np.full(trials, np.nan)
    step = max(1, _NUMBERS_AT_ONCE // values.size)
    for begin in range(0, trials, step):
        some = min(step, trials - begin)
        draws = draw(generator, (systems - 1, some * queries))
        if compiled:
            from evenrank.stats.shuffles_kernel import ranges_of_shuffled

            ranges_of_shuffled(values, draws, ranges[begin : begin + some])
        else:
            ranges[begin : begin + some] = _ranges(values, draws)
    return ranges


def draw(generator: np.random.Generator, shape: tuple[int, int]) -> Draws:
    """Random 32-bit numbers, made two at a time: twice as fast as one by one."""
    wanted = shape[0] * shape[1]
    pairs = generator.integers(0, 1 << 64, size=-(-wanted // 2), dtype=np.uint64)
    return pairs.astype("<u8", copy=False).view("<u4")[:wanted].reshape(shape)


def _ranges(values: Floats, draws: Draws) -> Floats:
    """All rows of a chunk of trials at once: step k swaps place k of every row with one of places 0 to k."""
    queries, systems = values.shape
    rows = draws.shape[1]  # trials * queries
    shuffled = np.tile(values.T, (1, rows // queries))  # (m, rows), trial after trial
    flat = shuffled.ravel()  # a view
    columns = np.arange(rows)
    for k in range(systems - 1, 0, -1):
        place = (draws[k - 1] * np.uint64(k + 1) >> np.uint64(32)).astype(np.int64)
        place *= rows
        place += columns
        taken = flat[place]
        flat[place] = shuffled[k]
        shuffled[k] = taken
    means = shuffled.reshape(systems, -1, queries).mean(axis=2)  # (m, trials)
    spread: Floats = means.max(axis=0) - means.min(axis=0)
    return spread
