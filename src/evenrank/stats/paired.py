"""Is one system better than another on the same queries, and by how much? Paired tests and effect sizes.

All take the values of ``paired_differences``, d (n,), which are finite. Where all of them are 0 the systems
are identical and p is 1. A p-value that cannot be had is NaN, with the reason.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError
from evenrank.stats.ties import TOLERANCE, tie_sizes, tied_ranks

EXACT_RANKS = 50  # nonzero differences up to which the signed-rank distribution is exact
EXACT_SIGNS = 16  # nonzero differences up to which all signs are tried
RESAMPLES = 10_000
_NUMBERS_AT_ONCE = 1 << 20

NO_PAIRS = "no pair of defined values"
ONE_PAIR = "one pair has no variance"


class FinitePairs(NamedTuple):
    """The pairs in which both values are finite, and how many others there were."""

    first: Floats  # (n,)
    second: Floats  # (n,)
    undefined: int  # pairs with NaN in them
    infinite: int  # other pairs with an infinite value


class Differences(NamedTuple):
    """What the first gains over the second, query by query, and how many queries it is not known for."""

    values: Floats  # (n,)
    undefined: int
    infinite: int


def finite_pairs(first: npt.ArrayLike, second: npt.ArrayLike) -> FinitePairs:
    """Drop the pairs that an undefined or an infinite value spoils, and count them.

    >>> pairs = finite_pairs([1.0, np.nan, 3.0, np.inf], [1.0, 2.0, 2.0, np.nan])
    >>> pairs.first.tolist(), pairs.undefined, pairs.infinite
    ([1.0, 3.0], 2, 0)
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != two.shape:
        raise DataError(
            f"pairs need two lists of one length, in the same order of queries; got shapes "
            f"{one.shape} and {two.shape}"
        )
    undefined = np.isnan(one) | np.isnan(two)
    infinite = (np.isinf(one) | np.isinf(two)) & ~undefined
    kept = ~(undefined | infinite)
    return FinitePairs(one[kept], two[kept], int(undefined.sum()), int(infinite.sum()))


def paired_differences(
    first: npt.ArrayLike, second: npt.ArrayLike, *, lower_is_better: bool = False
) -> Differences:
    """``first - second`` for the pairs that count; positive where the first is better.

    A difference within ``1e-12 max(1, |first|, |second|)`` is 0: values that were summed in another order
    are not different values.

    >>> paired_differences([0.1 + 0.2, 0.5], [0.3, 0.25], lower_is_better=True).values.tolist()
    [0.0, -0.25]
    """
    one, two, undefined, infinite = finite_pairs(first, second)
    return Differences(gains_of_rows(one, two, lower_is_better=lower_is_better), undefined, infinite)


def gains_of_rows(first: Floats, second: Floats, *, lower_is_better: bool = False) -> Floats:
    """``paired_differences`` of any number of rows (L, n) at once; NaN where a pair does not count."""
    with np.errstate(invalid="ignore"):
        gains = second - first if lower_is_better else first - second
    scale = np.maximum(1.0, np.maximum(np.abs(first), np.abs(second)))
    counts = np.isfinite(first) & np.isfinite(second)
    return np.where(counts, np.where(np.abs(gains) <= TOLERANCE * scale, 0.0, gains), np.nan)


class PairedTest(NamedTuple):
    """The outcome of a test. ``reason`` says why ``p_value`` is NaN, and is None where it is not."""

    p_value: float
    reason: str | None = None


def paired_t(d: Floats) -> PairedTest:
    """Student's paired t: ``t = mean(d) / (sd(d) / sqrt(n))`` with n - 1 degrees of freedom.

    Differences that are all equal, and not 0, have no variance: t is infinite, and p its limit.
    Reference: Student, The probable error of a mean, 1908. Undefined when there are fewer than two pairs.

    >>> round(paired_t(np.array([1.0, 2.0, 3.0])).p_value, 4)
    0.0742
    """
    if (early := _without_evidence(d)) is not None:
        return early
    return PairedTest(float(paired_t_rows(d[None])[1][0]), ONE_PAIR if len(d) == 1 else None)


