"""What a study has collected, as files: trials, steps, events, and apart from them who took part."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from evenrank.errors import DataError
from evenrank.io.atomic import atomic_write
from evenrank.study.conditions import STEPS
from evenrank.study.flow import flow_of
from evenrank.study.people import versions_used
from evenrank.study.records import StudyTrial, trials_of
from evenrank.study.settings import StudySettings
from evenrank.tables.records import delimited, json_line
from evenrank.web.store import Store

FREE_TEXTS = ("opinion", "quote", "comment")  # of steps; participants may name themselves in them
TRIALS, ALL_STEPS, EVENTS, IDENTITIES, ABOUT = (
    "trials.csv", "steps.jsonl", "events.csv", "identities.csv", "study.json",
)  # fmt: skip


def export_study(settings: StudySettings, store: Store, folder: str | Path, *, anonymous: bool) -> list[Path]:
    """Write the files into a folder; with ``anonymous`` without ids, free texts and times of day.

    The codes of participants are then drawn anew, rows are in the order of those codes, and times are seconds
    since a participant's first step. The seed of the assignment is among the files once the study is closed.
    """
    home = Path(folder)
    if home.exists() and not home.is_dir():
        raise DataError(f"{home}: is a file: name a folder to write to")
    home.mkdir(parents=True, exist_ok=True)
    with store.reading() as transaction:
        trials = trials_of(transaction)
        steps = transaction.rows(
            "SELECT participant, position, name, answers, at FROM steps ORDER BY participant, position"
        )
        events = transaction.rows(
            "SELECT participant, position, page, number, kind, rank, milliseconds, at FROM events "
            "ORDER BY participant, position, page, number"
        )
        identities = transaction.rows(
            "SELECT i.panel_id, s.participant, s.standing, s.code, s.version FROM standings s "
            "LEFT JOIN identities i ON i.participant = s.participant ORDER BY s.at"
        )
        flow = flow_of(transaction)
        about = versions_used(transaction)
    if not settings.closed:
        about["seed"] = None
        about["why no seed"] = "the study is open: closed = true in study.toml allows the seed to be exported"
    about["flow"] = [{"stage": row.stage, "participants": row.people, "inside": row.inside} for row in flow]
    about["anonymous"] = anonymous
    began = {str(person): _moment(at) for person, position, _, _, at in steps if position == 0}
    names = _Names(anonymous)
    time = _times(began) if anonymous else (lambda person, at: at)
    encoders = next(corpus.polarity for corpus in settings.corpora)
    written = {
        TRIALS: _in_order(
            (trial_record(trial, encoders, names(trial.participant), time) for trial in trials), anonymous
        ),
        EVENTS: _in_order(
            (
                {"participant": names(row[0]), "step": row[1], "page": row[2], "number": row[3],
                 "kind": row[4], "rank": row[5], "milliseconds": row[6], "at": time(row[0], row[7])}
                for row in events
            ),
            anonymous,
        ),
    }  # fmt: skip
    if not anonymous:
        written[IDENTITIES] = [
            {"panel_id": row[0], "participant": row[1], "standing": row[2], "completion_code": row[3],
             "version": row[4]}
            for row in identities
        ]  # fmt: skip
    paths = []
    for name, records in written.items():
        paths.append(_write(home / name, delimited(records, ",") if records else ""))
    lines = [
        {"participant": names(person), "step": position, "name": name,
         "answers": _answers(json.loads(answers), name, anonymous), "at": time(str(person), at)}
        for person, position, name, answers, at in steps
    ]  # fmt: skip
    paths.append(_write(home / ALL_STEPS, "".join(map(json_line, _in_order(lines, anonymous)))))
    paths.append(_write(home / ABOUT, json.dumps(about, ensure_ascii=False, indent=2) + "\n"))
    return sorted(paths)


def trial_record(
    trial: StudyTrial, encoders: Mapping[str, str], name: str, time: Callable[[str, str], Any]
) -> dict[str, Any]:
    """A row of the table of trials."""
    record = {
        "participant": name, "place": trial.place, "question": trial.question, "condition": trial.condition,
        "corpus": trial.corpus, "direction": trial.direction, "version": trial.version,
        "prior": trial.prior, "posterior": trial.posterior, "clicked": trial.clicked, "opened": trial.opened,
        "dwell_seconds": trial.dwell, "excluded": trial.excluded,
        "shown": " ".join(trial.shown["shown"]), "assigned_at": time(trial.participant, trial.assigned_at),
    }  # fmt: skip
    for encoder in encoders:
        for step in STEPS:
            duo, signed = trial.shown["leanings"][encoder][str(step)]
            record[f"duo {encoder} step {step}"] = duo
            record[f"signed duo {encoder} step {step}"] = signed
    return record


class _Names:
    """The codes of participants, or new ones that nobody can trace back."""

    def __init__(self, anonymous: bool) -> None:
        self._anonymous = anonymous
        self._known: dict[str, str] = {}

    def __call__(self, participant: str) -> str:
        if not self._anonymous:
            return participant
        return self._known.setdefault(participant, secrets.token_hex(6))


def _times(began: Mapping[str, datetime]) -> Callable[[str, str], float]:
    def since(participant: str, at: str) -> float:
        return round((_moment(at) - began[participant]).total_seconds(), 1)

    return since


def _moment(at: str) -> datetime:
    return datetime.fromisoformat(at)


def _answers(answers: dict[str, Any], step: str, anonymous: bool) -> dict[str, Any]:
    if not anonymous:
        return answers
    return {
        name: f"({len(value.split())} words)" if name in FREE_TEXTS and isinstance(value, str) else value
        for name, value in answers.items()
    }


def _in_order(records: Any, anonymous: bool) -> list[dict[str, Any]]:
    """By the new codes, which are drawn at random: the order of arrival would tell who is who."""
    listed = list(records)
    return sorted(listed, key=lambda record: str(record["participant"])) if anonymous else listed


def _write(path: Path, text: str) -> Path:
    with atomic_write(path) as file:
        file.write(text.encode())
    return path
