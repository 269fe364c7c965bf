"""Participants apart from their answers: ids of panels, completion codes, who finished, who withdrew."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from evenrank.errors import DataError
from evenrank.study.assignment import TABLES as ASSIGNMENT_TABLES
from evenrank.study.assignment import release, seed_of_store
from evenrank.study.conditions import Study
from evenrank.web.steps import code, forget, known_setting, now, prepare_steps, setting
from evenrank.web.store import Store, Transaction, prepare

TABLES = """
CREATE TABLE IF NOT EXISTS identities (digest TEXT PRIMARY KEY, participant TEXT NOT NULL, panel_id TEXT);
CREATE TABLE IF NOT EXISTS standings (
    participant TEXT PRIMARY KEY, standing TEXT NOT NULL, code TEXT NOT NULL, version INTEGER NOT NULL,
    at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS versions (
    version INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, settings TEXT NOT NULL, at TEXT NOT NULL)
"""
ACTIVE, INELIGIBLE, FINISHED = "active", "ineligible", "finished"
KEPT, DELETED = "withdrawn, answers kept", "withdrawn, answers deleted"
ENDED = (INELIGIBLE, FINISHED, KEPT, DELETED)


class ParticipantStanding(NamedTuple):
    standing: str
    code: str
    version: int
    at: str


def prepare_study(store: Store) -> None:
    """Make the tables of a study, and draw its seed."""
    prepare_steps(store)
    prepare(store, ASSIGNMENT_TABLES + TABLES)
    with store.writing() as transaction:
        seed_of_store(transaction)


def secret_of(store: Store, fresh: str) -> str:
    with store.writing() as transaction:
        return setting(transaction, "secret", fresh)


def record_version(store: Store, study: Study) -> None:
    """Refuse a study that is another than the one that participants have seen under the same version."""
    settings = study.settings
    with store.writing() as transaction:
        transaction.lock("versions")
        began = transaction.rows("SELECT COUNT(*) FROM participants")[0][0]
        known = transaction.rows("SELECT version, fingerprint FROM versions ORDER BY version")
        if known and not began:  # nobody has seen it yet
            transaction.run("DELETE FROM versions")
            known = []
        if known and known[-1] == (settings.version, study.fingerprint):
            return
        if known and settings.version <= known[-1][0]:
            raise DataError(
                f"{settings.path('study.toml')}: the study was changed (settings, questions, documents or "
                f"texts) after {began} participants had begun with version {known[-1][0]}: undo it, or "
                f"write version = {known[-1][0] + 1} to record a new version, which the analysis tells apart"
            )
        transaction.run(
            "INSERT INTO versions (version, fingerprint, settings, at) VALUES (?, ?, ?, ?)",
            settings.version, study.fingerprint, json.dumps(settings.shown, default=str), now(),
        )  # fmt: skip


def check_version(store: Store, study: Study) -> int | None:
    """How many participants would be lost to a change that was made without a new version; None if none."""
    with store.reading() as transaction:
        began = transaction.rows("SELECT COUNT(*) FROM participants")[0][0]
        known = transaction.rows("SELECT version, fingerprint FROM versions ORDER BY version DESC")
    changed = known and began and known[0][0] == study.settings.version and known[0][1] != study.fingerprint
    return int(began) if changed else None


def enrol(transaction: Transaction, participant: str, version: int, panel_id: str | None, keyed: str) -> bool:
    """Make a participant known; False if somebody with the same id of a panel is already there."""
    if panel_id is not None:
        added = transaction.run(
            "INSERT INTO identities (digest, participant, panel_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            keyed, participant, panel_id,
        )  # fmt: skip
        if not added:
            return False
    transaction.run(
        "INSERT INTO standings (participant, standing, code, version, at) VALUES (?, ?, ?, ?, ?)",
        participant, ACTIVE, f"{code(4)}-{code(4)}", version, now(),
    )  # fmt: skip
    return True


def owner_of(transaction: Transaction, keyed: str) -> str | None:
    """The participant with the id of a panel that has this digest."""
    found = transaction.rows("SELECT participant FROM identities WHERE digest = ?", keyed)
    return str(found[0][0]) if found else None


def standing_of(transaction: Transaction, participant: str) -> ParticipantStanding:
    found = transaction.rows(
        "SELECT standing, code, version, at FROM standings WHERE participant = ?", participant
    )
    standing, own, version, at = found[0]
    return ParticipantStanding(str(standing), str(own), int(version), str(at))


def set_standing(transaction: Transaction, participant: str, standing: str) -> None:
    transaction.run(
        "UPDATE standings SET standing = ?, at = ? WHERE participant = ?", standing, now(), participant
    )


def withdraw(transaction: Transaction, participant: str, *, delete: bool) -> None:
    """Stop for good; with ``delete`` the answers and the id of the panel go, and only the count stays."""
    transaction.lock(f"participant {participant}")
    if standing_of(transaction, participant).standing == DELETED:
        return
    set_standing(transaction, participant, DELETED if delete else KEPT)
    if delete:
        forget(transaction, participant)
        release(transaction, participant)
        # the digest stays, so that nobody takes part twice
        transaction.run("UPDATE identities SET panel_id = NULL WHERE participant = ?", participant)


def find_participant(transaction: Transaction, name: str) -> str:
    """The participant with this code, completion code or id of a panel."""
    for sql in (
        "SELECT participant FROM standings WHERE participant = ?",
        "SELECT participant FROM standings WHERE code = ?",
        "SELECT participant FROM identities WHERE panel_id = ?",
    ):
        found = transaction.rows(sql, name)
        if found:
            return str(found[0][0])
    raise DataError(
        f"there is no participant {name!r}: give a participant's code, completion code or panel id"
    )


def delete_everything(transaction: Transaction) -> int:
    """What is due on the day of retention: every answer and every id; how many participants that were."""
    people = [str(row[0]) for row in transaction.rows("SELECT participant FROM standings")]
    for participant in people:
        withdraw(transaction, participant, delete=True)
    return len(people)


def versions_used(transaction: Transaction) -> dict[str, Any]:
    found = transaction.rows("SELECT version, fingerprint, at FROM versions ORDER BY version")
    return {
        "versions": [{"version": row[0], "fingerprint": row[1], "since": row[2]} for row in found],
        "seed": known_setting(transaction, "seed"),
    }
