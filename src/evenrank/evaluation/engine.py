"""The loop over measures and blocks of queries, from aligned evidence to values with reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import DataError, ParameterError
from evenrank.evaluation.notes import judged_note, missing_notes, query_notes, share_notes, tie_note
from evenrank.evidence.align import Sources, align, split_needs
from evenrank.evidence.aligned_lists import AlignedLists
from evenrank.evidence.ranked_evidence import RankedEvidence, dense_width
from evenrank.ids import IdPlaces, places_among
from evenrank.inputs.missing import check_missing
from evenrank.measures import Measure, Result
from evenrank.measures.base import Note
from evenrank.scores import INFINITE, OK, ScoresBlock

Int16s = npt.NDArray[np.int16]

NO_REASON = "undefined"
ALL_QUERIES = "all"  # stands in for the query of a value that belongs to all of them together

_NUMBERS_AT_ONCE = 1 << 20  # dense numbers in one block of queries: small enough for the cache


@dataclass(frozen=True, eq=False)
class _Scope:
    """The queries of some measures, and their rows among those that are aligned; None: all of them."""

    query_ids: tuple[str, ...]
    rows: Int64s | None

    @classmethod
    def of(cls, queries: tuple[str, ...], chosen: Bools) -> _Scope:
        if chosen.all():
            return cls(queries, None)
        return cls(tuple(compress(queries, chosen)), np.flatnonzero(chosen))


def evaluate_run(
    name: str,
    run: Run | RunSet,
    measures: Sequence[Measure],
    sources: Sources,
    asked: tuple[str, ...] | None,
    *,
    further: Sequence[Measure] = (),
    lists: AlignedLists | None = None,
) -> tuple[list[ScoresBlock], tuple[str, ...]]:
    """The values of all measures on one run, and what is to be said about its queries.

    ``further`` measures are evaluated, too, and nothing is said about them. ``lists`` aligns a run for
    others as well.
    """
    silent = frozenset(further) - frozenset(measures)
    measures = [*measures, *further]
    judged = {kind: sources.judged_places(kind) for m in measures for kind in sorted(m.judged_by)}
    everything = asked or run.query_ids
    if asked is None:
        unranked = [query for queries in judged.values() for query in queries.beyond(run.query_ids)]
        everything = (*run.query_ids, *dict.fromkeys(unranked)) if unranked else run.query_ids
    notes = dict.fromkeys(query_notes(name, run.query_ids, judged, asked))

    scopes: dict[frozenset[str], _Scope] = {}
    same_queries: dict[bytes, _Scope] = {}

    def scope_of(measure: Measure) -> _Scope:
        """The queries of a measure: those asked for, else the judged ones, else the run's."""
        kinds = frozenset(measure.judged_by if asked is None else ())
        if kinds not in scopes:
            own = [judged[kind] for kind in kinds] if kinds or asked else [IdPlaces(run.query_ids)]
            common = np.ones(len(everything), dtype=bool)  # (Q,)
            for queries in own:
                common &= queries.of(everything) >= 0
            if not common.any():
                raise DataError(f"{measure!r}: no query has both kinds of judgements that it needs")
            # measures with the same queries share what they look at
            scopes[kinds] = same_queries.setdefault(common.tobytes(), _Scope.of(everything, common))
        return scopes[kinds]

    own_values = frozenset(
        kind for kind, source in sources.evidence.items() if isinstance(source, Membership) and source.own
    )
    blocks: dict[Measure, ScoresBlock] = {}
    for group in _groups(measures, run):
        members = run.runs if isinstance(run, RunSet) and not _needs_rankings(group[0]) else (run,)
        depth = deepest(group)
        looked_at = deepest([measure for measure in group if measure not in silent])
        needs = frozenset().union(*(measure.needs for measure in group))
        parts: dict[Measure, list[ScoresBlock]] = {measure: [] for measure in group}
        for place, member in enumerate(members):
            found_here: list[str] = []
            anywhere = partial(_known_anywhere, member, everything, sources)
            if lists is not None and isinstance(member, Run):
                aligned = lists.of(member, everything, needs, depth)
            else:
                aligned = align(member, everything, needs, sources, depth)
            tied = tie_note(member, looked_at) if isinstance(member, Run) else None
            found_here += filter(None, [tied, judged_note(aligned, anywhere)])
            by_scope: dict[_Scope, list[Measure]] = {}
            for measure in group:
                by_scope.setdefault(scope_of(measure), []).append(measure)
            for scope, alike in by_scope.items():
                computed, said = _compute(alike, aligned, member, scope, own_values, anywhere, silent)
                for measure, block in computed.items():
                    parts[measure].append(block)
                found_here += said
            if place == 0:  # of a thousand draws each would say nearly the same
                which = f" (the first of {len(members):,} rankings)" if len(members) > 1 else ""
                notes.update(dict.fromkeys(note + which for note in found_here))
        for measure, found in parts.items():
            several = isinstance(run, RunSet) and len(found) > 1
            blocks[measure] = _mean_over_rankings(run, found) if several else found[0]  # type: ignore[arg-type]
            if measure not in silent:
                notes.update(dict.fromkeys(share_notes(blocks[measure], len(members))))
    return [replace(blocks[measure], run=name) for measure in measures], tuple(notes)


