"""How large is a difference, apart from whether it is noise?"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError
from evenrank.stats.paired import NO_PAIRS, ONE_PAIR
from evenrank.stats.ties import TOLERANCE, tied_ranks


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


def win_tie_loss(differences: npt.ArrayLike) -> WinTieLoss:
    """Count the signs; a difference of at most 1e-12, either way, is a tie.

    >>> win_tie_loss([0.2, 0.0, -0.1, 0.3])
    WinTieLoss(wins=2, ties=1, losses=1)
    """
    d = _finite(differences)
    wins, losses = int((d > TOLERANCE).sum()), int((d < -TOLERANCE).sum())
    return WinTieLoss(wins, len(d) - wins - losses, losses)


def effect_sizes(differences: npt.ArrayLike) -> EffectSizes:
    """Cohen's ``d_z = mean(d) / sd(d)``, the rank-biserial correlation and the superiority of the first.

    Rank-biserial is ``(W+ - W-) / (W+ + W-)`` of the signed ranks (Kerby, The simple difference formula,
    2014): 1 where the first always wins, -1 where it always loses. Superiority is the share of queries that
    the first wins, ties counted half. ``d_z``: Cohen, Statistical power analysis, 1988, §2.3.5; infinite
    where all differences are equal and not 0.

    Undefined when there is no pair; ``d_z`` also when there is one, unless its difference is 0.

    >>> effect_sizes([1.0, 2.0, 3.0])[:4]
    (2.0, 2.0, 1.0, 1.0)
    """
    d = _finite(differences)
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


def _finite(differences: npt.ArrayLike) -> Floats:
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or not np.isfinite(d).all():
        raise DataError("differences are one list of finite numbers; paired_differences makes it")
    return d
