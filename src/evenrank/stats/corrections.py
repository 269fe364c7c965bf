"""Several tests at once: p-values adjusted so that they can be read against one alpha.

A p-value that is NaN belongs to a test that was not made: it stays NaN and does not count. The shape of the
input is kept; all of its numbers are one family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError, UnknownNameError


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
        raise DataError("p-values lie between 0 and 1; these do not: " + _outside(given))
    family = given[known]
    order = np.argsort(family, kind="stable")
    adjusted = np.empty(len(family))
    adjusted[order] = rule(family[order])
    answer = np.full(given.shape, np.nan)
    answer[known] = adjusted
    return answer


def _outside(given: Floats) -> str:
    return ", ".join(map(str, given[(given < 0) | (given > 1)].tolist()[:3]))
