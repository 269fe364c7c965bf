"""Inputs that are settled for some measures, and the evaluation of those measures on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from evenrank.data.evidence_source import Evidence
from evenrank.data.run import Run
from evenrank.evaluation.engine import deepest, evaluate_run
from evenrank.evaluation.fair_notes import fair_notes
from evenrank.evaluation.notes import (
    group_notes,
    intent_notes,
    pair_notes,
    polarity_notes,
    reading_notes,
    settled_notes,
    words_note,
)
from evenrank.evaluation.provenance import provenance
from evenrank.evaluation.spelling import document_spelling
from evenrank.evidence.align import Sources, align
from evenrank.evidence.aligned_lists import AlignedLists
from evenrank.evidence.foresight import foresee
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.inputs import Inputs
from evenrank.inputs.coerce import check_needs
from evenrank.inputs.query_weights import unweighted_note
from evenrank.measures import Measure
from evenrank.scores import Scores, ScoresBlock


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
        lists = None
        depth = deepest(settled)
        needs = frozenset().union(*(measure.needs for measure in settled))
        foresee(sources, inputs.runs.values(), needs, None if depth is None else depth + keep)
        if keep:
            queries = [query for run in inputs.runs.values() for query in run.query_ids]
            queries += [
                query
                for kind in sorted({kind for measure in settled for kind in measure.judged_by})
                for query in sources.judged_queries(kind)
            ]
            asked = tuple(dict.fromkeys(queries)) if inputs.queries is None else inputs.queries
            lists = AlignedLists(sources, needs, None if depth is None else depth + 1, asked)
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


def evaluate_prepared(
    known: PreparedEvidence, wanted: Sequence[Measure], further: Sequence[Measure] = ()
) -> tuple[Scores, Scores]:
    """The scores of the measures that are wanted, and of ``further`` ones on the same lists, about which no
    note is made. A run that is a set of rankings has no further scores."""
    inputs, sources = known.inputs, known.sources
    settled = [known.settled[measure] for measure in wanted]
    others = [known.settled[measure] for measure in further]
    for measure in (*settled, *others):
        check_needs(measure, sources)
    kinds = {kind for measure in settled for kind in measure.judged_by}
    common = intent_notes(sources, "relevance" in kinds, "intents" in kinds, inputs.grades_are_derived)
    common += filter(None, [known.note, words_note(sources, settled)])
    common += polarity_notes(sources, settled)
    common += [*settled_notes(wanted, settled), *group_notes(sources, settled)]
    blocks: list[ScoresBlock] = []
    more: list[ScoresBlock] = []
    notes: dict[str, tuple[str, ...]] = {}
    for name, ranking in inputs.runs.items():
        silent = others if isinstance(ranking, Run) else []
        scores, said = evaluate_run(
            name, ranking, settled, sources, inputs.queries, further=silent, lists=known.lists,
            weights=inputs.query_weights,
        )  # fmt: skip
        blocks += [replace(block, measure=measure) for block, measure in zip(scores, wanted, strict=False)]
        rest = zip(scores[len(wanted) :], further, strict=False)
        more += [replace(block, measure=measure) for block, measure in rest]
        paired = pair_notes(name, ranking.query_ids, sources.against, settled)
        spelt = (
            document_spelling(ranking, sources, settled, deepest(settled)) if isinstance(ranking, Run) else []
        )
        notes[name] = (*common, *paired, *said, *spelt)
    by_need = (*reading_notes(sources, settled), *unweighted_note(inputs.query_weights, settled))
    notes = {name: (*found, *by_need) for name, found in notes.items()}
    for name, found in fair_notes(blocks).items():
        notes[name] = (*notes[name], *found)
    became = {repr(one): repr(two) for one, two in zip(wanted, settled, strict=True)}
    facts = partial(provenance, dict(inputs.runs), sources, inputs.queries, became)
    judged = any(part.judged_by for measure in wanted for part in measure.parts())
    told = frozenset(name for name, ranking in inputs.runs.items() if judged and ranking.reads_judgements)
    first = Scores(tuple(blocks), notes, facts, informed=told)
    return first, replace(first, blocks=tuple(more), notes={})
