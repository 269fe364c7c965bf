"""What a study says: does opinion after the list follow the side that the list favours?

The regression of the paper (Tables 3 and 9), ``posterior ~ 1 + prior + signed DUO``, with errors of ordinary
least squares as published and beside them errors by participant and question that hold with few of either;
and the effect of the assignment itself, since who clicks is decided after the list was seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evenrank.stats.regression import ClusteredEstimate, clustered_coefficient
from evenrank.study.conditions import STEPS
from evenrank.study.flow import FlowRow, flow_of
from evenrank.study.records import StudyTrial, trials_of
from evenrank.study.seme import POOLED, Effect, seme
from evenrank.web.store import Store

FEW_QUESTIONS = 10
ALL, CLICKED = "all", "clicked"
ANSWERED, UNCHANGED = "answered", "all assigned, unchanged if not answered"


class EffectRow(NamedTuple):
    """One line of Table 3 or 9: the coefficient of signed DUO."""

    corpus: str
    trials: str
    encoder: str
    step: int
    published: Effect
    clustered: ClusteredEstimate


class AssignmentRow(NamedTuple):
    """The effect of being assigned to a list that puts one side first, on all who were assigned."""

    corpus: str
    trials: str
    size: int
    clustered: ClusteredEstimate


class ConditionRow(NamedTuple):
    condition: str
    assigned: int
    answered: int
    prior: float  # means; NaN without an answer
    posterior: float
    shift: float


class StudyAnalysis(NamedTuple):
    flow: tuple[FlowRow, ...]
    excluded: tuple[tuple[str, int], ...]  # reason, trials
    effects: tuple[EffectRow, ...]
    assignment: tuple[AssignmentRow, ...]
    conditions: tuple[ConditionRow, ...]
    notes: tuple[str, ...]
    trials: int


def analyse_study(store: Store, conditions: Sequence[str]) -> StudyAnalysis:
    """Everything that ``evenrank study analyse`` reports, from the answers in a store."""
    with store.reading() as transaction:
        flow, trials = flow_of(transaction), trials_of(transaction)
    excluded = Counter(trial.excluded for trial in trials if trial.excluded is not None)
    kept = [trial for trial in trials if trial.excluded is None]
    encoders = list(trials[0].shown["leanings"]) if trials else []
    effects = tuple(
        _effect(corpus, behaviour, encoder, step, rows)
        for step in STEPS
        for encoder in encoders
        for corpus, of_corpus in _by_corpus(kept)
        for behaviour, rows in _by_behaviour(of_corpus)
    )
    checked = [trial for trial in trials if trial.passed is not False]
    assignment = tuple(
        _assigned(corpus, name, rows)
        for corpus, of_corpus in _by_corpus(checked)
        for name, rows in (
            (ANSWERED, [trial for trial in of_corpus if trial.posterior is not None]),
            (UNCHANGED, of_corpus),
        )
    )
    known = list(dict.fromkeys([*conditions, *(trial.condition for trial in trials)]))
    return StudyAnalysis(
        tuple(flow),
        tuple(sorted((str(reason), count) for reason, count in excluded.items())),
        effects,
        assignment,
        tuple(_condition(name, [trial for trial in trials if trial.condition == name]) for name in known),
        tuple(_notes(kept)),
        len(trials),
    )


def _by_corpus(trials: Sequence[StudyTrial]) -> list[tuple[str, list[StudyTrial]]]:
    names = sorted({trial.corpus for trial in trials})
    parts = [(name, [trial for trial in trials if trial.corpus == name]) for name in names]
    return [*parts, (POOLED, list(trials))] if len(names) != 1 else parts


def _by_behaviour(trials: Sequence[StudyTrial]) -> list[tuple[str, list[StudyTrial]]]:
    return [(ALL, list(trials)), (CLICKED, [trial for trial in trials if trial.clicked])]


def _effect(corpus: str, behaviour: str, encoder: str, step: int, trials: Sequence[StudyTrial]) -> EffectRow:
    known = [trial for trial in trials if trial.signed_duo(encoder, step) is not None]
    signed = [trial.signed_duo(encoder, step) for trial in known]
    prior, posterior = [trial.prior for trial in known], [_posterior(trial) for trial in known]
    if known:
        published = seme({"posterior": posterior, "prior": prior, "duo": signed})[0]
        published = published._replace(corpus=corpus, trials=behaviour)
    else:
        nan = math.nan
        published = Effect(corpus, behaviour, 0, nan, nan, nan, nan, nan, "there are no such trials")
    clustered = _clustered(known, [value or 0.0 for value in signed])
    return EffectRow(corpus, behaviour, encoder, step, published, clustered)


def _assigned(corpus: str, name: str, trials: Sequence[StudyTrial]) -> AssignmentRow:
    estimate = _clustered(trials, [trial.direction for trial in trials])
    return AssignmentRow(corpus, name, len(trials), estimate)


def _clustered(trials: Sequence[StudyTrial], treatment: Sequence[float]) -> ClusteredEstimate:
    prior = [trial.prior for trial in trials]
    design = np.column_stack([np.ones(len(trials)), prior, treatment]) if trials else np.ones((0, 3))
    people = np.array([trial.participant for trial in trials], dtype=str)
    questions = np.array([trial.question for trial in trials], dtype=str)
    return clustered_coefficient([_posterior(trial) for trial in trials], design, 2, [people, questions])


def _posterior(trial: StudyTrial) -> int:
    """The opinion after the list; who gave none is taken not to have changed it."""
    return trial.prior if trial.posterior is None else trial.posterior


def _condition(name: str, trials: Sequence[StudyTrial]) -> ConditionRow:
    answered = [trial for trial in trials if trial.posterior is not None]
    prior = _mean([trial.prior for trial in answered])
    posterior = _mean([_posterior(trial) for trial in answered])
    return ConditionRow(name, len(trials), len(answered), prior, posterior, posterior - prior)


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else math.nan


def _notes(trials: Sequence[StudyTrial]) -> list[str]:
    notes = []
    questions = len({trial.question for trial in trials})
    if trials and questions < FEW_QUESTIONS:
        notes.append(
            f"There are {questions} questions. The effect differs between questions, so with fewer than "
            f"{FEW_QUESTIONS} the intervals are wide and rest on an approximation: ask more questions."
        )
    unknown = sum(trial.clicked is None for trial in trials)
    if unknown:
        notes.append(
            f"Clicks are unknown in {unknown} of {len(trials)} trials, because the browser ran no scripts: "
            "they count under all, not under clicked."
        )
    versions = sorted({trial.version for trial in trials})
    if len(versions) > 1:
        notes.append(
            f"The trials are of {len(versions)} versions of the study, pooled here: "
            + ", ".join(map(str, versions))
        )
    return notes