def paired_t_rows(differences: Floats) -> tuple[Floats, Floats]:
    """``paired_t`` of many rows (L, n), NaN left out: the mean and the two-sided p-value of each."""
    from scipy.special import stdtr

    there = np.isfinite(differences)
    d, n = np.where(there, differences, 0.0), there.sum(axis=1)  # (L, n), (L,)
    mean = d.sum(axis=1) / np.maximum(n, 1)
    squares = (np.where(there, d - mean[:, None], 0.0) ** 2).sum(axis=1)
    deviation = np.sqrt(squares / np.maximum(n - 1, 1))
    constant = deviation <= TOLERANCE * np.abs(mean)
    error = np.where(constant, 1.0, deviation / np.sqrt(np.maximum(n, 1)))
    statistic = np.where(constant, np.copysign(np.inf, mean), mean / error)
    p = np.minimum(1.0, 2 * stdtr(np.maximum(n - 1, 1), -np.abs(statistic)))
    p = np.where(d.any(axis=1), np.where(n > 1, p, np.nan), 1.0)
    return mean, np.where(n > 0, p, np.nan)


def wilcoxon(d: Floats) -> PairedTest:
    """Wilcoxon's signed-rank test by ``W+``, the sum of the ranks of positive differences.

    Differences of 0 are dropped, then ``|d|`` is ranked, ties by the mean rank. Up to 50 differences p comes
    from all ``2^n`` signs of these ranks, with ties too; above, from the normal distribution with
    ``mean n(n+1)/4`` and ``variance n(n+1)(2n+1)/24 - sum (t^3-t)/48`` over ties of size t, without a
    correction for continuity. Reference: Wilcoxon, Individual comparisons by ranking methods, 1945.

    Differs from scipy: that takes the normal distribution as soon as there are ties, and ranks apart what
    differs in the last bit.

    >>> wilcoxon(np.array([1.0, 2.0, 3.0, 4.0, 5.0])).p_value
    0.0625
    """
    if (early := _without_evidence(d)) is not None:
        return early
    moved = d[d != 0]
    ranks = tied_ranks(np.abs(moved))
    positive = float(ranks[moved > 0].sum())
    if len(moved) <= EXACT_RANKS:
        return PairedTest(min(1.0, 2 * min(_signed_rank_tails(ranks, positive))))
    from scipy.special import ndtr

    m, ties = len(moved), tie_sizes(ranks)
    variance = m * (m + 1) * (2 * m + 1) / 24 - float((ties**3 - ties).sum()) / 48
    z = (positive - m * (m + 1) / 4) / math.sqrt(variance)
    return PairedTest(2 * float(ndtr(-abs(z))))


