"""Means over queries of which some count more than others, as those that many people ask."""

from __future__ import annotations

import math

import numpy as np

from evenrank.arrays import Floats


def weighted_mean(values: Floats, weights: Floats | None = None) -> float:
    """The mean of ``values`` (n,); NaN where there are none. Without weights each counts once.

    >>> weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    2.0
    """
    if not len(values) or (weights is not None and not weights.any()):
        return math.nan
    return float(values.mean() if weights is None else (weights * values).sum() / weights.sum())


def weighted_means(values: Floats, weights: Floats | None = None) -> Floats:
    """(L,): ``weighted_mean`` of every column of ``values`` (n, L)."""
    return np.array([weighted_mean(column, weights) for column in values.T])


def effective_number(weights: Floats) -> float:
    """How many values of equal weight tell as much of a mean (Kish): (sum w)^2 / sum w^2.

    >>> effective_number(np.ones(4)), round(effective_number(np.array([8.0, 1.0, 1.0])), 2)
    (4.0, 1.52)
    """
    total = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / total if total else 0.0


def variance_of_mean(values: Floats, weights: Floats | None = None) -> float:
    """The variance of ``weighted_mean`` over other samples of queries; NaN for a single one."""
    n = len(values) if weights is None else effective_number(weights)
    w = np.ones(len(values)) if weights is None else weights * (n / weights.sum())
    squares = float((w * (values - weighted_mean(values, weights)) ** 2).sum())
    return squares / (n - 1) / n if n > 1 else math.nan
