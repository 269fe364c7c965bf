"""Scores at several cut-offs: how values depend on how far down one looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from evenrank.data.run import Run
from evenrank.errors import EvenrankError
from evenrank.evaluation import evaluate
from evenrank.evaluation.engine import PreparedEvidence, evaluate_prepared
from evenrank.inputs import Inputs
from evenrank.measures import Measure
from evenrank.scores import Scores
from evenrank.scores.cutoff_series import without_cutoff

STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


class ScoresAndCurves(NamedTuple):
    """What a report shows, computed in one evaluation."""

    scores: Scores
    curves: Scores
    known: PreparedEvidence  # the lists that both were computed on


def evaluate_with_curves(
    inputs: Inputs, measures: Sequence[Measure], cutoffs: Sequence[int] | None = None
) -> ScoresAndCurves:
    """The scores of measures, and on the same lists those at several cut-offs, at no greater depth than the
    measure's own unless ``cutoffs`` say so: nothing is known of the documents below.

    >>> run = Run.build(["q", "q"], ["a", "b"], [2.0, 1.0])
    >>> from evenrank.measures import parse_measure
    >>> found = evaluate_with_curves(Inputs.of(run, qrels={"q": {"b": 1}}), [parse_measure("P@3")])
    >>> [(repr(block.measure), block.values[0, 0].round(2).item()) for block in found.curves.blocks]
    [('P@1', 0.0), ('P@2', 0.5), ('P@3', 0.33)]
    """
    wanted = list(measures)
    at_steps = _curve_measures(wanted, cutoffs)
    further = [measure for measure in at_steps if measure not in wanted]
    known = PreparedEvidence.of(inputs, [*wanted, *further])
    scores = evaluate_prepared(known, wanted)
    single = {name: run for name, run in inputs.runs.items() if isinstance(run, Run)}
    if not at_steps or not single:
        return ScoresAndCurves(scores, scores, known)
    try:
        more = evaluate_prepared(replace(known, inputs=inputs.with_runs(single)), further)
    except EvenrankError:
        if cutoffs is not None:
            raise
        return ScoresAndCurves(scores, scores, known)  # a measure without values further up has no curve
    place = {measure: spot for spot, measure in enumerate(at_steps)}
    drawn = [b for b in (*scores.blocks, *more.blocks) if b.measure in place and b.run in single]
    runs = {run: spot for spot, run in enumerate(inputs.runs)}
    drawn.sort(key=lambda block: (runs[block.run], place[block.measure]))
    return ScoresAndCurves(scores, replace(more, blocks=tuple(drawn), notes_by_run={}), known)


def curves_of(scores: Scores, inputs: Inputs | None, cutoffs: Sequence[int] | None = None) -> Scores:
    """The same for scores that are there already: as they are where they have several cut-offs, or where
    nothing is known of what they were evaluated from."""
    runs = {} if inputs is None else {n: run for n, run in inputs.runs.items() if isinstance(run, Run)}
    wanted = _curve_measures(scores.measures, cutoffs)
    if inputs is None or not runs or not wanted:
        return scores
    try:
        return replace(evaluate(inputs.with_runs(runs), wanted), labels=scores.labels)
    except EvenrankError:
        if cutoffs is not None:
            raise
        return scores


def curves_by_rank(inputs: Inputs, measures: Sequence[Measure]) -> Scores:
    """The scores at every rank from 1 to the cut-off of each measure, for those that have one."""
    wanted = [
        measure @ rank
        for measure in measures
        if (named := without_cutoff(measure)) is not None
        for rank in range(1, named[1] + 1)
    ]
    return evaluate(inputs, wanted)


def _curve_measures(measures: Sequence[Measure], cutoffs: Sequence[int] | None) -> list[Measure]:
    """The measures at all steps; none where they are at several cut-offs already and nobody asks for more."""
    panels: dict[str, set[int]] = {}
    for measure in measures:
        found = without_cutoff(measure)
        if found is not None:
            panels.setdefault(found[0], set()).add(found[1])
    if cutoffs is None and any(len(depths) > 1 for depths in panels.values()):
        return []
    at_steps = [step for measure in measures for step in _at_steps(measure, cutoffs)]
    return list(dict.fromkeys(at_steps))


def _at_steps(measure: Measure, cutoffs: Sequence[int] | None) -> list[Measure]:
    found = without_cutoff(measure)
    if found is None:
        return []
    if cutoffs is not None:
        return [measure @ depth for depth in cutoffs]
    return [measure @ depth for depth in sorted({*(step for step in STEPS if step < found[1]), found[1]})]
