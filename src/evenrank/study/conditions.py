"""The lists that a study shows: for every question and condition an order of documents, and its DUO."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import DataError
from evenrank.files import read_bytes
from evenrank.measures import parse_measure
from evenrank.measures.duo import DUO
from evenrank.measures.orders import balanced_order
from evenrank.study.corpora import (
    Question,
    QuestionDocuments,
    StudyDocument,
    fingerprint,
    read_corpus,
    read_questions,
)
from evenrank.study.orders import one_sided_order
from evenrank.study.settings import SIDES, Condition, StudySettings
from evenrank.study.texts import StudyTexts, read_study_texts

STEPS = (1, 2)  # of DUO, as in Tables 3 and 9 of the paper
LEAST = 3  # documents of a list, for DUO to have a choice of orders


class Leaning(NamedTuple):
    """How one-sided a list is; None where DUO is undefined."""

    duo: float | None
    signed: float | None


@dataclass(frozen=True)
class ShownList:
    """What a participant of a condition sees for a question."""

    condition: Condition
    documents: tuple[StudyDocument, ...]
    balanced: tuple[StudyDocument, ...]  # the same documents, as the debriefing shows them
    leanings: Mapping[str, Mapping[int, Leaning]]  # encoder -> step -> how one-sided

    def record(self) -> dict[str, Any]:
        """What is kept of it, beside the assignment."""
        return {
            "corpus": self.condition.corpus,
            "direction": self.condition.direction,
            "shown": [document.id for document in self.documents],
            "leanings": {
                encoder: {str(step): list(leaning) for step, leaning in by_step.items()}
                for encoder, by_step in self.leanings.items()
            },
        }


@dataclass(frozen=True)
class Study:
    """A study that can be served: everything read and checked."""

    settings: StudySettings
    questions: Mapping[str, Question]
    lists: Mapping[tuple[str, str], ShownList]  # (question, condition)
    texts: StudyTexts
    consent: str
    fingerprint: str
    notes: tuple[str, ...] = ()

    @property
    def conditions(self) -> dict[str, Condition]:
        return {condition.name: condition for condition in self.settings.conditions}


def load_study(settings: StudySettings) -> Study:
    """Read every file of a study; the first problem of each file is an error."""
    questions = read_questions(settings)
    if settings.questions_each > len(questions):
        raise DataError(
            f"{settings.path('study.toml')}: questions_each is {settings.questions_each}, but there are "
            f"{len(questions)} questions in {settings.path(settings.questions)}"
        )
    if settings.attention is not None and settings.attention.after > settings.questions_each:
        raise DataError(
            f"{settings.path('study.toml')}: attention: after is {settings.attention.after}, but a "
            f"participant has {settings.questions_each} questions"
        )
    corpora = {files.name: read_corpus(settings, files, questions) for files in settings.corpora}
    texts = read_study_texts(settings)
    consent_path = settings.path(settings.consent)
    consent = read_bytes(consent_path, "it is the text that participants agree to").decode("utf-8", "replace")
    if not consent.strip():
        raise DataError(f"{consent_path}: is empty: write what participants agree to")
    lists, notes = {}, []
    used = dict.fromkeys(condition.corpus for condition in settings.conditions)
    for name in used:
        path = settings.path(next(files.documents for files in settings.corpora if files.name == name))
        notes += _check_corpus(corpora[name], questions, str(path), settings.results)
    for condition in settings.conditions:
        for question, own in _ordered(settings, condition, corpora[condition.corpus], questions).items():
            lists[question, condition.name] = own
    return Study(
        settings,
        {one.id: one for one in questions},
        lists,
        texts,
        consent,
        fingerprint(settings),
        tuple(notes),
    )


def _check_corpus(
    corpus: Mapping[str, QuestionDocuments], questions: tuple[Question, ...], name: str, results: int
) -> list[str]:
    """Raise where lists cannot be ordered by side; return what should be known."""
    problems, longer = [], 0
    for question in questions:
        own = corpus[question.id]
        count = min(len(own.documents), results)
        if count < LEAST:
            problems.append(
                f"{name}: question {question.id!r} has {count} documents; a list whose order matters "
                f"needs at least {LEAST}"
            )
            continue
        longer += len(own.documents) > results
        scores = next(iter(own.polarity.values()))[:results]
        for side, there in zip(SIDES, (max(scores) > 0, min(scores) < 0), strict=True):
            if not there:
                problems.append(
                    f"{name}: question {question.id!r} has one side only: none of its documents is {side} "
                    "the perspective, so no order can favour a side"
                )
    if problems:
        raise DataError("\n".join(problems[:20]))
    if longer:
        return [f"{name}: of {longer} questions only the first {results} documents of the file are shown"]
    return []


def _ordered(
    settings: StudySettings,
    condition: Condition,
    corpus: Mapping[str, QuestionDocuments],
    questions: tuple[Question, ...],
) -> dict[str, ShownList]:
    run = None if condition.run is None else _run_orders(settings, condition, corpus, questions)
    found, problems = {}, []
    for question in questions:
        own = corpus[question.id]
        scores = next(iter(own.polarity.values()))
        sign = 1 if condition.first == SIDES[0] else -1
        places: list[int] | None
        if run is not None:
            places = run[question.id]
        else:
            places = order_of(np.array(scores[: settings.results]), condition.order == "MaxDUO", sign)
        if places is None:
            problems.append(
                f"{settings.path('study.toml')}: condition {condition.name!r}: no order of the documents of "
                f"question {question.id!r} leans to the side {condition.first!r}, which has too few of them: "
                "add documents of that side"
            )
            continue
        mixed = order_of(np.array([scores[place] for place in places]), False, 1) or []
        leanings = {
            encoder: {step: leaning_of([values[place] for place in places], step) for step in STEPS}
            for encoder, values in own.polarity.items()
        }
        listed = tuple(own.documents[place] for place in places)
        found[question.id] = ShownList(condition, listed, tuple(listed[place] for place in mixed), leanings)
    if problems:
        raise DataError("\n".join(problems[:20]))
    return found


def _run_orders(
    settings: StudySettings,
    condition: Condition,
    corpus: Mapping[str, QuestionDocuments],
    questions: tuple[Question, ...],
) -> dict[str, list[int]]:
    """The first documents of a run as places in the corpus."""
    from evenrank.io import read_run

    path = settings.path(str(condition.run))
    if not path.is_file():
        raise DataError(f"{path}: no such file: the run of condition {condition.name!r}")
    run = read_run(str(path))
    ranked = {query: run.documents(query) for query in run.query_ids}
    found, problems = {}, []
    for question in questions:
        places = {document.id: place for place, document in enumerate(corpus[question.id].documents)}
        listed = ranked.get(question.id, [])[: settings.results]
        unknown = [name for name in listed if name not in places]
        if len(listed) < 2 or unknown:
            what = (
                f"document {unknown[0]!r} is not in corpus {condition.corpus!r}"
                if unknown
                else "no list of 2 documents"
            )
            problems.append(f"{path}: question {question.id!r}: {what}")
            continue
        found[question.id] = [places[name] for name in listed]
    if problems:
        raise DataError("\n".join(problems[:20]))
    return found


def _duo(step: int, *, signed: bool = False) -> DUO:
    found = parse_measure(f"DUO(signed={signed},step={step})")
    if not isinstance(found, DUO):
        raise TypeError(f"{found!r} is not DUO")
    return found


def leaning_of(scores: list[float], step: int) -> Leaning:
    """DUO and signed DUO of documents in this order; a one-sided list may have the sign 0."""
    lists, lengths = np.array([scores]), np.array([len(scores)], dtype=np.int64)
    plain, undefined = _duo(step).of_scores(lists, lengths)
    if undefined[0] or len(scores) <= step * -(-2 // step):
        return Leaning(None, None)
    signed, _ = _duo(step, signed=True).of_scores(lists, lengths)
    return Leaning(float(plain[0]), float(signed[0]) + 0.0)


def order_of(scores: Floats, one_sided: bool, sign: int) -> list[int] | None:
    """Places of documents in the order of greatest or least DUO with the wanted side first; None if no order
    leans to that side.

    Of least DUO: the balanced order, whose first two documents may change places, since one document has no
    spread.

    >>> scores = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> order_of(scores, True, 1), order_of(scores, False, -1)
    ([1, 3, 0, 2], [0, 1, 2, 3])
    """
    if one_sided:
        return one_sided_order(scores, sign)
    lengths = np.array([len(scores)], dtype=np.int64)
    places = [int(place) for place in balanced_order(scores[None, :], lengths)[0]]
    if scores[places[0]] * sign < 0 < scores[places[1]] * sign:
        places[:2] = places[1], places[0]
    return places
