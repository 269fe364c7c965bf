"""Runs and measures go in, per-query scores come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from evenrank.data.diversity import DiversityQrels
from evenrank.data.gathered import Documents, Evidence
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.evaluation.engine import evaluate_run
from evenrank.evaluation.inputs import (
    as_against,
    as_background,
    as_intents,
    as_judgements,
    asked_queries,
    check_needs,
    further_evidence,
    named_runs,
    sources_by_name,
    with_combined,
    with_options,
)
from evenrank.evaluation.notes import (
    group_notes,
    intent_notes,
    pair_notes,
    polarity_notes,
    settled_notes,
    words_note,
)
from evenrank.evaluation.provenance import provenance
from evenrank.evaluation.spelling import document_spelling
from evenrank.evidence.align import Sources
from evenrank.measures import parse_measures
from evenrank.scores import Scores, ScoresBlock

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike

__all__ = ["evaluate"]


def evaluate(
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    qrels: Any = None,
    intents: Any = None,
    queries: Sequence[str] | None = None,
    words: WordCounts | str | PathLike[str] | None = None,
    groups: Membership | Iterable[Membership] = (),
    polarity: Any = None,
    evidence: Iterable[Evidence] = (),
    background: Run | WordCounts | Documents | Sequence[str] | None = None,
    background_depth: int | None = None,
    against: Run | None = None,
    cutoffs: Sequence[int] | None = None,
    missing: str | None = None,
) -> Scores:
    """Score one run, or several by name, with measures given as names or values.

    ``qrels`` are graded judgements, ``intents`` judgements by intent. ``queries`` are the queries to
    score; without it a measure that needs judgements takes the judged ones (a run that lacks one has an
    empty list there) and any other measure takes the run's. ``words`` are counts of group words in the
    documents, or the file that ``scan`` wrote, ``groups`` say which groups documents belong to,
    ``polarity`` where they stand on an axis of opinion, ``evidence`` is any further source that measures
    need by name. ``background`` is what some measures compare with: a run, document ids, word counts (all
    documents that they have), or ``"collection"`` for those of ``words``; one run alone is compared with
    itself. A run is cut at ``background_depth`` (200). ``against`` is the second run of a pair. ``cutoffs``
    evaluates every measure at each of these depths. ``missing`` is what measures do with documents that have
    no evidence.

    >>> run = Run.build(["q1", "q1"], ["a", "b"], [2.0, 1.0])
    >>> evaluate(run, "RR", qrels={"q1": {"b": 1}}).mean("RR")
    0.5
    """
    runs = named_runs(run)
    wanted = with_options(parse_measures(measures, check=cutoffs is None), cutoffs, missing)
    judgements = as_judgements(qrels)
    further = further_evidence(words, groups, evidence, polarity)
    named = sources_by_name(judgements, as_intents(intents), further)
    settled = [measure.settled(named) for measure in wanted]
    named = with_combined(named, settled)
    documents, note = as_background(background, runs, settled, named, background_depth)
    sources = Sources(named, documents, as_against(against))
    for measure in settled:
        check_needs(measure, sources)
    asked = None if queries is None else asked_queries(queries)
    derived = qrels is None or isinstance(judgements, DiversityQrels)
    kinds = {kind for measure in settled for kind in measure.judged_by}
    common = intent_notes(sources, "relevance" in kinds, "intents" in kinds, derived)
    common += filter(None, [note, words_note(sources, settled)])
    common += polarity_notes(sources, settled)
    common += [*settled_notes(wanted, settled), *group_notes(sources, settled)]
    blocks: list[ScoresBlock] = []
    notes: dict[str, tuple[str, ...]] = {}
    for name, ranking in runs.items():
        scores, said = evaluate_run(name, ranking, settled, sources, asked)
        blocks += [replace(block, measure=measure) for block, measure in zip(scores, wanted, strict=True)]
        paired = pair_notes(name, ranking.query_ids, sources.against, settled)
        depths = [measure.depth for measure in settled]
        depth = None if None in depths else max(d for d in depths if d is not None)
        spelt = document_spelling(ranking, sources, settled, depth) if isinstance(ranking, Run) else []
        notes[name] = (*common, *paired, *said, *spelt)
    inputs: dict[str, Any] = dict(runs)
    return Scores(tuple(blocks), notes, partial(provenance, inputs, sources, asked))
