"""Several tests at once: p-values adjusted to be read against one alpha, and how many pairs they tell apart.

A p-value that is NaN belongs to a test that was not made: it stays NaN and does not count. What is adjusted
keeps its shape; all of its numbers are one family.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError, ParameterError, UnknownNameError


def uncorrected(p_values: npt.ArrayLike) -> Floats:
    """The p-values as they are."""
    return _adjust(p_values, lambda ordered: ordered)


def bonferroni(p_values: npt.ArrayLike) -> Floats:
    """``min(1, m p)`` for m tests. Keeps the chance of any false discovery at alpha.

    Reference: Dunn, Multiple comparisons among means, 1961.

    >>> bonferroni([0.01, 0.5, float("nan")]).tolist()
    [0.02, 1.0, nan]
    """
    return _adjust(p_values, lambda ordered: np.minimum(1.0, len(ordered) * ordered))


def holm(p_values: npt.ArrayLike) -> Floats:
    """``max_{j<=i} min(1, (m-j+1) p_(j))``: as safe as Bonferroni, and never larger.

    Reference: Holm, A simple sequentially rejective multiple test procedure, 1979.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """

    def stepped(ordered: Floats) -> Floats:
        remaining = np.arange(len(ordered), 0, -1)  # (m,) m, m-1, ... 1
        grown: Floats = np.maximum.accumulate(np.minimum(1.0, remaining * ordered))
        return grown

    return _adjust(p_values, stepped)


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """``min_{j>=i} min(1, m p_(j) / j)``: keeps the expected share of false discoveries at alpha.

    For tests that are independent or positively dependent. Reference: Benjamini and Hochberg, Controlling the
    false discovery rate, 1995.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """

    def stepped(ordered: Floats) -> Floats:
        scaled = np.minimum(1.0, len(ordered) * ordered / np.arange(1, len(ordered) + 1))
        shrunk: Floats = np.minimum.accumulate(scaled[::-1])[::-1]
        return shrunk

    return _adjust(p_values, stepped)


CORRECTIONS: Mapping[str, Callable[[npt.ArrayLike], Floats]] = MappingProxyType(
    {"none": uncorrected, "bonferroni": bonferroni, "holm": holm, "bh": benjamini_hochberg}
)


def correct(p_values: npt.ArrayLike, method: str) -> Floats:
    """Adjust by the name of a correction: none, bonferroni, holm or bh."""
    if method not in CORRECTIONS:
        raise UnknownNameError(f"no correction {method!r}; there are {', '.join(CORRECTIONS)}")
    return CORRECTIONS[method](p_values)


def _adjust(p_values: npt.ArrayLike, rule: Callable[[Floats], Floats]) -> Floats:
    """Apply a rule to the p-values that there are, in ascending order; each answer goes to its place."""
    given = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(given)
    if ((given < 0) | (given > 1)).any():
        outside = given[(given < 0) | (given > 1)].tolist()
        raise DataError(f"p-values lie between 0 and 1; these do not: {', '.join(map(str, outside[:3]))}")
    family = given[known]
    order = np.argsort(family, kind="stable")
    adjusted = np.empty(len(family))
    adjusted[order] = rule(family[order])
    answer = np.full(given.shape, np.nan)
    answer[known] = adjusted
    return answer


class Power(NamedTuple):
    """How many of the pairs differ significantly; ``share`` is NaN where there is no pair."""

    significant: int
    pairs: int
    share: float


def discriminative_power_curve(p_values: npt.ArrayLike) -> Floats:
    """The p-values of all pairs, largest first: achieved significance level against the number of pairs.

    ``p_values`` is square, systems by systems; those above the diagonal are read. The lower the curve, the
    more a measure discriminates. NaN is left out. Reference: Sakai, Evaluating evaluation metrics based on
    the bootstrap, 2006, there with the axes as in Fig. 2 of gfr-2022.

    >>> discriminative_power_curve([[1.0, 0.2, 0.3], [0.2, 1.0, 0.4], [0.3, 0.4, 1.0]]).tolist()
    [0.4, 0.3, 0.2]
    """
    square = np.asarray(p_values, dtype=np.float64)
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise DataError(f"pairs are read from a square matrix, systems by systems; got shape {square.shape}")
    p = square[np.triu_indices(len(square), 1)]
    ordered: Floats = np.sort(p[~np.isnan(p)])[::-1]
    return ordered


def discriminative_power(p_values: npt.ArrayLike, *, alpha: float = 0.05) -> Power:
    """How many pairs have ``p < alpha``: gfr-2022 reports 78 of 210, 37%, for D#-nDCG.

    >>> discriminative_power([[1.0, 0.01, 0.3], [0.01, 1.0, 0.4], [0.3, 0.4, 1.0]])
    Power(significant=1, pairs=3, share=0.3333333333333333)
    """
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must be between 0 and 1, as 0.05; got {alpha!r}")
    curve = discriminative_power_curve(p_values)
    significant = int((curve < alpha).sum())
    return Power(significant, len(curve), significant / len(curve) if len(curve) else math.nan)
