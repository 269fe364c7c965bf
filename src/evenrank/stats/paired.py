"""Is one system better than another on the same queries? Three paired tests on the differences.

All take the differences of ``paired_differences``. Where all of them are 0 the systems are identical and p
is 1. A p-value that cannot be had is NaN, with the reason.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError, ParameterError
from evenrank.stats.student import student_tails
from evenrank.stats.ties import TOLERANCE, tie_sizes, tied_ranks

EXACT_RANKS = 50  # nonzero differences up to which the signed-rank distribution is exact
EXACT_SIGNS = 16  # nonzero differences up to which all signs are tried
RESAMPLES = 10_000
_NUMBERS_AT_ONCE = 1 << 20

IDENTICAL = "identical"
NO_PAIRS = "no pair of defined values"
ONE_PAIR = "one pair has no variance"


class PairedTest(NamedTuple):
    """The outcome of a test. ``reason`` says why ``p_value`` is NaN, and is None where it is not."""

    statistic: float
    p_value: float
    n: int  # pairs that were given
    method: str  # which distribution p comes from: t, exact, normal, sampled; or identical
    reason: str | None = None


def paired_t(differences: npt.ArrayLike) -> PairedTest:
    """Student's paired t: ``t = mean(d) / (sd(d) / sqrt(n))`` with n - 1 degrees of freedom.

    Differences that are all equal, and not 0, have no variance: t is infinite, and p its limit.
    Reference: Student, The probable error of a mean, 1908. Undefined when there are fewer than two pairs.

    >>> paired_t([1.0, 2.0, 3.0]).statistic.__round__(4)
    3.4641
    """
    d = _checked(differences)
    n = len(d)
    if (early := _without_evidence(d)) is not None:
        return early
    if n == 1:
        return PairedTest(math.nan, math.nan, n, "t", ONE_PAIR)
    mean, deviation = float(d.mean()), float(d.std(ddof=1))
    if deviation <= TOLERANCE * abs(mean):
        statistic = math.copysign(math.inf, mean)
    else:
        statistic = mean / (deviation / math.sqrt(n))
    below, above = student_tails(statistic, n - 1)
    return PairedTest(statistic, _two_sided(below, above), n, "t")


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


def wilcoxon(differences: npt.ArrayLike) -> PairedTest:
    """Wilcoxon's signed-rank test. The statistic is ``W+``, the sum of the ranks of positive differences.

    Differences of 0 are dropped, then ``|d|`` is ranked, ties by the mean rank. Up to 50 differences p comes
    from all ``2^n`` signs of these ranks, with ties too; above, from the normal distribution with
    ``mean n(n+1)/4`` and ``variance n(n+1)(2n+1)/24 - sum (t^3-t)/48`` over ties of size t, without a
    correction for continuity. Reference: Wilcoxon, Individual comparisons by ranking methods, 1945.

    Differs from scipy: that takes the normal distribution as soon as there are ties, and ranks apart what
    differs in the last bit.

    >>> wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0]).p_value
    0.0625
    """
    d = _checked(differences)
    if (early := _without_evidence(d)) is not None:
        return early
    moved = d[d != 0]
    ranks = tied_ranks(np.abs(moved))
    positive = float(ranks[moved > 0].sum())
    if len(moved) <= EXACT_RANKS:
        below, above = _signed_rank_tails(ranks, positive)
        return PairedTest(positive, _two_sided(below, above), len(d), "exact")
    from scipy.special import ndtr

    m, ties = len(moved), tie_sizes(ranks)
    variance = m * (m + 1) * (2 * m + 1) / 24 - float((ties**3 - ties).sum()) / 48
    z = (positive - m * (m + 1) / 4) / math.sqrt(variance)
    return PairedTest(positive, _two_sided(float(ndtr(z)), float(ndtr(-z))), len(d), "normal")


def sign_flip(differences: npt.ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0) -> PairedTest:
    """Fisher's permutation test: how often does a mean difference this large arise from random signs?

    Up to 16 differences that are not 0 all ``2^n`` signs are tried: ``p = count / 2^n``, where the signs that
    were observed count too. Above, B signs are drawn: ``p = (count + 1) / (B + 1)``. The absolute
    means are compared; means within 1e-12 of each other are equal. The statistic is the mean difference.
    Reference: Fisher, The design of experiments, 1935, §21.

    >>> sign_flip([1.0, 2.0, 3.0]).p_value
    0.25
    """
    d = _checked(differences)
    if resamples < 1:
        raise ParameterError(f"resamples must be at least 1, got {resamples!r}")
    if (early := _without_evidence(d)) is not None:
        return early
    moved = d[d != 0]
    total = float(moved.sum())
    room = TOLERANCE * max(1.0, float(np.abs(moved).sum()))
    mean = total / len(d)
    if len(moved) <= EXACT_SIGNS:
        count = _as_extreme(_all_signed_sums(moved), total, room)
        return PairedTest(mean, count / 2 ** len(moved), len(d), "exact")
    generator = np.random.default_rng(seed)
    sums_of_eight = _signed_sums_of_eight(moved)  # (n/8, 256)
    step = max(1, _NUMBERS_AT_ONCE // len(sums_of_eight))
    count = 0
    for begin in range(0, resamples, step):
        some = min(step, resamples - begin)
        signs = generator.integers(0, 256, size=(len(sums_of_eight), some), dtype=np.uint8)  # (n/8, B)
        sums = np.take_along_axis(sums_of_eight, signs, axis=1).sum(axis=0)  # (B,)
        count += _as_extreme(sums, total, room)
    return PairedTest(mean, (count + 1) / (resamples + 1), len(d), "sampled")


def _checked(differences: npt.ArrayLike) -> Floats:
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1:
        raise DataError(f"differences are one list, a number for each query; got shape {d.shape}")
    if not np.isfinite(d).all():
        raise DataError(
            f"{int((~np.isfinite(d)).sum())} of {len(d)} differences are not finite; "
            "paired_differences drops and counts them"
        )
    return d


def _without_evidence(d: Floats) -> PairedTest | None:
    if not len(d):
        return PairedTest(math.nan, math.nan, 0, "none", NO_PAIRS)
    if not d.any():
        return PairedTest(0.0, 1.0, len(d), IDENTICAL)
    return None


def _two_sided(below: float, above: float) -> float:
    return min(1.0, 2 * min(below, above))


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


def _all_signed_sums(d: Floats) -> Floats:
    sums = np.zeros(1)
    for one in d.tolist():
        sums = np.concatenate([sums + one, sums - one])
    return sums  # (2^n,)


def _signed_sums_of_eight(d: Floats) -> Floats:
    """The sum of each eight differences under each of 256 signs: a random byte then picks eight signs."""
    eights = np.pad(d, (0, -len(d) % 8)).reshape(-1, 8)
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)  # (256, 8)
    sums: Floats = eights @ (2.0 * bits.T - 1)
    return sums


def _as_extreme(sums: Floats, total: float, room: float) -> int:
    return int((np.abs(sums) >= abs(total) - room).sum())
