"""Running the kernels of measures over blocks of queries, and their results as values with reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenrank.arrays import Int64s
from evenrank.errors import ParameterError
from evenrank.evidence.align import split_needs
from evenrank.evidence.ranked_evidence import RankedEvidence, dense_width
from evenrank.measures import Measure, Result
from evenrank.scores import INFINITE, OK, ScoresBlock

NO_REASON = "undefined"

_NUMBERS_AT_ONCE = 1 << 20  # dense numbers in one block of queries: small enough for the cache


@dataclass(frozen=True, eq=False)
class Scope:
    """The queries of some measures, and their rows among those that are aligned; None: all of them."""

    query_ids: tuple[str, ...]
    rows: Int64s | None


def run_kernels(measures: Sequence[Measure], aligned: RankedEvidence) -> dict[Measure, list[Result]]:
    """The results of measures for the same queries, block by block.

    All of them see a block of queries before the next one is made dense, so that they share what they look
    at, and no more than that is in memory.
    """
    results: dict[Measure, list[Result]] = {measure: [] for measure in measures}
    by_query = [measure for measure in results if not measure.over_queries]  # two may be settled to the same
    for measure in results:
        if measure.over_queries:
            results[measure].append(_check_result(measure, measure.evaluate(aligned.cut(measure.depth)), 1))
    looked_at = ((measure, aligned.cut(measure.depth)) for measure in by_query)
    sizes = (lists_at_once(one, cut, cut.ranked.depth, _NUMBERS_AT_ONCE) for one, cut in looked_at)
    size = min(sizes, default=1)
    for begin in range(0, max(1, len(aligned)) if by_query else 0, size):
        end = min(begin + size, len(aligned))
        block = aligned if size >= len(aligned) else aligned.select(np.arange(begin, end))
        for measure in by_query:
            result = measure.evaluate(block.cut(measure.depth))
            results[measure].append(_check_result(measure, result, len(block)))
    return results


def lists_at_once(measure: Measure, evidence: RankedEvidence, length: int, numbers: int) -> int:
    """So many lists of this length that no dense array has more than so many numbers."""
    names = sorted(set().union(*split_needs(measure.needs).values()))
    sizes = (int(r.counts.max(initial=0)) for r in evidence.reference.values() if not r.shared)
    return max(1, numbers // (max([length, 1, *sizes]) * dense_width(evidence, names)))


def _check_result(measure: Measure, result: Any, queries: int) -> Result:
    """A kernel of somebody's own may give anything: say what it should have given."""
    if not isinstance(result, Result):
        raise ParameterError(f"{measure!r}: compute must give a Result, got {type(result).__name__}")
    shape = np.shape(result.values)
    wanted = (queries,) if result.columns == ("",) else (queries, len(result.columns))
    if shape not in ((queries,), wanted) or (len(shape) == 1 and len(result.columns) > 1):
        raise ParameterError(f"{measure!r}: compute must give values of shape {wanted}, got {shape}")
    return result


def scores_block(measure: Measure, queries: tuple[str, ...], results: Sequence[Result]) -> ScoresBlock:
    """The values of one measure, and where there is none the reason."""
    columns = results[0].columns if results else ("",)
    shape = len(queries), len(columns)
    values = np.concatenate([np.asarray(r.values, np.float64).ravel() for r in results]).reshape(shape)
    reasons = list(dict.fromkeys([OK, INFINITE, *(reason for r in results for reason in r.undefined)]))
    status = np.zeros(values.shape, dtype=np.int16)
    begin = 0
    for result in results:
        end = begin + len(result.values)
        part = status[begin:end]
        for reason, where in result.undefined.items():
            mask = np.broadcast_to(where.reshape(len(where), -1), part.shape)
            part[(part == 0) & mask] = reasons.index(reason)
        begin = end
    without_reason = (status == 0) & np.isnan(values)
    if without_reason.any():
        reasons.append(NO_REASON)
        status[without_reason] = len(reasons) - 1
    values[status > 1] = np.nan
    status[(status == 0) & np.isinf(values)] = 1
    without = [result.unlabelled for result in results if result.unlabelled is not None]
    bounds = [result.bounds for result in results if result.bounds is not None]
    return ScoresBlock(
        "",
        measure,
        queries,
        columns,
        values,
        status,
        tuple(reasons),
        unlabelled=np.concatenate(without) if without else None,
        bounds=(min(low for low, _ in bounds), max(high for _, high in bounds)) if bounds else None,
    )
