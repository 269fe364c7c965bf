"""Inputs that are settled for some measures, and the loop over runs, measures and queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress

import numpy as np

from evenrank.data.evidence_source import Evidence
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import DataError
from evenrank.evaluation.kernels import Scope, run_kernels, scores_block
from evenrank.evaluation.notes import (
    common_notes,
    judged_note,
    missing_notes,
    pair_notes,
    query_notes,
    share_notes,
    tie_note,
)
from evenrank.evaluation.provenance import provenance
from evenrank.evaluation.rankings import mean_over_rankings
from evenrank.evaluation.spelling import spelling_notes
from evenrank.evidence.align import AlignedLists, Sources, align
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.ids import places_among, without
from evenrank.inputs import Inputs
from evenrank.inputs.coerce import check_needs
from evenrank.inputs.missing import check_missing
from evenrank.inputs.query_weights import weights_at
from evenrank.io.by_need import WordsByNeed
from evenrank.measures import Measure
from evenrank.measures.base import Note
from evenrank.scores import Scores, ScoresBlock
from evenrank.scores.notes import ScoresNote

ALL_QUERIES = "all"  # stands in for the query of a value that belongs to all of them together


@dataclass(frozen=True)
class PreparedEvidence:
    """The evidence and the background of an evaluation, ready to be aligned with any of its runs."""

    inputs: Inputs
    sources: Sources
    settled: Mapping[Measure, Measure]  # as asked for -> with what it left open decided
    note: str | None = None  # about the background
    lists: AlignedLists | None = None  # None: nobody looks at them a second time

    @classmethod
    def of(cls, inputs: Inputs, measures: Sequence[Measure], *, keep: bool = True) -> PreparedEvidence:
        """``keep`` aligns each run once for all who ask, one rank deeper than measures look, so that it can
        be told what moves up where a document is left out."""
        settled, sources, note = inputs.settle(measures)
        depth = deepest(settled)
        depth = depth if depth is None else depth + keep
        needs = frozenset().union(*(measure.needs for measure in settled))
        words = sources.evidence.get("words")
        if isinstance(words, WordsByNeed) and any(need.endswith(".words") for need in needs):
            runs = inputs.runs.values()
            listed = [one for run in runs for one in (run.runs if isinstance(run, RunSet) else (run,))]
            listed = listed if depth is None else [one.head(depth) for one in listed]
            others = (sources.background, sources.against)
            words.read([*listed, *(one for one in others if isinstance(one, Run))])  # all runs in one pass
        lists = None
        if keep:
            queries = [query for run in inputs.runs.values() for query in run.query_ids]
            for kind in sorted({kind for measure in settled for kind in measure.judged_by}):
                queries += sources.judged_queries(kind)
            asked = tuple(dict.fromkeys(queries)) if inputs.queries is None else inputs.queries
            lists = AlignedLists(sources, needs, depth, asked)
        return cls(inputs, sources, dict(zip(measures, settled, strict=True)), note, lists)

    @property
    def evidence(self) -> Mapping[str, Evidence]:
        return self.sources.evidence

    def aligned(
        self, run: Run, queries: Sequence[str], measure: Measure, depth: int | None
    ) -> RankedEvidence:
        """The lists of a run as a settled measure sees them, to ``depth``."""
        if self.lists is None:
            return align(run, queries, measure.needs, self.sources, depth)
        return self.lists.of(run, queries, measure.needs, depth)


def evaluate_prepared(known: PreparedEvidence, wanted: Sequence[Measure]) -> Scores:
    inputs, sources = known.inputs, known.sources
    settled = [known.settled[measure] for measure in wanted]
    for measure in settled:
        check_needs(measure, sources)
    common = common_notes(inputs, sources, wanted, settled, known.note)
    blocks: list[ScoresBlock] = []
    notes: dict[str, tuple[ScoresNote, ...]] = {}
    for name, ranking in inputs.runs.items():
        found, said = _evaluate_run(name, ranking, settled, known)
        for one, asked in zip(settled, wanted, strict=True):
            blocks.append(replace(found[one], run=name, measure=asked))
        if isinstance(ranking, Run):
            said += spelling_notes(ranking, sources, settled, deepest(settled))
        paired = []
        if sources.against is not None and any("against." in need for one in settled for need in one.needs):
            paired = pair_notes(name, ranking.query_ids, sources.against)
        notes[name] = (*common, *paired, *said)
    became = {repr(one): repr(two) for one, two in zip(wanted, settled, strict=True)}
    facts = partial(provenance, dict(inputs.runs), sources, inputs.queries, became)
    judged = any(part.judged_by for measure in wanted for part in measure.parts())
    informed = frozenset(name for name, ranking in inputs.runs.items() if judged and ranking.reads_judgements)
    return Scores(tuple(blocks), notes, facts, informed=informed)


def _evaluate_run(
    name: str, run: Run | RunSet, wanted: Sequence[Measure], known: PreparedEvidence
) -> tuple[dict[Measure, ScoresBlock], list[ScoresNote]]:
    """The values of all measures on one run, and what is to be said about its queries."""
    sources, asked = known.sources, known.inputs.queries
    measures = list(dict.fromkeys(wanted))
    judged = {kind: sources.judged_queries(kind) for m in measures for kind in sorted(m.judged_by)}
    queries = asked or run.query_ids
    unranked = [query for ids in judged.values() for query in without(ids, queries)]
    if asked is None and unranked:
        queries = (*queries, *dict.fromkeys(unranked))
    notes = dict.fromkeys(query_notes(name, run.query_ids, judged, asked))
    scopes = _scopes(measures, queries, run.query_ids, judged, asked)
    blocks: dict[Measure, ScoresBlock] = {}
    together = [
        measure for measure in measures if any(need.startswith("rankings.") for need in measure.needs)
    ]
    one_by_one = [measure for measure in measures if measure not in together]
    groups = [together, one_by_one] if isinstance(run, RunSet) else [measures]
    for group in filter(None, groups):
        members = run.runs if isinstance(run, RunSet) and group is one_by_one else (run,)
        some = {scope: own for scope, alike in scopes.items() if (own := [m for m in alike if m in group])}
        parts, said = _evaluate_rankings(members, some, queries, known)
        which = f" (the first of {len(members):,} rankings)" if len(members) > 1 else ""
        notes |= dict.fromkeys(note._replace(text=note.text + which) for note in said)
        for measure in group:
            found, weights = parts[measure], known.inputs.query_weights
            if weights is not None and measure.weighs_queries:
                found = [replace(block, weights=weights_at(weights, block.query_ids)) for block in found]
            several = isinstance(run, RunSet) and len(found) > 1
            blocks[measure] = mean_over_rankings(run, found) if several else found[0]  # type: ignore[arg-type]
            notes |= dict.fromkeys(share_notes(blocks[measure], len(members)))
    return blocks, list(notes)


def _scopes(
    measures: Sequence[Measure],
    queries: tuple[str, ...],
    own: tuple[str, ...],
    judged: Mapping[str, tuple[str, ...]],
    asked: tuple[str, ...] | None,
) -> dict[Scope, list[Measure]]:
    """The measures by their queries: those asked for, else the judged ones, else the run's. Measures with the
    same queries share what they look at."""
    found: dict[bytes, tuple[Scope, list[Measure]]] = {}
    there = {kind: places_among(queries, ids) >= 0 for kind, ids in judged.items()}  # (Q,) each
    listed = places_among(queries, own) >= 0
    for measure in measures:
        common = np.ones(len(queries), dtype=bool)  # (Q,)
        if asked is None:
            common = np.logical_and.reduce([there[kind] for kind in sorted(measure.judged_by)] or [listed])
        if not common.any():
            raise DataError(f"{measure!r}: no query has both kinds of judgements that it needs")
        chosen = None if common.all() else np.flatnonzero(common)
        scope = Scope(queries if chosen is None else tuple(compress(queries, common)), chosen)
        found.setdefault(common.tobytes(), (scope, []))[1].append(measure)
    return dict(found.values())


def _evaluate_rankings(
    members: Sequence[Run | RunSet],
    scopes: Mapping[Scope, Sequence[Measure]],
    queries: tuple[str, ...],
    known: PreparedEvidence,
) -> tuple[dict[Measure, list[ScoresBlock]], list[ScoresNote]]:
    """The values of measures on each of the rankings, and what is to be said of the first: of a thousand
    draws each would say nearly the same."""
    sources = known.sources
    group = [measure for alike in scopes.values() for measure in alike]
    needs, depth = frozenset().union(*(measure.needs for measure in group)), deepest(group)
    parts: dict[Measure, list[ScoresBlock]] = {measure: [] for measure in group}
    notes: list[ScoresNote] = []
    for place, member in enumerate(members):
        if known.lists is not None and isinstance(member, Run):
            aligned = known.lists.of(member, queries, needs, depth)
        else:
            aligned = align(member, queries, needs, sources, depth)
        anywhere = partial(_known_anywhere, member, queries, sources)
        said = [judged_note(aligned, anywhere)]
        if isinstance(member, Run):
            said.insert(0, tie_note(member, depth))
        for scope, alike in scopes.items():
            computed, found = _compute(alike, aligned, member, scope, sources, anywhere)
            said += found
            for measure, block in computed.items():
                parts[measure].append(block)
        if place == 0:
            notes = [note for note in said if note is not None]
    return parts, notes


def _compute(
    measures: Sequence[Measure],
    aligned: RankedEvidence,
    run: Run | RunSet,
    scope: Scope,
    sources: Sources,
    anywhere: Callable[[str], bool],
) -> tuple[dict[Measure, ScoresBlock], list[ScoresNote]]:
    """Measures for the same queries, and what they say."""
    aligned = aligned if scope.rows is None else aligned.select(scope.rows)
    # memberships in which a document without a label is a value of its own
    own = {name for name, one in sources.evidence.items() if isinstance(one, Membership) and one.own}
    said: list[ScoresNote] = []
    for measure in measures:
        for part in measure.parts():
            looked_at = aligned.cut(part.depth)
            check_missing(part, looked_at, scope.query_ids, run, anywhere)
            said += missing_notes(part, looked_at, anywhere, own)
    blocks = {}
    for measure, found in run_kernels(measures, aligned).items():
        queries = (ALL_QUERIES,) if measure.over_queries else scope.query_ids
        blocks[measure] = scores_block(measure, queries, found)
        noted = Note.merged(note for result in found for note in result.notes)
        said += [ScoresNote("measure", str(note), repr(measure), note.text) for note in noted]
    return blocks, said


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
