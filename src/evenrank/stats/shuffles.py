"""How far apart the best and the worst system fall when each query's values are shuffled among systems.

The work is one random swap for each value of each trial, done in chunks of trials.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats

Draws = npt.NDArray[np.uint32]

_NUMBERS_AT_ONCE = 1 << 19


def shuffled_ranges(values: Floats, trials: int, seed: int) -> Floats:
    """(B,): for each trial the largest mean less the smallest, after shuffling every row of ``values``.

    Fisher-Yates with the place ``floor(u (k+1) / 2^32)`` for a 32-bit ``u``; for m systems a place is too
    likely or too rare by at most ``m / 2^32``.
    """
    queries, systems = values.shape
    generator = np.random.default_rng(seed)
    ranges = np.empty(trials)
    if not values.size:
        return np.full(trials, np.nan)
    step = max(1, _NUMBERS_AT_ONCE // values.size)
    for begin in range(0, trials, step):
        some = min(step, trials - begin)
        draws = draw(generator, (systems - 1, some * queries))
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
