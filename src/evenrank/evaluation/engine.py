"""The loop over measures and blocks of queries, from aligned evidence to values with reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import DataError
from evenrank.evaluation.kernels import run_kernels, scores_block
from evenrank.evaluation.notes import judged_note, missing_notes, query_notes, share_notes, tie_note
from evenrank.evaluation.rankings import evaluate_each, mean_over_rankings
from evenrank.evaluation.scopes import Scope
from evenrank.evidence.align import Sources, align
from evenrank.evidence.aligned_lists import AlignedLists
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.ids import IdPlaces
from evenrank.inputs.missing import check_missing
from evenrank.inputs.query_weights import weights_at
from evenrank.measures import Measure
from evenrank.measures.base import Note
from evenrank.scores import ScoresBlock

Int16s = npt.NDArray[np.int16]

ALL_QUERIES = "all"  # stands in for the query of a value that belongs to all of them together


def evaluate_run(
    name: str,
    run: Run | RunSet,
    measures: Sequence[Measure],
    sources: Sources,
    asked: tuple[str, ...] | None,
    *,
    further: Sequence[Measure] = (),
    lists: AlignedLists | None = None,
    weights: Mapping[str, float] | None = None,
) -> tuple[list[ScoresBlock], tuple[str, ...]]:
    """The values of all measures on one run, and what is to be said about its queries.

    ``further`` measures are evaluated, too, and nothing is said about them. ``lists`` aligns a run for
    others as well. ``weights`` are those of queries, for measures that use them.
    """
    silent = frozenset(further) - frozenset(measures)
    measures = [*measures, *further]
    judged = {kind: sources.judged_places(kind) for m in measures for kind in sorted(m.judged_by)}
    everything = asked or run.query_ids
    if asked is None:
        unranked = [query for queries in judged.values() for query in queries.beyond(run.query_ids)]
        everything = (*run.query_ids, *dict.fromkeys(unranked)) if unranked else run.query_ids
    notes = dict.fromkeys(query_notes(name, run.query_ids, judged, asked))

    scopes: dict[frozenset[str], Scope] = {}
    same_queries: dict[bytes, Scope] = {}

    def scope_of(measure: Measure) -> Scope:
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
            scopes[kinds] = same_queries.setdefault(common.tobytes(), Scope.of(everything, common))
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
        by_scope: dict[Scope, list[Measure]] = {}
        for measure in group:
            by_scope.setdefault(scope_of(measure), []).append(measure)
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
            for scope, alike in by_scope.items():
                computed, said = _compute(alike, aligned, member, scope, own_values, anywhere, silent)
                for measure, block in computed.items():
                    parts[measure].append(block)
                found_here += said
            if place == 0:  # of a thousand draws each would say nearly the same
                which = f" (the first of {len(members):,} rankings)" if len(members) > 1 else ""
                notes.update(dict.fromkeys(note + which for note in found_here))
                if len(members) > 1 and isinstance(run, RunSet):
                    each = evaluate_each(run.runs, by_scope, everything, sources, depth, own_values)
                    if each is not None:
                        parts = each
                        break
        for measure, found in parts.items():
            several = isinstance(run, RunSet) and len(found) > 1
            each_one = [_weighted(block, weights) for block in found]
            blocks[measure] = mean_over_rankings(run, each_one) if several else each_one[0]  # type: ignore[arg-type]
            if measure not in silent:
                notes.update(dict.fromkeys(share_notes(blocks[measure], len(members))))
    return [replace(blocks[measure], run=name) for measure in measures], tuple(notes)


def _weighted(block: ScoresBlock, weights: Mapping[str, float] | None) -> ScoresBlock:
    """The same with the weights of its queries, where they have some and the measure uses them."""
    if weights is None or not block.measure.weighs_queries:
        return block
    return replace(block, weights=weights_at(weights, block.query_ids))


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
    scope: Scope,
    own: frozenset[str],
    anywhere: Callable[[str], bool],
    silent: frozenset[Measure] = frozenset(),
) -> tuple[dict[Measure, ScoresBlock], list[str]]:
    """Measures for the same queries, and what those that are not silent say."""
    if scope.rows is not None:
        aligned = aligned.select(scope.rows)
    said: list[str] = []
    for measure in measures:
        for part in measure.parts():
            looked_at = aligned.cut(part.depth)
            check_missing(part, looked_at, scope.query_ids, run, anywhere)
            if measure not in silent:
                said += missing_notes(part, looked_at, anywhere, own)
    results = run_kernels(measures, aligned)
    for measure, found in results.items():
        notes = Note.merged(note for result in found for note in result.notes)
        said += [] if measure in silent else [f"{measure!r}: {note}" for note in notes]
    return {
        measure: scores_block(measure, (ALL_QUERIES,) if measure.over_queries else scope.query_ids, found)
        for measure, found in results.items()
    }, said
