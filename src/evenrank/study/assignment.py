"""Who sees which condition: permuted blocks within each question, from a seed that nobody chose.

The seed is drawn when the database is made and stays in it. A block holds every condition as often as its
share says, in an order that the seed, the question and the number of the block decide. So whoever knows
neither the seed nor the earlier assignments of a block cannot foresee the next one. An assignment is stored
in the transaction that records the step before it is shown.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evenrank.study.conditions import Study
from evenrank.study.settings import Condition
from evenrank.web.steps import now, setting
from evenrank.web.store import Transaction

TABLES = """
CREATE TABLE IF NOT EXISTS planned (
    participant TEXT NOT NULL, place INTEGER NOT NULL, question TEXT NOT NULL,
    PRIMARY KEY (participant, place));
CREATE TABLE IF NOT EXISTS assignments (
    question TEXT NOT NULL, slot INTEGER NOT NULL, participant TEXT, condition TEXT NOT NULL,
    version INTEGER NOT NULL, shown TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (question, version, slot), UNIQUE (participant, question));
"""
SEED = "seed"


class Assignment(NamedTuple):
    question: str
    slot: int
    condition: str
    shown: dict[str, Any]  # documents in order, corpus, DUO by encoder and step, versions
    at: str


def seed_of_store(transaction: Transaction) -> str:
    return setting(transaction, SEED, secrets.token_hex(32))


def block(seed: str, question: str, number: int, conditions: Sequence[Condition]) -> list[str]:
    """The conditions of one block in the order in which they are given out.

    >>> two = [Condition("a", "c"), Condition("b", "c", share=2)]
    >>> sorted(block("00", "q1", 0, two))
    ['a', 'b', 'b']
    """
    places = [condition.name for condition in conditions for _ in range(condition.share)]
    order = _generator(seed, "block", question, str(number)).permutation(len(places))
    return [places[place] for place in order]


def condition_of_slot(seed: str, question: str, slot: int, conditions: Sequence[Condition]) -> str:
    size = sum(condition.share for condition in conditions)
    return block(seed, question, slot // size, conditions)[slot % size]


def plan_questions(transaction: Transaction, study: Study, participant: str) -> list[str]:
    """Choose the questions of a participant, those with the fewest participants first, ties by lot, and put
    them into an order by lot. Stored, so that it is chosen once."""
    transaction.lock("plan")
    counts = dict.fromkeys(study.questions, 0)
    for question, count in transaction.rows("SELECT question, COUNT(*) FROM planned GROUP BY question"):
        if question in counts:
            counts[str(question)] = int(count)
    generator = _generator(seed_of_store(transaction), "plan", participant)
    drawn = [list(counts)[place] for place in generator.permutation(len(counts))]
    chosen = sorted(drawn, key=counts.__getitem__)[: study.settings.questions_each]
    order = [chosen[place] for place in generator.permutation(len(chosen))]
    for place, question in enumerate(order):
        transaction.run(
            "INSERT INTO planned (participant, place, question) VALUES (?, ?, ?)",
            participant,
            place,
            question,
        )
    return order


def planned_questions(transaction: Transaction, participant: str) -> list[str]:
    found = transaction.rows("SELECT question FROM planned WHERE participant = ? ORDER BY place", participant)
    return [str(question) for (question,) in found]


def assign(
    transaction: Transaction, study: Study, participant: str, question: str, versions: dict[str, Any]
) -> Assignment:
    """The condition of a participant for a question, decided now if it was not yet."""
    known = assignment_of(transaction, participant, question)
    if known is not None:
        return known
    version = study.settings.version
    transaction.lock(f"question {question}")
    slot = transaction.rows(
        "SELECT COALESCE(MAX(slot) + 1, 0) FROM assignments WHERE question = ? AND version = ?",
        question, version,
    )[0][0]  # fmt: skip
    seed = f"{seed_of_store(transaction)} {version}"
    condition = condition_of_slot(seed, question, int(slot), study.settings.conditions)
    shown = {**study.lists[question, condition].record(), "versions": versions}
    at = now()
    transaction.run(
        "INSERT INTO assignments (question, slot, participant, condition, version, shown, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        question, slot, participant, condition, version, json.dumps(shown, ensure_ascii=False), at,
    )  # fmt: skip
    return Assignment(question, int(slot), condition, shown, at)


def assignment_of(transaction: Transaction, participant: str, question: str) -> Assignment | None:
    found = transaction.rows(
        "SELECT question, slot, condition, shown, at FROM assignments WHERE participant = ? AND question = ?",
        participant, question,
    )  # fmt: skip
    if not found:
        return None
    name, slot, condition, shown, at = found[0]
    return Assignment(str(name), int(slot), str(condition), json.loads(shown), str(at))


def release(transaction: Transaction, participant: str) -> None:
    """Take the name off the assignments of a participant whose answers are deleted: the places stay taken,
    or the blocks would not be balanced any more."""
    transaction.run("UPDATE assignments SET participant = NULL WHERE participant = ?", participant)
    transaction.run("DELETE FROM planned WHERE participant = ?", participant)


def _generator(seed: str, *names: str) -> np.random.Generator:
    said = "\0".join([seed, *names]).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(said).digest(), "big"))
