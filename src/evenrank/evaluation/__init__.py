"""Runs and measures go in, per-query scores come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from evenrank.data.diversity import DiversityQrels
from evenrank.data.gathered import Documents, Evidence
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.errors import InputTypeError
from evenrank.evaluation.engine import evaluate_run
from evenrank.evaluation.inputs import (
    as_against,
    as_background,
    as_intents,
    as_judgements,
    asked_queries,
    check_needs,
    named_runs,
    sources_by_name,
    with_options,
)
from evenrank.evaluation.notes import intent_notes
from evenrank.evaluation.provenance import provenance
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
    words: WordCounts | None = None,
    evidence: Iterable[Evidence] = (),
    background: Run | WordCounts | Documents | Sequence[str] | None = None,
    against: Run | None = None,
    cutoffs: Sequence[int] | None = None,
    missing: str | None = None,
) -> Scores:
    """Score one run, or several by name, with measures given as names or values.

    ``qrels`` are graded judgements, ``intents`` judgements by intent. ``queries`` are the queries to
    score; without it a measure that needs judgements takes the judged ones (a run that lacks one has an
    empty list there) and any other measure takes the run's. ``words`` are counts of group words in the
    documents, ``evidence`` is any further source that measures need by name. ``background`` is what some
    measures compare with: a run, word counts (the whole collection) or document ids; one run alone is
    compared with its own first 200 documents. ``against`` is the second run of a pair. ``cutoffs``
    evaluates every measure at each of these depths. ``missing`` is what measures do with documents that
    have no evidence.

    >>> run = Run.build(["q1", "q1"], ["a", "b"], [2.0, 1.0])
    >>> evaluate(run, "RR", qrels={"q1": {"b": 1}}).mean("RR")
    0.5
    """
    runs = named_runs(run)
    wanted = with_options(parse_measures(measures, check=cutoffs is None), cutoffs, missing)
    judgements = as_judgements(qrels)
    if isinstance(evidence, Evidence) or not isinstance(evidence, Iterable):
        raise InputTypeError(f"evidence is a list of sources, as [table]; got {type(evidence).__name__}")
    further = [*evidence] if words is None else [words, *evidence]
    documents, note = as_background(background, runs, wanted)
    sources = Sources(
        sources_by_name(judgements, as_intents(intents), further), documents, as_against(against)
    )
    for measure in wanted:
        check_needs(measure, sources)
    asked = None if queries is None else asked_queries(queries)
    derived = qrels is None or isinstance(judgements, DiversityQrels)
    kinds = {kind for measure in wanted for kind in measure.judged_by}
    common = intent_notes(sources, "relevance" in kinds, "intents" in kinds, derived)
    if note is not None:
        common.append(note)
    blocks: list[ScoresBlock] = []
    notes: dict[str, tuple[str, ...]] = {}
    for name, ranking in runs.items():
        scores, said = evaluate_run(name, ranking, wanted, sources, asked)
        blocks += scores
        notes[name] = (*common, *said)
    inputs: dict[str, Any] = dict(runs)
    return Scores(tuple(blocks), notes, partial(provenance, inputs, sources, asked))
