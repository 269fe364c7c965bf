"""Exact p-values of a correlation of few points: how many orders of one side agree as much as this one?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.stats.ties import TOLERANCE

MOST = 8  # points of which all orders are tried: 40,320
MOST_RANKED = 12  # ranks: of 479 million orders no one is made, sets of places are counted


class ExactP(NamedTuple):
    """``least`` is the p of the largest coefficient that these values allow: no order has a smaller one."""

    p_value: float
    least: float


def exact_p(first: Floats, second: Floats, coefficient: Callable[[Floats, Floats], Floats]) -> ExactP:
    """The share of all orders of the second side whose coefficient is as far from 0.

    ``coefficient`` takes the first side and rows of the second; the rows are its orders, (n!, n).

    >>> exact_p(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), product_moments)
    ExactP(p_value=0.3333333333333333, least=0.3333333333333333)
    """
    sizes = np.abs(coefficient(first, second[_orders(len(second))]))
    observed = abs(float(coefficient(first, second[None])[0]))
    return ExactP(
        float((sizes >= observed - TOLERANCE).mean()), float((sizes >= sizes.max() - TOLERANCE).mean())
    )


@lru_cache(maxsize=MOST)
def _orders(n: int) -> npt.NDArray[np.int8]:
    return np.array(list(itertools.permutations(range(n))), dtype=np.int8)


def product_moments(first: Floats, orders: Floats) -> Floats:
    """Pearson's r of one side with every order of the other, up to rounding."""
    one, others = first - first.mean(), orders - orders[0].mean()
    one, others = one / np.abs(one).max(), others / np.abs(others[0]).max()  # squares of any numbers fit
    moments: Floats = others @ one / math.sqrt(float(one @ one) * float(others[0] @ others[0]))
    return moments


def concordances(first: Floats, orders: Floats) -> Floats:
    """What Kendall's tau-b is proportional to: concordant pairs less discordant ones, over all pairs."""
    rows, columns = np.triu_indices(len(first), 1)
    signs = np.sign(first[rows] - first[columns])  # (pairs,)
    agreement: Floats = np.sign(orders[:, rows] - orders[:, columns]) @ signs / len(rows)
    return agreement


def exact_rank_p(first: Floats, second: Floats) -> ExactP:
    """``exact_p`` of Spearman's coefficient, by counting orders with the same sum of products of ranks.

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
