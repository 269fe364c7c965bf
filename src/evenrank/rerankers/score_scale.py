"""Scores on a scale on which a penalty means the same for every ranker."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.grammar import choice

DEPTH = 100
"""The deviation is that of so many first scores, so that it does not depend on how long a list is."""

_ROUNDING = 1e-12  # by so little at most differ the mean of equal scores from them, and sums that are equal

SCALE = choice("sd", "none")
SCALE_MEANS = (
    f"'sd': scores are divided by their standard deviation over the query's first {DEPTH} ranks; "
    "'none': they are taken as they are, as for cosines"
)


def scaled(scores: Floats, mask: Bools, scale: str) -> Floats:
    """(Q, K): the scores divided by their deviation (divisor n); where that is 0 they are left as they are.

    >>> scaled(np.array([[4.0, 2.0], [1.0, 1.0]]), np.ones((2, 2), dtype=bool), "sd").tolist()
    [[4.0, 2.0], [1.0, 1.0]]
    """
    if scale == "none":
        return scores
    values = np.where(mask, scores, 0.0) / _unit(scores, mask)
    deviation = deviations(values, mask)  # (Q, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(deviation > 0, values / deviation, scores))


def deviations(scores: Floats, mask: Bools) -> Floats:
    """(Q, 1): the standard deviation (divisor n) of the first scores of each list.

    >>> deviations(np.array([[4.0, 2.0]]), np.ones((1, 2), dtype=bool)).tolist()
    [[1.0]]
    """
    head = mask & (np.arange(mask.shape[1]) < DEPTH)
    unit = _unit(scores, mask)
    values = np.where(mask, scores, 0.0) / unit
    count = np.maximum(head.sum(axis=1, keepdims=True), 1)
    mean = (values * head).sum(axis=1, keepdims=True) / count
    spread = np.sqrt((((values - mean) * head) ** 2).sum(axis=1, keepdims=True) / count)
    return np.asarray(unit * np.where(spread > _ROUNDING, spread, 0.0))


def _unit(scores: Floats, mask: Bools) -> Floats:
    """(Q, 1): the largest score, since squares of very large and very small ones have no place."""
    largest = np.where(mask, np.abs(scores), 0.0).max(axis=1, keepdims=True, initial=0.0)
    return np.where(largest > 0, largest, 1.0)


def largest_first(values: Floats, mask: Bools, cutoff: int | None) -> Int64s:
    """(Q, K): the places of the first ``cutoff`` ranks by falling value, of equal ones the first first; then
    the others as they were, and -1 where the list has ended.

    Values that differ by no more than rounding are equal: 2 - 1/3 and 1 + 2/3 are, though not as floats.

    >>> largest_first(np.array([[1 + 2 / 3, 2 - 1 / 3, 3.0]]), np.ones((1, 3), dtype=bool), None).tolist()
    [[2, 0, 1]]
    """
    ranks = np.arange(mask.shape[1])
    part = np.where(mask, (ranks >= (cutoff or len(ranks))).astype(np.int64), 2)
    falling = np.where(part == 0, -values, 0.0)
    order = np.lexsort((falling, part), axis=1)
    falling, part = (np.take_along_axis(array, order, axis=1) for array in (falling, part))
    apart = np.diff(falling, axis=1) > _ROUNDING * np.maximum(1.0, np.abs(falling[:, 1:]))
    begins = np.pad(apart | (np.diff(part, axis=1) > 0), ((0, 0), (min(1, mask.shape[1]), 0)))
    level = np.cumsum(begins, axis=1)  # (Q, K)
    order = np.take_along_axis(order, np.lexsort((order, level), axis=1), axis=1)
    return np.where(ranks < mask.sum(axis=1, keepdims=True), order, -1)
