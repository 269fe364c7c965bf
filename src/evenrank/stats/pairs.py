"""Values of two systems on the same queries: which pairs count, and how many do not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.errors import DataError
from evenrank.stats.ties import TOLERANCE


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
    gains = two - one if lower_is_better else one - two
    scale = np.maximum(1.0, np.maximum(np.abs(one), np.abs(two)))
    return Differences(np.where(np.abs(gains) <= TOLERANCE * scale, 0.0, gains), undefined, infinite)


def gains_of_rows(first: Floats, second: Floats, *, lower_is_better: bool = False) -> Floats:
    """``paired_differences`` of many rows (L, n) at once; NaN where a pair does not count."""
    with np.errstate(invalid="ignore"):
        gains = second - first if lower_is_better else first - second
    scale = np.maximum(1.0, np.maximum(np.abs(first), np.abs(second)))
    counts = np.isfinite(first) & np.isfinite(second)
    return np.where(counts, np.where(np.abs(gains) <= TOLERANCE * scale, 0.0, gains), np.nan)
