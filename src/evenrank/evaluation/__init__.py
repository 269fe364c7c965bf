"""Runs and measures go in, per-query scores come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from evenrank.data.run import Run
from evenrank.evaluation.engine import evaluate_run
from evenrank.evaluation.fair_notes import fair_notes
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
from evenrank.inputs import Inputs, Known
from evenrank.inputs.coerce import check_needs, with_options
from evenrank.measures import parse_measures
from evenrank.scores import Scores, ScoresBlock

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike

__all__ = ["evaluate"]


def evaluate(
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    cutoffs: Sequence[int] | None = None,
    missing: str | None = None,
    **known: Unpack[Known],
) -> Scores:
    """Score one run, or several by name, with measures given as names or values.

    ``run`` is a run, a mapping ``{name: run}``, or an ``Inputs`` that holds runs and what is known about
    them. The keywords are those of ``Inputs``: ``qrels=``, ``intents=``, ``words=``, ``groups=``,
    ``polarity=``, ``background=``, ``queries=`` and so on. ``cutoffs`` evaluates every measure at each of
    these depths. ``missing`` is what measures do with documents that have no evidence.

    >>> run = Run.build(["q1", "q1"], ["a", "b"], [2.0, 1.0])
    >>> evaluate(run, "RR", qrels={"q1": {"b": 1}}).mean("RR")
    0.5
    """
    inputs = Inputs.of(run, **known)
    wanted = with_options(parse_measures(measures, check=cutoffs is None), cutoffs, missing)
    settled, sources, note = inputs.settle(wanted)
    for measure in settled:
        check_needs(measure, sources)
    kinds = {kind for measure in settled for kind in measure.judged_by}
    common = intent_notes(sources, "relevance" in kinds, "intents" in kinds, inputs.grades_are_derived)
    common += filter(None, [note, words_note(sources, settled)])
    common += polarity_notes(sources, settled)
    common += [*settled_notes(wanted, settled), *group_notes(sources, settled)]
    blocks: list[ScoresBlock] = []
    notes: dict[str, tuple[str, ...]] = {}
    for name, ranking in inputs.runs.items():
        scores, said = evaluate_run(name, ranking, settled, sources, inputs.queries)
        blocks += [replace(block, measure=measure) for block, measure in zip(scores, wanted, strict=True)]
        paired = pair_notes(name, ranking.query_ids, sources.against, settled)
        depths = [measure.depth for measure in settled]
        depth = None if None in depths else max(d for d in depths if d is not None)
        spelt = document_spelling(ranking, sources, settled, depth) if isinstance(ranking, Run) else []
        notes[name] = (*common, *paired, *said, *spelt)
    for name, more in fair_notes(blocks).items():
        notes[name] = (*notes[name], *more)
    became = {repr(one): repr(two) for one, two in zip(wanted, settled, strict=True)}
    facts = partial(provenance, dict(inputs.runs), sources, inputs.queries, became)
    return Scores(tuple(blocks), notes, facts)
