"""Measures of one list on a set of rankings: each ranking is evaluated, and their values are averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import MissingEvidenceError
from evenrank.evaluation.kernels import Scope, run_kernels, scores_block
from evenrank.evidence.align import OF_THE_RUN, Sources, align_each, split_needs
from evenrank.ids import places_among
from evenrank.inputs.missing import check_missing
from evenrank.measures import Measure
from evenrank.measures.base import JUDGEMENTS
from evenrank.scores import ScoresBlock

Int16s = npt.NDArray[np.int16]

_RANKS_AT_ONCE = 1 << 22  # of all rankings that are aligned together


def evaluate_each(
    members: Sequence[Run],
    measures: Mapping[Scope, Sequence[Measure]],
    queries: tuple[str, ...],
    sources: Sources,
    depth: int | None,
    own: frozenset[str],
) -> dict[Measure, list[ScoresBlock]] | None:
    """The values of measures on each of the rankings, computed for many rankings at once.

    None where the rankings must be looked at one by one: a measure sees all queries together or documents
    that differ from ranking to ranking, or one of the rankings lacks evidence, which is then said of it.
    ``own`` are the memberships in which a document without a label is a value of its own.
    """
    everything = [measure for alike in measures.values() for measure in alike]
    needs = frozenset().union(*(measure.needs for measure in everything))
    blocks = split_needs(needs)
    by_ranking = "pool" in blocks or "documents" in set().union(*blocks.values())
    if by_ranking or any(measure.over_queries for measure in everything):
        return None
    parts: dict[Measure, list[ScoresBlock]] = {measure: [] for measure in everything}
    width = max(member.depth for member in members)
    width = width if depth is None else min(width, depth)
    together = max(1, _RANKS_AT_ONCE // max(1, len(queries) * width))
    for begin in range(0, len(members), together):
        some = members[begin : begin + together]
        aligned = align_each(some, queries, needs, sources, depth)
        for name in blocks.get("ranked", set()) - OF_THE_RUN - JUDGEMENTS:  # each ranking must have some
            known = (aligned.ranked.known(name) & aligned.ranked.mask).reshape(len(some), -1)
            if name in own or not known.any(axis=1).all():
                return None
        for scope, alike in measures.items():
            rows = np.arange(len(aligned)).reshape(len(some), -1)
            chosen = aligned if scope.rows is None else aligned.select(rows[:, scope.rows].ravel())
            repeated = scope.query_ids * len(some)
            try:
                for part in (part for measure in alike for part in measure.parts()):
                    check_missing(part, chosen.cut(part.depth), repeated, RunSet(tuple(some)))
            except MissingEvidenceError:
                return None
            size = len(scope.query_ids)
            for measure, results in run_kernels(alike, chosen).items():
                every = scores_block(measure, repeated, results)
                for first in range(0, len(repeated), size):
                    cut = slice(first, first + size)
                    of_one = replace(
                        every,
                        query_ids=scope.query_ids,
                        values=every.values[cut],
                        status=every.status[cut],
                        unlabelled=None if every.unlabelled is None else every.unlabelled[cut],
                    )
                    parts[measure].append(of_one)
    return parts


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
