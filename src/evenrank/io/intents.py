"""How likely the intents of a query are, and the groups that judgements name in their second column."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from evenrank.data.attribute import Attribute
from evenrank.data.diversity import DiversityQrels
from evenrank.data.membership import Membership
from evenrank.errors import DataError
from evenrank.files import read_utf8
from evenrank.ids import take
from evenrank.io.cells import is_number
from evenrank.io.column_names import ACCEPTED
from evenrank.io.rankings import read_qrels
from evenrank.io.row_problems import RowProblems


def read_intent_probabilities(path: str | Path) -> dict[str, dict[str, float]]:
    """``{query: {intent: probability}}`` from lines of query, intent and probability.

    They are separated by blanks, tabs or commas, with a header or without; those of a query sum to 1.
    """
    found: dict[str, dict[str, float]] = {}
    report = RowProblems(str(path), lines=range(1, sys.maxsize))
    for row, line in enumerate(read_utf8(path).splitlines()):
        cells = line.replace(",", " ").split()
        if not cells or (row == 0 and cells[-1].lower() in (*ACCEPTED["share"], "p")):
            continue
        if len(cells) != 3 or not is_number(cells[2]):
            report.add(row, f"a line is query, intent and probability, got {line.strip()!r}")
        elif not 0 <= float(cells[2]) <= 1:
            report.add(row, f"probability {cells[2]} is not between 0 and 1")
        elif cells[1] in found.setdefault(cells[0], {}):
            report.add(row, f"intent {cells[1]!r} of query {cells[0]!r} is there twice")
        else:
            found[cells[0]][cells[1]] = float(cells[2])
    report.check()
    if not found:
        raise DataError(f"{path}: there are no probabilities of intents")
    return found


def with_probabilities(judged: DiversityQrels, path: str | Path | None) -> DiversityQrels:
    """The judgements with the probabilities of a file; queries that it lacks keep equal ones."""
    if path is None:
        return judged
    chances = read_intent_probabilities(path)
    try:
        return judged.with_probabilities(chances)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def read_iteration_groups(path: object, name: str, *, format: str | None = None) -> Membership:
    """Groups from the second column of judgements, ``query group document grade``, as expeval has them.

    A document belongs to the groups that its query names for it, whatever its grade, and equally to each
    where there are several.
    """
    judged = read_qrels(path, diversity=True, format=format)
    values = tuple(dict.fromkeys(group for names in judged.intent_ids for group in names))
    if len(values) < 2:
        raise DataError(f"{judged.source}: the second column names one group only: are these groups?")
    names = [[values.index(intent) for intent in own] for own in judged.intent_ids]
    counts = np.diff(judged.grades.offsets)  # (J,): the groups of each document
    rows = np.repeat(np.arange(len(counts)), counts)
    queries = judged.query_codes[rows].tolist()
    labels = [
        values[names[query][place]]
        for query, place in zip(queries, judged.grades.places.tolist(), strict=True)
    ]
    return Membership.build(
        Attribute(name, values), take(judged.doc_ids, rows), labels, 1 / counts[rows],
        queries=[judged.query_ids[query] for query in queries], source=judged.source,
    )  # fmt: skip


def read_intent_groups(
    path: object, name: str, *, probabilities: str | Path | None = None, format: str | None = None
) -> Membership:
    """The intents of each query as its groups, from judgements by intent; the target is their probability."""
    return Membership.from_intents(
        with_probabilities(read_qrels(path, diversity=True, format=format), probabilities), name
    )
