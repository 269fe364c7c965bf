"""From what value on an axis can be relied on without labels: chosen on some queries, tried on others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats
from evenrank.evidence.polarise.held_out import QueryReliability
from evenrank.tables import Interval, Table

LEAST = 5
"""Queries on each side of a limit when it is chosen: with fewer, one odd query would choose it."""

NOTE = (
    "limit: the value of every other query that parts accurate queries from others best; then the accuracy "
    "of the remaining queries above and below it. A limit holds where the interval of the difference lies "
    "above 0"
)


class Calibration(NamedTuple):
    """A limit of one sign of reliability, and what it is worth on queries that did not choose it."""

    what: str
    limit: float
    above: float  # mean accuracy of held-out queries at or above the limit
    below: float
    difference: Interval
    queries: tuple[int, int]  # how many held-out queries are above and below


def best_limit(signs: Floats, accuracy: Floats) -> float:
    """The limit with the largest difference of mean accuracy; NaN where no limit leaves enough on each side.

    >>> best_limit(np.arange(12.0), np.repeat([0.5, 0.9], 6))
    6.0
    """
    limits = np.unique(signs[~np.isnan(signs)])
    above = signs >= limits[:, None]  # (limits, queries)
    counts = above.sum(axis=1)
    enough = (counts >= LEAST) & (len(signs) - counts >= LEAST)
    if not enough.any():
        return float("nan")
    above, limits = above[enough], limits[enough]
    means = (above @ accuracy) / above.sum(axis=1)
    others = (~above @ accuracy) / (~above).sum(axis=1)
    return float(limits[np.argmax(means - others)])


def calibrate(known: Mapping[str, QueryReliability], shares: Mapping[str, float]) -> list[Calibration]:
    """For each sign of reliability: a limit from every other query, and its worth on the rest."""
    from scipy.stats import ttest_ind

    names = list(known)
    found = []
    for what in QueryReliability._fields:
        signs = np.array([getattr(known[name], what) for name in names])
        accuracy = np.array([shares[name] for name in names])
        limit = best_limit(signs[::2], accuracy[::2])
        above = accuracy[1::2][signs[1::2] >= limit]
        below = accuracy[1::2][signs[1::2] < limit]
        if min(len(above), len(below)) < 2:  # of one query nobody knows how far it varies
            continue
        interval = ttest_ind(above, below, equal_var=False).confidence_interval(0.95)
        found.append(
            Calibration(
                what, limit, float(above.mean()), float(below.mean()),
                Interval(float(interval.low), float(interval.high)), (len(above), len(below)),
            )
        )  # fmt: skip
    return found


def calibration_table(known: Mapping[str, QueryReliability], shares: Mapping[str, float]) -> Table:
    """One row for each sign of reliability that has enough queries on both sides of its limit."""
    rows = [
        (
            each.what,
            each.limit,
            each.above,
            each.below,
            each.above - each.below,
            each.difference,
            *each.queries,
        )
        for each in calibrate(known, shares)
    ]
    head = (
        "sign",
        "limit",
        "accuracy above",
        "below",
        "difference",
        "95% interval",
        "queries above",
        "below it",
    )
    title = "do signs of reliability part accurate queries from others?"
    empty = "too few queries on either side of every limit: label more of them"
    return Table.of(
        head,
        rows,
        title=title,
        notes=[NOTE if rows else empty],
        meaning=(
            "A sign can be relied on where accuracy is higher above its limit and the interval of "
            "the difference leaves out 0."
        ),
    )
