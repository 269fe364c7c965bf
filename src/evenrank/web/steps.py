"""Who has answered what, in which order: steps that are recorded once, in order, and never changed.

A participant is known by a random code; the session cookie is kept only as a digest. Nothing else about a
person is here.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from datetime import UTC, datetime
from typing import Any, NamedTuple

from evenrank.web.store import Store, Transaction, prepare

TABLES = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, count BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS participants (
    participant TEXT PRIMARY KEY, session TEXT UNIQUE, began TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS arrivals (session TEXT PRIMARY KEY, participant TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS steps (
    participant TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, answers TEXT NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (participant, position));
CREATE TABLE IF NOT EXISTS events (
    participant TEXT NOT NULL, page TEXT NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL,
    kind TEXT NOT NULL, rank INTEGER, milliseconds BIGINT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (participant, page, number));
"""
_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is taken for another


class RecordedStep(NamedTuple):
    position: int
    name: str
    answers: dict[str, Any]
    at: str


class Event(NamedTuple):
    """What happened on a page between two steps, as its script told it."""

    page: str  # one opening of a page in one tab
    number: int  # of the event on that page
    position: int  # of the step that was being answered
    kind: str
    rank: int | None
    milliseconds: int  # since the page was opened


def prepare_steps(store: Store) -> None:
    prepare(store, TABLES)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def code(length: int = 8) -> str:
    """
    >>> len(code(12))
    12
    """
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def setting(transaction: Transaction, name: str, value: str) -> str:
    """The setting of this name; ``value`` is written if there is none yet."""
    transaction.run("INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", name, value)
    return str(transaction.rows("SELECT value FROM settings WHERE name = ?", name)[0][0])


def known_setting(transaction: Transaction, name: str) -> str | None:
    found = transaction.rows("SELECT value FROM settings WHERE name = ?", name)
    return str(found[0][0]) if found else None


def count(transaction: Transaction, name: str) -> None:
    """One more of what is counted under this name."""
    transaction.run(
        "INSERT INTO counters (name, count) VALUES (?, 1) "
        "ON CONFLICT (name) DO UPDATE SET count = counters.count + 1",
        name,
    )


def counters(transaction: Transaction) -> dict[str, int]:
    return {str(name): int(value) for name, value in transaction.rows("SELECT name, count FROM counters")}


def participant_of(transaction: Transaction, session: str) -> str | None:
    found = transaction.rows("SELECT participant FROM participants WHERE session = ?", digest(session))
    return str(found[0][0]) if found else None


def arrived(transaction: Transaction, arrival: str) -> str | None:
    """Who agreed to take part in this session, which has been exchanged for another since."""
    found = transaction.rows("SELECT participant FROM arrivals WHERE session = ?", digest(arrival))
    return str(found[0][0]) if found else None


def begin(transaction: Transaction, arrival: str, session: str) -> tuple[str, bool] | None:
    """The participant who agrees in the session ``arrival``, and whether it is a new one.

    From now on ``session`` stands for the participant: who has planted the one of arrival in somebody's
    browser cannot follow. If its answer was lost on the way, agreeing again gives another session as long as
    there is no further step; None after that.
    """
    transaction.lock(f"session {digest(arrival)}")
    participant = arrived(transaction, arrival)
    if participant is None:
        participant = code(12)
        transaction.run(
            "INSERT INTO participants (participant, session, began) VALUES (?, ?, ?)",
            participant, digest(session), now(),
        )  # fmt: skip
        transaction.run(
            "INSERT INTO arrivals (session, participant) VALUES (?, ?)", digest(arrival), participant
        )
        return participant, True
    if participant_of(transaction, session) != participant:
        if len(steps_of(transaction, participant)) > 1:
            return None
        transaction.run(  # the former one must not begin as another participant
            "INSERT INTO arrivals (session, participant) SELECT session, participant FROM participants "
            "WHERE participant = ?", participant,
        )  # fmt: skip
        transaction.run(
            "UPDATE participants SET session = ? WHERE participant = ?", digest(session), participant
        )
    return participant, False


def steps_of(transaction: Transaction, participant: str) -> list[RecordedStep]:
    found = transaction.rows(
        "SELECT position, name, answers, at FROM steps WHERE participant = ? ORDER BY position", participant
    )
    return [
        RecordedStep(int(place), str(name), json.loads(answers), str(at))
        for place, name, answers, at in found
    ]


def record(
    transaction: Transaction, participant: str, position: int, name: str, answers: dict[str, Any]
) -> bool:
    """Record the next step; False, and nothing changes, if it is not the next one."""
    transaction.lock(f"participant {participant}")
    known = transaction.rows("SELECT COUNT(*) FROM steps WHERE participant = ?", participant)[0][0]
    if known != position:
        return False
    transaction.run(
        "INSERT INTO steps (participant, position, name, answers, at) VALUES (?, ?, ?, ?, ?)",
        participant, position, name, json.dumps(answers, ensure_ascii=False), now(),
    )  # fmt: skip
    return True


def add_event(transaction: Transaction, participant: str, event: Event, most: int) -> bool:
    """Keep an event once; False where there are ``most`` already or it is known."""
    known = transaction.rows("SELECT COUNT(*) FROM events WHERE participant = ?", participant)[0][0]
    if known >= most:
        return False
    changed = transaction.run(
        "INSERT INTO events (participant, page, number, position, kind, rank, milliseconds, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        participant, *event, now(),
    )  # fmt: skip
    return changed == 1


def forget(transaction: Transaction, participant: str) -> None:
    """Delete the answers of a participant; the code stays, so that it can be counted, and the digest of the
    session, so that nobody begins again with it."""
    for table in ("steps", "events"):
        transaction.run(f"DELETE FROM {table} WHERE participant = ?", participant)
