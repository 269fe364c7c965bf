"""Measures of one list on a set of rankings: each ranking is evaluated, and their values are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.data.runset import RunSet
from evenrank.ids import places_among
from evenrank.scores import ScoresBlock

Int16s = npt.NDArray[np.int16]


def mean_over_rankings(runs: RunSet, parts: Sequence[ScoresBlock]) -> ScoresBlock:
    """For a measure of one list: its mean over the rankings of a query that have a value.

    A query is undefined where all of its rankings are. A ranking that lacks a query does not count for it; a
    query that all of them lack is an empty list.
    """
    first = parts[0]
    reasons = list(dict.fromkeys(reason for part in parts for reason in part.reasons))
    lists = {ids: places_among(first.query_ids, ids) >= 0 for ids in {run.query_ids for run in runs.runs}}
    own = np.stack([lists[run.query_ids] for run in runs.runs])  # (S, Q)
    counts = (own | ~own.any(axis=0))[:, :, None]  # (S, Q, 1)
    codes = np.stack(
        [
            part.status
            if list(part.reasons) == reasons
            else np.array([reasons.index(reason) for reason in part.reasons], np.int16)[part.status]
            for part in parts
        ]
    )  # (S, Q, C)
    valued = counts & (codes <= 1)
    values = np.where(valued, np.stack([part.values for part in parts]), 0.0)
    total = np.cumsum(values, axis=0)[-1] + 0.0  # in the order of the rankings
    defined, count = valued.sum(axis=0).astype(float), counts.sum(axis=0)
    status = np.where(counts, codes, 0).max(axis=0)
    values, status = mean_of_defined(total, defined, status)
    draws = np.array([part.aggregate(column) for part in parts for column in range(values.shape[1])])
    shares = defined / count
    without = [part.unlabelled for part in parts if part.unlabelled is not None]
    return replace(
        first,
        values=values,
        status=status,
        reasons=tuple(reasons),
        draws=draws.reshape(len(parts), -1),
        shares=shares,
        unlabelled=np.logical_and.reduce(without) if without else None,
    )


def mean_of_defined(total: Floats, defined: Floats, status: Int16s) -> tuple[Floats, Int16s]:
    """Means of so many values, infinite where one of them is; where there is none, ``status`` stays."""
    values = np.divide(total, defined, out=np.full(total.shape, np.nan), where=defined > 0)
    return values, np.where(defined > 0, np.isinf(total), status).astype(np.int16)
