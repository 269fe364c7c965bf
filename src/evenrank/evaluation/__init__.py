"""Runs and measures go in, per-query scores come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evenrank.data.diversity import DiversityQrels
from evenrank.data.gathered import Documents, Evidence
from evenrank.data.run import Run
from evenrank.evaluation.engine import evaluate_run
from evenrank.evaluation.inputs import (
    as_judgements,
    asked_queries,
    check_needs,
    named_runs,
    sources_by_name,
    with_options,
)
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
    intents: DiversityQrels | None = None,
    queries: Sequence[str] | None = None,
    evidence: Iterable[Evidence] = (),
    background: Run | Documents | None = None,
    against: Run | None = None,
    cutoffs: Sequence[int] | None = None,
    missing: str | None = None,
) -> Scores:
    """Score one run, or several by name, with measures given as names or values.

    ``qrels`` are graded judgements, ``intents`` judgements by intent. ``queries`` are the queries to
    score; without it a measure that needs judgements takes the judged ones (a run that lacks one has an
    empty list there) and any other measure takes the run's. ``evidence`` is any further source that
    measures need by name. ``background`` and ``against`` are the documents or the second run that some
    measures compare with. ``cutoffs`` evaluates every measure at each of these depths. ``missing`` is
    what measures do with ranked documents that have no evidence.

    >>> run = Run.build(["q1", "q1"], ["a", "b"], [2.0, 1.0])
    >>> evaluate(run, "RR", qrels={"q1": {"b": 1}}).mean("RR")
    0.5
    """
    runs = named_runs(run)
    wanted = with_options(parse_measures(measures, check=cutoffs is None), cutoffs, missing)
    judgements = as_judgements(qrels)
    sources = Sources(sources_by_name(judgements, intents, evidence), background, against)
    for measure in wanted:
        check_needs(measure, sources)
    asked = None if queries is None else asked_queries(queries)
    blocks: list[ScoresBlock] = []
    notes: dict[str, tuple[str, ...]] = {}
    for name, ranking in runs.items():
        scores, said = evaluate_run(name, ranking, wanted, sources, asked)
        blocks += scores
        notes[name] = said
    inputs: dict[str, Any] = dict(runs)
    return Scores(tuple(blocks), notes, lambda: provenance(inputs, sources, asked))
