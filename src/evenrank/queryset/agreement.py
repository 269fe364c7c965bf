"""How far annotators agree, by question and by domain; a machine's agreement with people beside theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenrank.arrays import Int64s
from evenrank.errors import counted, few
from evenrank.queryset.procedure import Procedure
from evenrank.queryset.sheets import Votes
from evenrank.stats.raters import Agreement, agreements, krippendorff_alpha, percent_agreement
from evenrank.tables import Interval, Table

LABEL = "label"


def agreement_rows(votes: Votes, procedure: Procedure, *, seed: int = 0) -> list[tuple[str, Agreement]]:
    """For the label, each question and each domain, every coefficient over the people."""
    rows = []
    for question, labels, given in _questions(votes, procedure):
        people = sorted({who for own in given.values() for who in own} - votes.machines)
        rows += [(question, one) for one in agreements(_codes(given, people), len(labels), seed=seed)]
    return rows


def machine_rows(votes: Votes, procedure: Procedure, *, seed: int = 0) -> list[tuple[str, str, Agreement]]:
    """For each machine and question its agreement with people, pair by pair, as one more rater would have."""
    rows = []
    for question, labels, given in _questions(votes, procedure):
        everyone = {who for own in given.values() for who in own}
        people = sorted(everyone - votes.machines)
        for machine in sorted(everyone & votes.machines):
            for person in people:
                pair = _codes(given, [machine, person])
                rows += [
                    (f"{machine} and one person", question, one)
                    for one in (
                        percent_agreement(pair, len(labels), seed=seed),
                        krippendorff_alpha(pair, len(labels), seed=seed),
                    )
                ]
    return rows


def agreement_tables(votes: Votes, procedure: Procedure, *, seed: int = 0) -> list[Table]:
    head = ["question", "coefficient", "value", "95% interval", "queries", "why undefined"]
    rows = [_cells((question,), one) for question, one in agreement_rows(votes, procedure, seed=seed)]
    tables = [
        Table.of(
            head,
            rows,
            words=2,
            title="agreement of people",
            meaning="Values close to 1: people agree on the question; alpha of 0 is what chance would give.",
        )
    ]
    machines = machine_rows(votes, procedure, seed=seed)
    if machines:
        notes = ["a machine never decides: its votes are shown here and nowhere else", *_missing(votes)]
        rows = [_cells((question, who), one) for who, question, one in machines]
        tables.append(
            Table.of(
                ["question", "who", *head[1:]],
                rows,
                words=3,
                title="agreement of machines with people",
                notes=notes,
                meaning="Values close to 1: the machine answers as people do.",
            )
        )
    return tables


def _missing(votes: Votes) -> list[str]:
    """On which queries a machine has no vote, though it has voted at that stage."""
    notes = []
    for machine in sorted(votes.machines):
        for what, stage in (("label", votes.labels), ("opinion", votes.opinions)):
            queries = votes.texts if what == "label" else stage
            lacking = [query for query in queries if machine not in stage.get(query, {})]
            if len(lacking) < len(queries) and lacking:
                notes.append(
                    f"{machine} has no {what} of {counted(len(lacking), 'query', 'queries')}: {few(lacking)}"
                )
    return notes


def _cells(before: tuple[str, ...], one: Agreement) -> tuple[object, ...]:
    return (*before, one.name, one.value, Interval(one.low, one.high), one.items, one.reason or "")


def _questions(
    votes: Votes, procedure: Procedure
) -> list[tuple[str, Sequence[str], Mapping[str, Mapping[str, int]]]]:
    """The question, its labels, and by query and annotator the code of the answer."""
    found: list[tuple[str, Sequence[str], Mapping[str, Mapping[str, int]]]] = []
    place = {label: code for code, label in enumerate(procedure.labels)}
    by_label = {
        query: {who: place[label] for who, label in own.items()} for query, own in votes.labels.items()
    }
    if any(by_label.values()):
        found.append((LABEL, procedure.labels, by_label))
    for number, question in enumerate(procedure.questions):
        given = {
            query: {
                who: int(bool(o.answers[number])) for who, o in own.items() if o.answers[number] is not None
            }
            for query, own in votes.opinions.items()
        }
        if any(given.values()):
            found.append((question, ("no", "yes"), given))
    for domain in procedure.domains:  # of the queries that an expert said yes to
        by_domain = {
            query: {who: int(domain in o.domains) for who, o in own.items() if all(o.answers)}
            for query, own in votes.opinions.items()
        }
        if any(any(own.values()) for own in by_domain.values()):
            found.append((f"domain {domain}", ("no", "yes"), by_domain))
    return found


def _codes(given: Mapping[str, Mapping[str, int]], raters: Sequence[str]) -> Int64s:
    """(N, R). Of more than two raters only the number matters, so those who voted come first.

    There are then three columns at least: in two of them Cohen's kappa would see two people.
    """
    width = max((sum(who in own for who in raters) for own in given.values()), default=0)
    if len(raters) <= 2 or width == len(raters):
        rows = [[own.get(who, -1) for who in raters] for own in given.values()]
        return np.array(rows, dtype=np.int64).reshape(len(given), len(raters))
    width = max(width, 3)
    rows = []
    for own in given.values():
        votes = [own[who] for who in raters if who in own]
        rows.append([*votes, *[-1] * (width - len(votes))])
    return np.array(rows, dtype=np.int64).reshape(len(given), width)