def deepest(measures: Sequence[Measure]) -> int | None:
    """How many ranks any of these measures looks at; None for whole lists."""
    depths = [measure.depth for measure in measures]
    return None if None in depths else max((depth for depth in depths if depth is not None), default=0)


def _known_anywhere(run: Run | RunSet, queries: tuple[str, ...], sources: Sources, name: str) -> bool:
    """Whether any document of the whole lists, not of the first ranks alone, has this evidence."""
    for ranking in run.runs if isinstance(run, RunSet) else (run,):
        ranked = align(ranking, queries, frozenset({f"ranked.{name}"}), sources, None).ranked
        if bool((ranked.known(name) & ranked.mask).any()):
            return True
    return False


def _needs_rankings(measure: Measure) -> bool:
    return any(need.startswith("rankings.") for need in measure.needs)


def _groups(measures: Sequence[Measure], run: Run | RunSet) -> list[list[Measure]]:
    """Measures that see all rankings of a query at once, and the others."""
    if not isinstance(run, RunSet):
        return [list(measures)]
    together = [measure for measure in measures if _needs_rankings(measure)]
    others = [measure for measure in measures if not _needs_rankings(measure)]
    return [group for group in (together, others) if group]


def _compute(
    measures: Sequence[Measure],
    aligned: RankedEvidence,
    run: Run | RunSet,
    scope: _Scope,
    own: frozenset[str],
    anywhere: Callable[[str], bool],
    silent: frozenset[Measure] = frozenset(),
) -> tuple[dict[Measure, ScoresBlock], list[str]]:
    """Measures for the same queries, and what those that are not silent say.

    All of them see a block of queries before the next one is made dense, so that they share what they look
    at, and no more than that is in memory.
    """
    if scope.rows is not None:
        aligned = aligned.select(scope.rows)
    said: list[str] = []
    for measure in measures:
        for part in measure.parts():
            looked_at = aligned.cut(part.depth)
            check_missing(part, looked_at, scope.query_ids, run)
            if measure not in silent:
                said += missing_notes(part, looked_at, anywhere, own)
    results: dict[Measure, list[Result]] = {measure: [] for measure in measures}
    by_query = [measure for measure in results if not measure.over_queries]  # two may be settled to the same
    for measure in results:
        if measure.over_queries:
            results[measure].append(_check_result(measure, measure.evaluate(aligned.cut(measure.depth)), 1))
    size = min((_queries_at_once(measure, aligned.cut(measure.depth)) for measure in by_query), default=1)
    for begin in range(0, max(1, len(aligned)) if by_query else 0, size):
        end = min(begin + size, len(aligned))
        block = aligned if size >= len(aligned) else aligned.select(np.arange(begin, end))
        for measure in by_query:
            result = measure.evaluate(block.cut(measure.depth))
            results[measure].append(_check_result(measure, result, len(block)))
    for measure, found in results.items():
        notes = Note.merged(note for result in found for note in result.notes)
        said += [] if measure in silent else [f"{measure!r}: {note}" for note in notes]
    return {
        measure: _block(measure, (ALL_QUERIES,) if measure.over_queries else scope.query_ids, found)
        for measure, found in results.items()
    }, said


