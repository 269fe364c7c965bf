"""Which of many systems differ? Randomised Tukey HSD, and its conclusions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError, ParameterError
from evenrank.stats.ties import slack

TRIALS = 5000
NO_QUERIES = "no query has a defined value for every system"
_NUMBERS_AT_ONCE = 1 << 19  # of a chunk of trials

Draws = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class TukeyHSD:
    """All pairs of m systems at once. A row is compared with a column; ``reason`` says why p is NaN."""

    means: Floats  # (m,) over the queries that count
    differences: Floats  # (m, m) mean of the row less mean of the column
    p_values: Floats  # (m, m), 1 on the diagonal
    effect_sizes: Floats  # (m, m)
    queries: int
    dropped: int  # queries without a finite value for every system
    trials: int
    seed: int
    reason: str | None = None


class Conclusion(NamedTuple):
    """``system >> beaten``, as places in the list of systems; the best of those beaten comes first."""

    system: int
    beaten: tuple[int, ...]


def randomised_tukey_hsd(values: npt.ArrayLike, *, trials: int = TRIALS, seed: int = 0) -> TukeyHSD:
    """Test all pairs of systems, with one family-wise error rate, on ``values`` of queries by systems.

    Under the null hypothesis that systems are all alike, the values of a query could stand in any order. So
    each trial shuffles every query's values among the systems and notes the largest difference of means, q.
    ``p(i, j) = (count(q >= |mean_i - mean_j|) + 1) / (B + 1)`` for B trials; the comparison has a tolerance
    of ``1e-12 max(1, max |x|)``. Identical systems have p = 1.

    Effect sizes are ``(mean_i - mean_j) / sqrt(V)``, where V is the residual variance of the two-way analysis
    of variance without replication: ``sum (x_qi - mean_q - mean_i + mean)^2 / ((n-1)(m-1))``.

    A query that lacks a finite value for one system is left out for all, and counted. Undefined when none is
    left; effect sizes also when one is.

    Reference: Carterette, Multiple testing in statistical analysis of systems-based information retrieval
    experiments, 2012; effect sizes: Sakai, Laboratory experiments in information retrieval, 2018.

    >>> hsd = randomised_tukey_hsd([[0.1, 0.1, 0.9], [0.2, 0.2, 0.8], [0.3, 0.3, 0.9], [0.1, 0.1, 0.7]])
    >>> float(hsd.p_values[0, 1]), bool(hsd.p_values[0, 2] < 0.05)
    (1.0, True)
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] < 2:
        raise DataError(f"Tukey's HSD needs queries by at least two systems, got shape {given.shape}")
    if trials < 1:
        raise ParameterError(f"trials must be at least 1, got {trials!r}")
    complete = np.ascontiguousarray(given[np.isfinite(given).all(axis=1)])  # (n, m)
    queries, systems = complete.shape
    dropped = len(given) - queries
    if not queries:
        nothing = np.full((systems, systems), np.nan)
        return TukeyHSD(nothing[0], nothing, nothing, nothing, 0, dropped, trials, seed, NO_QUERIES)
    means = complete.mean(axis=0)
    room = slack(complete)
    differences = means[:, None] - means  # (m, m)
    differences[np.abs(differences) <= room] = 0.0
    ranges = np.sort(shuffled_ranges(complete, trials, seed))  # (B,)
    count = trials - np.searchsorted(ranges, np.abs(differences) - room, side="left")
    p_values = (count + 1) / (trials + 1)
    effects = _effect_sizes(complete, differences, room)
    return TukeyHSD(means, differences, p_values, effects, queries, dropped, trials, seed)


def conclusions(
    hsd: TukeyHSD, *, alpha: float = 0.05, lower_is_better: bool = False
) -> tuple[Conclusion, ...]:
    """Who is better than whom where ``p < alpha``; systems by their means, the best first.

    This is how Table 4 of Sakai, Kim and Kang 2022 is written: ``Base-UC >> Rating-UC, Base, Rating``.
    Systems that beat no other are left out.

    >>> values = [[0.1, 0.1, 0.9], [0.2, 0.2, 0.8], [0.3, 0.3, 0.9], [0.1, 0.1, 0.7]]
    >>> conclusions(randomised_tukey_hsd(values))
    (Conclusion(system=2, beaten=(0, 1)),)
    """
    _check_alpha(alpha)
    gains = -hsd.differences if lower_is_better else hsd.differences
    better = (hsd.p_values < alpha) & (gains > 0)  # (m, m), False where p is NaN
    order = np.argsort(hsd.means if lower_is_better else -hsd.means, kind="stable").tolist()
    found = [Conclusion(row, tuple(column for column in order if better[row, column])) for row in order]
    return tuple(one for one in found if one.beaten)


def leaders(found: Sequence[Conclusion]) -> tuple[int, ...]:
    """The systems that beat the most others: those that Sakai, Kim and Kang 2022 §4.1 call tied at the top.

    >>> leaders([Conclusion(4, (1, 2)), Conclusion(0, (1, 2)), Conclusion(3, (1,))])
    (4, 0)
    """
    most = max((len(one.beaten) for one in found), default=0)
    return tuple(one.system for one in found if len(one.beaten) == most)


def _effect_sizes(values: Floats, differences: Floats, room: float) -> Floats:
    queries, systems = values.shape
    if queries < 2:
        return np.full_like(differences, np.nan)
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    deviation = np.sqrt((residuals**2).sum() / ((queries - 1) * (systems - 1)))
    if deviation <= room:  # every query has the same differences: as large as they can be, or none
        return np.where(differences == 0, 0.0, np.copysign(np.inf, differences))
    sizes: Floats = differences / deviation
    return sizes


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must be between 0 and 1, as 0.05; got {alpha!r}")


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