def sign_flip(d: Floats, *, seed: int = 0) -> PairedTest:
    """Fisher's permutation test: how often does a mean difference this large arise from random signs?

    Up to 16 differences that are not 0 all ``2^n`` signs are tried: ``p = count / 2^n``, where the signs that
    were observed count too. Above, B = 10,000 signs are drawn: ``p = (count + 1) / (B + 1)``. The absolute
    means are compared; means within 1e-12 of each other are equal.
    Reference: Fisher, The design of experiments, 1935, §21.

    >>> sign_flip(np.array([1.0, 2.0, 3.0])).p_value
    0.25
    """
    if (early := _without_evidence(d)) is not None:
        return early
    moved = d[d != 0]
    total = float(moved.sum())
    least = abs(total) - TOLERANCE * max(1.0, float(np.abs(moved).sum()))
    if len(moved) <= EXACT_SIGNS:
        sums = np.zeros(1)
        for one in moved.tolist():
            sums = np.concatenate([sums + one, sums - one])  # (2^n,) in the end
        return PairedTest(float((np.abs(sums) >= least).mean()))
    generator = np.random.default_rng(seed)
    sums_of_eight = _signed_sums_of_eight(moved)  # (n/8, 256)
    step = max(1, _NUMBERS_AT_ONCE // len(sums_of_eight))
    count = 0
    for begin in range(0, RESAMPLES, step):
        some = min(step, RESAMPLES - begin)
        signs = generator.integers(0, 256, size=(len(sums_of_eight), some), dtype=np.uint8)  # (n/8, B)
        sums = np.take_along_axis(sums_of_eight, signs, axis=1).sum(axis=0)  # (B,)
        count += int((np.abs(sums) >= least).sum())
    return PairedTest((count + 1) / (RESAMPLES + 1))


class WinTieLoss(NamedTuple):
    """On how many queries the first is better, as good, worse."""

    wins: int
    ties: int
    losses: int


class EffectSizes(NamedTuple):
    """Effect sizes of paired differences. ``reason`` says why one of them is NaN."""

    mean: float
    cohen_dz: float
    rank_biserial: float
    superiority: float
    n: int
    reason: str | None = None


def win_tie_loss(d: Floats) -> WinTieLoss:
    """Count the signs; a difference of at most 1e-12, either way, is a tie.

    >>> win_tie_loss(np.array([0.2, 0.0, -0.1, 0.3]))
    WinTieLoss(wins=2, ties=1, losses=1)
    """
    wins, losses = int((d > TOLERANCE).sum()), int((d < -TOLERANCE).sum())
    return WinTieLoss(wins, len(d) - wins - losses, losses)


def effect_sizes(d: Floats) -> EffectSizes:
    """Cohen's ``d_z = mean(d) / sd(d)``, the rank-biserial correlation and the superiority of the first.

    Rank-biserial is ``(W+ - W-) / (W+ + W-)`` of the signed ranks (Kerby, The simple difference formula,
    2014): 1 where the first always wins, -1 where it always loses. Superiority is the share of queries that
    the first wins, ties counted half. ``d_z``: Cohen, Statistical power analysis, 1988, §2.3.5; infinite
    where all differences are equal and not 0.

    Undefined when there is no pair; ``d_z`` also when there is one, unless its difference is 0.

    >>> effect_sizes(np.array([1.0, 2.0, 3.0]))[:4]
    (2.0, 2.0, 1.0, 1.0)
    """
    n = len(d)
    if not n:
        return EffectSizes(math.nan, math.nan, math.nan, math.nan, 0, NO_PAIRS)
    if not d.any():
        return EffectSizes(0.0, 0.0, 0.0, 0.5, n)
    mean = float(d.mean())
    moved = d[d != 0]
    ranks = tied_ranks(np.abs(moved))
    biserial = float((ranks * np.sign(moved)).sum() / ranks.sum())
    counts = win_tie_loss(d)
    superiority = (counts.wins + counts.ties / 2) / n
    if n == 1:
        return EffectSizes(mean, math.nan, biserial, superiority, n, ONE_PAIR)
    deviation = float(d.std(ddof=1))
    constant = deviation <= TOLERANCE * abs(mean)
    dz = math.copysign(math.inf, mean) if constant else mean / deviation
    return EffectSizes(mean, dz, biserial, superiority, n)


def _without_evidence(d: Floats) -> PairedTest | None:
    if not len(d):
        return PairedTest(math.nan, NO_PAIRS)
    return None if d.any() else PairedTest(1.0)


def _signed_rank_tails(ranks: Floats, positive: float) -> tuple[float, float]:
    """P(W+ <= positive) and P(W+ >= positive) over all signs: doubled mid-ranks are whole, so sums index."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        more = ways.copy()
        more[rank:] += ways[:-rank]
        ways = more
    here = round(2 * positive)
    return float(ways[: here + 1].sum() / ways.sum()), float(ways[here:].sum() / ways.sum())


def _signed_sums_of_eight(d: Floats) -> Floats:
    """The sum of each eight differences under each of 256 signs: a random byte then picks eight signs."""
    eights = np.pad(d, (0, -len(d) % 8)).reshape(-1, 8)
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)  # (256, 8)
    sums: Floats = eights @ (2.0 * bits.T - 1)
    return sums