def _queries_at_once(measure: Measure, evidence: RankedEvidence) -> int:
    """So many queries that no dense array grows beyond a fixed size."""
    blocks = split_needs(measure.needs)
    names = sorted(set().union(*blocks.values()))
    longest = max(
        [
            evidence.ranked.depth,
            *(int(r.counts.max(initial=0)) for r in evidence.reference.values() if not r.shared),
        ]
    )
    return max(1, _NUMBERS_AT_ONCE // max(1, longest * dense_width(evidence, names)))


def _check_result(measure: Measure, result: Any, queries: int) -> Result:
    """A kernel of somebody's own may give anything: say what it should have given."""
    if not isinstance(result, Result):
        raise ParameterError(f"{measure!r}: compute must give a Result, got {type(result).__name__}")
    shape = np.shape(result.values)
    wanted = (queries,) if result.columns == ("",) else (queries, len(result.columns))
    if shape not in ((queries,), wanted) or (len(shape) == 1 and len(result.columns) > 1):
        raise ParameterError(f"{measure!r}: compute must give values of shape {wanted}, got {shape}")
    return result


def _block(measure: Measure, queries: tuple[str, ...], results: Sequence[Result]) -> ScoresBlock:
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
    return ScoresBlock("", measure, queries, columns, values, status, tuple(reasons))


def _mean_over_rankings(runs: RunSet, parts: Sequence[ScoresBlock]) -> ScoresBlock:
    """For a measure of one list: its mean over the rankings of a query that have a value.

    A query is undefined where all of its rankings are. A ranking that lacks a query does not count for it; a
    query that all of them lack is an empty list.
    """
    first = parts[0]
    ranked = places_among(first.query_ids, runs.query_ids) >= 0  # (Q,)
    reasons = list(dict.fromkeys(reason for part in parts for reason in part.reasons))
    total, defined = np.zeros(first.values.shape), np.zeros(first.values.shape)
    status = np.zeros(first.values.shape, dtype=np.int16)
    count = np.zeros((len(first.query_ids), 1))
    for run, part in zip(runs.runs, parts, strict=True):
        own = places_among(part.query_ids, run.query_ids) >= 0
        counts = (own | ~ranked)[:, None]  # (Q, 1)
        codes = np.array([reasons.index(reason) for reason in part.reasons], dtype=np.int16)[part.status]
        valued = counts & (codes <= 1)
        total += np.where(valued, part.values, 0)
        defined += valued
        status = np.where(counts, np.maximum(status, codes), status).astype(np.int16)
        count += counts
    values, status = mean_of_defined(total, defined, status)
    draws = np.array([[part.aggregate(column) for column in range(values.shape[1])] for part in parts])
    shares = defined / count
    return replace(first, values=values, status=status, reasons=tuple(reasons), draws=draws, shares=shares)


def mean_of_defined(total: Floats, defined: Floats, status: Int16s) -> tuple[Floats, Int16s]:
    """Means of so many values, infinite where one of them is; where there is none, ``status`` stays."""
    values = np.divide(total, defined, out=np.full(total.shape, np.nan), where=defined > 0)
    return values, np.where(defined > 0, np.isinf(total), status).astype(np.int16)
