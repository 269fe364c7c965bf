"""How a study stands: how many came, agreed, were assigned and finished, and how conditions are balanced."""

from __future__ import annotations

import json
from collections import Counter
from typing import NamedTuple

from evenrank.study import people
from evenrank.web.steps import counters
from evenrank.web.store import Transaction


class FlowRow(NamedTuple):
    stage: str
    people: int
    inside: bool = False  # a part of the row above that has none


class BalanceRow(NamedTuple):
    """How many were assigned to a condition of a question, and how many of them gave an opinion after it."""

    question: str
    condition: str
    assigned: int
    finished: int


def flow_of(transaction: Transaction) -> list[FlowRow]:
    """From the first page to the end."""
    known = counters(transaction)
    standings = Counter(
        {
            str(name): int(n)
            for name, n in transaction.rows("SELECT standing, COUNT(*) FROM standings GROUP BY standing")
        }
    )
    assigned = transaction.rows("SELECT COUNT(DISTINCT participant) FROM assignments")[0][0]
    return [
        FlowRow("opened the first page", known.get("arrived", 0)),
        FlowRow("did not agree", known.get("declined", 0), True),
        FlowRow("agreed to take part", sum(standings.values())),
        FlowRow("too young", standings[people.INELIGIBLE], True),
        FlowRow("withdrew, answers kept", standings[people.KEPT], True),
        FlowRow("withdrew, answers deleted", standings[people.DELETED], True),
        FlowRow("have not finished", standings[people.ACTIVE], True),
        FlowRow("saw at least one list (answers not deleted)", int(assigned)),
        FlowRow("finished", standings[people.FINISHED]),
    ]


def balance_of(transaction: Transaction) -> list[BalanceRow]:
    """By question and condition; places of participants whose answers were deleted count as assigned."""
    done = {
        (str(participant), str(json.loads(answers).get("question")))
        for participant, answers in transaction.rows(
            "SELECT participant, answers FROM steps WHERE name = 'posterior'"
        )
    }
    assigned: Counter[tuple[str, str]] = Counter()
    finished: Counter[tuple[str, str]] = Counter()
    for question, condition, participant in transaction.rows(
        "SELECT question, condition, participant FROM assignments ORDER BY question, condition"
    ):
        assigned[question, condition] += 1
        finished[question, condition] += (participant, question) in done
    return [BalanceRow(*key, count, finished[key]) for key, count in sorted(assigned.items())]
