"""Several tests at once: p-values adjusted to be read against one alpha, and how many pairs they tell apart.

A p-value that is NaN belongs to a test that was not made: it stays NaN and does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats


def _holm(ordered: Floats) -> Floats:
    remaining = np.arange(len(ordered), 0, -1)  # (m,) m, m-1, ... 1
    return np.asarray(np.maximum.accumulate(np.minimum(1.0, remaining * ordered)))


def _benjamini_hochberg(ordered: Floats) -> Floats:
    scaled = np.minimum(1.0, len(ordered) * ordered / np.arange(1, len(ordered) + 1))
    return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1])


CORRECTIONS: Mapping[str, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "none": lambda ordered: ordered,
        "bonferroni": lambda ordered: np.minimum(1.0, len(ordered) * ordered),
        "holm": _holm,
        "bh": _benjamini_hochberg,
    }
)
"""Each takes the p-values of a family in ascending order."""


def correct(p_values: npt.ArrayLike, method: str) -> Floats:
    """The p-values of one family of m tests, adjusted; they keep their shape.

    - ``none``: as they are;
    - ``bonferroni``: ``min(1, m p)``, which keeps the chance of any false discovery at alpha. Dunn, Multiple
      comparisons among means, 1961;
    - ``holm``: ``max_{j<=i} min(1, (m-j+1) p_(j))``, as safe as Bonferroni, and never larger. Holm, A simple
      sequentially rejective multiple test procedure, 1979;
    - ``bh``: ``min_{j>=i} min(1, m p_(j) / j)``, which keeps the expected share of false discoveries at alpha
      for tests that are independent or positively dependent. Benjamini and Hochberg, Controlling the false
      discovery rate, 1995.

    >>> correct([0.01, 0.04, 0.03], "holm").tolist(), correct([0.01, 0.04, 0.03], "bh").tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    given = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(given)
    family = given[known]
    order = np.argsort(family, kind="stable")
    adjusted = np.empty(len(family))
    adjusted[order] = CORRECTIONS[method](family[order])
    answer = np.full(given.shape, np.nan)
    answer[known] = adjusted
    return answer


class Power(NamedTuple):
    """How many of the pairs differ significantly; ``share`` is NaN where there is no pair."""

    significant: int
    pairs: int
    share: float


def discriminative_power_curve(p_values: Floats) -> Floats:
    """The p-values of all pairs, largest first: achieved significance level against the number of pairs.

    ``p_values`` is square, systems by systems; those above the diagonal are read. The lower the curve, the
    more a measure discriminates. NaN is left out. Reference: Sakai, Evaluating evaluation metrics based on
    the bootstrap, 2006, there with the axes as in Fig. 2 of Sakai, Kim and Kang 2022.

    >>> discriminative_power_curve(np.array([[1.0, 0.2, 0.3], [0.2, 1.0, 0.4], [0.3, 0.4, 1.0]])).tolist()
    [0.4, 0.3, 0.2]
    """
    p = p_values[np.triu_indices(len(p_values), 1)]
    return np.sort(p[~np.isnan(p)])[::-1]


def discriminative_power(p_values: Floats, *, alpha: float) -> Power:
    """How many pairs have ``p < alpha``: Sakai, Kim and Kang 2022 report 78 of 210, 37%, for D#-nDCG."""
    curve = discriminative_power_curve(p_values)
    significant = int((curve < alpha).sum())
    return Power(significant, len(curve), significant / len(curve) if len(curve) else math.nan)
