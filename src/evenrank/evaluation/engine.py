"""The loop over measures and blocks of queries, from aligned evidence to values with reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import MissingEvidenceError
from evenrank.evaluation.notes import query_notes
from evenrank.evidence.align import Sources, align, split_needs
from evenrank.evidence.blocks import RankedEvidence, dense_width
from evenrank.measures import Measure, Result
from evenrank.measures.base import JUDGEMENTS
from evenrank.scores import INFINITE, OK, ScoresBlock

NO_REASON = "undefined"

_NUMBERS_AT_ONCE = 1 << 23  # dense numbers in one block of queries


def evaluate_run(
    name: str,
    run: Run | RunSet,
    measures: Sequence[Measure],
    sources: Sources,
    asked: tuple[str, ...] | None,
) -> tuple[list[ScoresBlock], tuple[str, ...]]:
    """The values of all measures on one run, and what is to be said about its queries."""
    judged = {kind: sources.judged_queries(kind) for m in measures for kind in sorted(m.judged_by)}
    everything = asked or tuple(dict.fromkeys([*run.query_ids, *(q for ids in judged.values() for q in ids)]))
    notes = query_notes(name, run.query_ids, judged, asked)
    blocks = []
    for group in _groups(measures, run):
        members = run.runs if isinstance(run, RunSet) and not _needs_rankings(group[0]) else (run,)
        results = []
        for member in members:
            depths = [measure.depth for measure in group]
            depth = None if None in depths else max(d for d in depths if d is not None)
            needs = frozenset().union(*(measure.needs for measure in group))
            aligned = align(member, everything, needs, sources, depth)
            results.append([_compute(m, aligned, everything, member, asked, judged) for m in group])
        for index, measure in enumerate(group):
            parts = [row[index] for row in results]
            blocks.append(
                (
                    measure,
                    _mean_over_rankings(run, parts)
                    if isinstance(run, RunSet) and len(parts) > 1
                    else parts[0],
                )
            )
    order = {measure: place for place, measure in enumerate(measures)}
    blocks.sort(key=lambda item: order[item[0]])
    return [replace(block, run=name) for _, block in blocks], notes


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
    measure: Measure,
    aligned: RankedEvidence,
    queries: tuple[str, ...],
    run: Run | RunSet,
    asked: tuple[str, ...] | None,
    judged: Mapping[str, Sequence[str]],
) -> ScoresBlock:
    """One measure for its own queries, a block of queries at a time."""
    scope = queries
    if asked is None:
        own = [judged[kind] for kind in sorted(measure.judged_by)] or [run.query_ids]
        if any(ids != queries for ids in own):
            members = set(own[0]).intersection(*own[1:])
            chosen = [place for place, query in enumerate(queries) if query in members]
            scope = tuple(queries[place] for place in chosen)
            aligned = aligned.select(chosen)
    aligned = resolve_missing(measure, aligned.cut(measure.depth), scope, run)
    size = _queries_at_once(measure, aligned)
    results = (
        [measure.compute(aligned)]
        if size >= len(aligned)
        else [
            measure.compute(aligned.select(np.arange(begin, min(begin + size, len(aligned)))))
            for begin in range(0, len(aligned), size)
        ]
    )
    return _block(measure, scope, results)


def resolve_missing(
    measure: Measure, evidence: RankedEvidence, queries: tuple[str, ...], run: Run | RunSet
) -> RankedEvidence:
    """Apply the measure's own rule to ranked documents that have no evidence."""
    names = sorted(split_needs(measure.needs).get("ranked", set()) - {"documents"} - JUDGEMENTS)
    rule = getattr(measure, "missing", "error")
    for name in names:
        if rule not in ("error", "drop") or name not in evidence.ranked:
            continue
        known = evidence.ranked.known(name)  # (Q, K)
        unknown = evidence.ranked.mask & ~known
        if rule == "drop":
            evidence = evidence.compact(known)
        elif unknown.any():
            _raise_missing(measure, name, unknown, queries, run)
    return evidence.cut(measure.cutoff) if rule == "drop" else evidence


def _raise_missing(
    measure: Measure, name: str, unknown: Any, queries: tuple[str, ...], run: Run | RunSet
) -> None:
    places = np.argwhere(unknown)[:3]
    lists = run.runs[0] if isinstance(run, RunSet) else run
    examples = ", ".join(
        f"{lists.documents(queries[q])[rank]!r} (query {queries[q]!r})" for q, rank in places
    )
    rules = next((f.metadata["rule"].wording for f in measure.parameters() if f.name == "missing"), None)
    way_out = f"missing= accepts {rules}" if rules else f"add them to {name!r}"
    raise MissingEvidenceError(
        f"{measure!r}: {int(unknown.sum()):,} ranked documents of run {run.name!r} have no {name!r}, "
        f"such as {examples}; {way_out}"
    )


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


def _block(measure: Measure, queries: tuple[str, ...], results: Sequence[Result]) -> ScoresBlock:
    columns = results[0].columns if results else ("",)
    values = np.concatenate([r.values.reshape(len(r.values), -1) for r in results]).astype(
        np.float64
    )  # (Q, C)
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
    """For a measure of one list: its mean over the rankings of a query, where all of them are defined.

    A ranking that lacks a query does not count for it; a query that all of them lack is an empty list.
    """
    first = parts[0]
    ranked = set(runs.query_ids)
    reasons = list(dict.fromkeys(reason for part in parts for reason in part.reasons))
    total = np.zeros(first.values.shape)
    status = np.zeros(first.values.shape, dtype=np.int16)
    count = np.zeros((len(first.query_ids), 1))
    for run, part in zip(runs.runs, parts, strict=True):
        counts = np.array([[query in run or query not in ranked] for query in part.query_ids])  # (Q, 1)
        codes = np.array([reasons.index(reason) for reason in part.reasons], dtype=np.int16)[part.status]
        total += np.where(counts & (part.status <= 1), part.values, 0)
        status = np.where(counts, np.maximum(status, codes), status).astype(np.int16)
        count += counts
    values = np.where(status <= 1, total / count, np.nan)
    return replace(first, values=values, status=status, reasons=tuple(reasons))
