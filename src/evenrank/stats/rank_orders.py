"""The exact distribution of Spearman's coefficient, by counting orders that have the same sum of products."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.stats.orders import ExactP

MOST_RANKED = 12  # points: of 479 million orders no one is made, sets of places are counted


def exact_rank_p(first: Floats, second: Floats) -> ExactP:
    """The share of all orders of the second side whose coefficient is as far from 0; ranks may have ties.

    >>> exact_rank_p(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 4.0])).p_value == 2 / 24
    True
    """
    one, two = (np.rint(2 * ranks).astype(np.int64) for ranks in (first, second))  # mean ranks are halves
    counts = _sums_of_products(tuple(sorted(one.tolist())), tuple(sorted(two.tolist())))
    sums = np.arange(len(counts))
    # n times the sum less the product of totals: 0 where there is no correlation, in whole numbers
    distance = np.abs(len(one) * sums - one.sum() * two.sum())
    observed = abs(len(one) * int(one @ two) - int(one.sum() * two.sum()))
    possible = distance[counts > 0].max()
    total = counts.sum()
    return ExactP(
        float(counts[distance >= observed].sum() / total), float(counts[distance >= possible].sum() / total)
    )


@lru_cache(maxsize=64)  # without ties all pairs of so many points have the same
def _sums_of_products(first: tuple[int, ...], second: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """How many of the orders of ``second`` have each sum of products with ``first``.

    Place by place: the sums that a set of places of ``second`` can have with as many of the first places.
    """
    size = sum(one * two for one, two in zip(first, second, strict=True)) + 1  # both sorted: the largest
    layer = {0: np.zeros(size, dtype=np.int64)}
    layer[0][0] = 1
    for value in first:
        following: dict[int, npt.NDArray[np.int64]] = {}
        for chosen, counts in layer.items():
            for place, other in enumerate(second):
                if chosen >> place & 1:
                    continue
                held = following.setdefault(chosen | 1 << place, np.zeros(size, dtype=np.int64))
                shift = value * other
                held[shift:] += counts[: size - shift]
        layer = following
    (found,) = layer.values()
    return found
