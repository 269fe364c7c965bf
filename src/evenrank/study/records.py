"""What was answered, as trials: one for each participant and question whose list was shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evenrank.web.steps import Event, RecordedStep
from evenrank.web.store import Transaction

FAILED_CHECK = "failed the attention check"
NO_OPINION = "gave no opinion after the list"


class StudyTrial(NamedTuple):
    participant: str
    place: int  # among the participant's questions, from 1
    question: str
    condition: str
    corpus: str
    direction: float  # the side that the condition is meant to favour
    version: int
    assigned_at: str
    prior: int
    posterior: int | None
    clicked: bool | None  # None: the browser ran no scripts, so clicks are unknown
    opened: int | None  # how many documents
    dwell: float | None  # seconds that documents were open, summed
    passed: bool | None  # the attention check; None where it was not reached
    shown: Mapping[str, Any]  # documents in order, DUO by encoder and step, versions

    @property
    def excluded(self) -> str | None:
        """Why the trial takes no part in the analysis."""
        if self.passed is False:
            return FAILED_CHECK
        return NO_OPINION if self.posterior is None else None

    def signed_duo(self, encoder: str, step: int) -> float | None:
        found: float | None = self.shown["leanings"][encoder][str(step)][1]
        return found


def trials_of(transaction: Transaction) -> list[StudyTrial]:
    """In the order in which lists were assigned; those of participants who had answers deleted are gone."""
    steps = _grouped(
        transaction.rows(
            "SELECT participant, position, name, answers, at FROM steps ORDER BY participant, position"
        ),
        lambda row: RecordedStep(int(row[0]), str(row[1]), json.loads(row[2]), str(row[3])),
    )
    events = _grouped(
        transaction.rows(
            "SELECT participant, page, number, position, kind, rank, milliseconds FROM events "
            "ORDER BY participant, page, number"
        ),
        lambda row: Event(*row),
    )
    found = []
    for question, participant, condition, version, shown, at in transaction.rows(
        "SELECT question, participant, condition, version, shown, at FROM assignments "
        "WHERE participant IS NOT NULL ORDER BY at, question"
    ):
        about = json.loads(shown)
        own = steps.get(participant, [])
        asked = [step.answers["question"] for step in own if step.name == "prior"]
        of_question = {step.name: step for step in own if step.answers.get("question") == question}
        seen = [event for event in events.get(participant, []) if _question(own, event) == question]
        opened = {event.rank for event in seen if event.kind == "open"}
        checks = [step.answers["passed"] for step in own if step.name == "attention"]
        posterior = of_question.get("posterior")
        found.append(
            StudyTrial(
                str(participant), asked.index(question) + 1, str(question), str(condition), about["corpus"],
                about["direction"], int(version), str(at), of_question["prior"].answers["opinion"],
                None if posterior is None else posterior.answers["opinion"],
                bool(opened) if seen else None,
                len(opened) if seen else None,
                sum(dwell_of(seen).values()) if seen else None,
                checks[0] if checks else None,
                about,
            )
        )  # fmt: skip
    return found


def dwell_of(events: Iterable[Event]) -> dict[int, float]:
    """Seconds that the document of each rank was open while its tab was in sight.

    >>> dwell_of([Event("p", 1, 5, "open", 2, 1000), Event("p", 2, 5, "hidden", None, 2000),
    ...           Event("p", 3, 5, "visible", None, 9000), Event("p", 4, 5, "close", 2, 9500)])
    {2: 1.5}
    """
    found: dict[int, float] = {}
    for page in _grouped(((event.page, *event) for event in events), lambda row: Event(*row)).values():
        opened: set[int] = set()
        hidden, before = False, 0
        for event in sorted(page, key=lambda one: one.number):
            if not hidden:
                for rank in opened:
                    found[rank] = found.get(rank, 0.0) + max(0, event.milliseconds - before) / 1000
            before = event.milliseconds
            if event.kind in ("hidden", "visible", "leave"):
                hidden = event.kind != "visible"
            elif event.rank is not None and event.kind == "open":
                opened.add(event.rank)
            elif event.rank is not None:
                opened.discard(event.rank)
    return found


def _question(steps: Sequence[RecordedStep], event: Event) -> str | None:
    """The question whose list an event is about: the search before it was for that."""
    if not 0 < event.position <= len(steps):
        return None
    return str(steps[event.position - 1].answers.get("question"))


def _grouped(rows: Iterable[Any], make: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for owner, *rest in rows:
        found.setdefault(str(owner), []).append(make(rest))
    return found
