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


class ExactP(NamedTuple):
    """``least`` is the p of the largest coefficient that these values allow: no order has a smaller one."""

    p_value: float
    least: float


def exact_p(observed: float, coefficients: Floats) -> ExactP:
    """The share of coefficients, one for each order, that are as far from 0 as the observed one.

    >>> exact_p(0.5, np.array([1.0, 0.5, -0.5, -1.0]))
    ExactP(p_value=1.0, least=0.5)
    """
    sizes = np.abs(coefficients)
    return ExactP(
        float((sizes >= abs(observed) - TOLERANCE).mean()), float((sizes >= sizes.max() - TOLERANCE).mean())
    )


def over_orders(first: Floats, second: Floats, coefficient: Callable[[Floats, Floats], Floats]) -> Floats:
    """``coefficient(first, orders)`` of every order of the second side, (n!, n)."""
    return coefficient(first, second[_orders(len(second))])


@lru_cache(maxsize=MOST)
def _orders(n: int) -> npt.NDArray[np.int8]:
    return np.array(list(itertools.permutations(range(n))), dtype=np.int8)


def product_moments(first: Floats, orders: Floats) -> Floats:
    """Pearson's r of one side with every order of the other, up to rounding."""
    one, others = first - first.mean(), orders - orders[0].mean()
    one, others = one / np.abs(one).max(), others / np.abs(others[0]).max()
    moments: Floats = others @ one / math.sqrt(float(one @ one) * float(others[0] @ others[0]))
    return moments


def concordances(first: Floats, orders: Floats) -> Floats:
    """What Kendall's tau-b is proportional to: concordant pairs less discordant ones, over all pairs."""
    rows, columns = np.triu_indices(len(first), 1)
    signs = np.sign(first[rows] - first[columns])  # (pairs,)
    agreement: Floats = np.sign(orders[:, rows] - orders[:, columns]) @ signs / len(rows)
    return agreement
