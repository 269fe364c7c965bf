"""Sheets for annotators as CSV: written empty, read back with everything that does not fit listed.

A sheet of stage 1 has the columns annotator, query, text, label; one of stage 2 has annotator, query, text, a
column for each question (yes or no), domains (separated by semicolons) and reason.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from evenrank.errors import DataError
from evenrank.io.atomic import atomic_write
from evenrank.io.source import as_source
from evenrank.queryset.procedure import NO, YES, Procedure
from evenrank.tables import delimited, of_cell

STAGE1 = ("annotator", "query", "text", "label")
LIST = ";"
MODEL = "model:"
"""How the name of an annotator begins that is a model and no person."""


class Inconsistency(NamedTuple):
    """Something in a sheet that does not fit, where it is, and what became of the vote."""

    source: str
    line: int
    query: str
    what: str


class Opinion(NamedTuple):
    """What an expert says of one query: yes, no or nothing to each question."""

    answers: tuple[bool | None, ...]
    domains: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Votes:
    """All votes that can be used, by query and annotator, and all that cannot, with the reason."""

    texts: Mapping[str, str]
    labels: Mapping[str, Mapping[str, str]]  # query -> worker -> label
    opinions: Mapping[str, Mapping[str, Opinion]]  # query -> expert -> opinion
    problems: tuple[Inconsistency, ...] = ()
    machines: frozenset[str] = field(default_factory=frozenset)  # annotators that are no people

    @property
    def workers(self) -> tuple[str, ...]:
        return tuple(sorted({name for own in self.labels.values() for name in own}))

    @property
    def experts(self) -> tuple[str, ...]:
        return tuple(sorted({name for own in self.opinions.values() for name in own}))


def columns_of(stage: int, procedure: Procedure) -> tuple[str, ...]:
    if stage == 1:
        return STAGE1
    return ("annotator", "query", "text", *procedure.questions, "domains", "reason")


def stage_of(head: Sequence[str], procedure: Procedure) -> int | None:
    """The stage whose sheets have these columns."""
    return next((stage for stage in (1, 2) if set(columns_of(stage, procedure)) <= set(head)), None)


def is_machine(annotator: str) -> bool:
    """
    >>> is_machine("model:llama"), is_machine("worker1")
    (True, False)
    """
    return annotator.startswith(MODEL)


def sheet(stage: int, procedure: Procedure, annotator: str, texts: Mapping[str, str]) -> str:
    """An empty sheet for one annotator."""
    rows = [{"annotator": annotator, "query": query, "text": text} for query, text in texts.items()]
    return delimited(rows, ",", columns_of(stage, procedure))


def write_sheets(
    folder: str | os.PathLike[str], stage: int, procedure: Procedure, texts: Mapping[str, str]
) -> list[Path]:
    """A sheet for each annotator of a stage; a file that is there is never written over."""
    kind, count = ("worker", procedure.workers) if stage == 1 else ("expert", procedure.experts)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    paths = [place / f"stage{stage}-{kind}{number}.csv" for number in range(1, count + 1)]
    there = [path for path in paths if path.exists()]
    if there:
        raise DataError(f"{there[0]}: is there already and may hold votes: choose another folder")
    for number, path in enumerate(paths, 1):
        with atomic_write(path) as file:
            file.write(sheet(stage, procedure, f"{kind}{number}", texts).encode())
    return paths


def read_sheets(
    paths: Iterable[str | os.PathLike[str]], procedure: Procedure, machines: Iterable[str] = ()
) -> Votes:
    """The votes of all sheets, of both stages. What does not fit is listed, and never guessed at.

    A vote that contradicts another of the same annotator does not count, and neither does the other.
    Annotators whose names begin with ``model:`` are machines, as those of ``machines`` are.
    """
    reader = _SheetReader(procedure)
    for path in paths:
        reader.read(path)
    return reader.votes(frozenset(machines))


class _SheetReader:
    def __init__(self, procedure: Procedure) -> None:
        self._procedure = procedure
        self._texts: dict[str, str] = {}
        self._labels: dict[str, dict[str, str]] = {}
        self._opinions: dict[str, dict[str, Opinion]] = {}
        self._contradicted: set[tuple[int, str, str]] = set()
        self._problems: list[Inconsistency] = []
        self._first: dict[tuple[int, str, str], tuple[str, int]] = {}

    def read(self, path: str | os.PathLike[str]) -> None:
        source = as_source(path)
        if source is None:
            raise DataError(f"{path}: is not a sheet")
        source.check()
        try:
            text = b"".join(source.blocks()).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(f"{source.name}: is not UTF-8 ({error.reason})") from error
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            first = [of_cell(cell.strip()) for cell in next(rows, [])]
            head = [cell.lower() for cell in first]
            if len(first) >= 3 and first[-1] in self._procedure.labels:
                self._published(text, source.name, source.stem or source.name)
                return
            stage = self._stage(head, source.name)
            for row in rows:
                if any(cell.strip() for cell in row):
                    if len(row) != len(head):
                        what = f"{len(row)} columns, the head has {len(head)}"
                        raise DataError(f"{source.name}:{rows.line_num}: {what}")
                    cells = {name: of_cell(cell.strip()) for name, cell in zip(head, row, strict=True)}
                    self._row(stage, cells, source.name, rows.line_num)
        except csv.Error as error:
            raise DataError(f"{source.name}:{rows.line_num}: not CSV: {error}") from error

    def _published(self, text: str, source: str, annotator: str) -> None:
        """Labels as they were published: id, text and label without a head; a text may hold commas."""
        for line, row in enumerate(text.splitlines(), 1):
            query, _, rest = row.partition(",")
            words, _, label = rest.rpartition(",")
            if row.strip():
                cells = {"query": query, "text": words, "label": label, "annotator": annotator}
                self._row(1, {name: cell.strip() for name, cell in cells.items()}, source, line)

    def _stage(self, head: Sequence[str], name: str) -> int:
        stage = stage_of(head, self._procedure)
        if stage is not None:
            return stage
        raise DataError(
            f"{name}: is no sheet of this procedure: stage 1 has the columns "
            f"{', '.join(STAGE1)}; stage 2 has {', '.join(columns_of(2, self._procedure))}"
        )

    def _row(self, stage: int, cells: Mapping[str, str], source: str, line: int) -> None:
        query, who, text = cells["query"], cells["annotator"], cells["text"]

        def say(what: str) -> None:
            self._problems.append(Inconsistency(source, line, query, what))

        if not query or not who:
            say("has no query id" if not query else "has no annotator")
            return
        if self._texts.setdefault(query, text) != text:
            say(
                f"has another text than before: {text!r}, not {self._texts[query]!r}; the vote does not count"
            )
            return
        if stage == 1:
            self._label(query, who, cells["label"], (source, line), say)
        else:
            self._opinion(query, who, cells, (source, line), say)

    def _label(
        self, query: str, who: str, label: str, place: tuple[str, int], say: Callable[[str], None]
    ) -> None:
        if not label:
            return
        if label not in self._procedure.labels:
            say(f"unknown label {label!r}: there are {', '.join(self._procedure.labels)}")
            return
        own = self._labels.setdefault(query, {})
        self._once(1, query, who, own.get(who), label, place, say)
        own.setdefault(who, label)

    def _opinion(
        self,
        query: str,
        who: str,
        cells: Mapping[str, str],
        place: tuple[str, int],
        say: Callable[[str], None],
    ) -> None:
        given = [cells[question].lower() for question in self._procedure.questions]
        wrong = [text for text in given if text not in ("", YES, NO)]
        if wrong:
            say(f"an answer is {YES} or {NO}, got {wrong[0]!r}; the vote does not count")
            return
        answers = [None if text == "" else text == YES for text in given]
        asked = True
        for number, answer in enumerate(answers):
            if answer is not None and not asked:
                question = self._procedure.questions[number]
                say(f"{question} is answered without a yes before it; the answer does not count")
                answers[number] = None
            asked = asked and answer is True
        domains = [domain.strip() for domain in cells["domains"].split(LIST) if domain.strip()]
        unknown = [domain for domain in domains if domain not in self._procedure.domains]
        for domain in unknown:
            say(f"unknown domain {domain!r}: there are {', '.join(self._procedure.domains)}")
        if asked and not cells["reason"]:
            say("yes without a reason")
        if asked and not domains:
            say("yes without a domain")
        if all(answer is None for answer in answers):
            return
        opinion = Opinion(
            tuple(answers), tuple(domain for domain in domains if domain not in unknown), cells["reason"]
        )
        own = self._opinions.setdefault(query, {})
        self._once(2, query, who, own.get(who), opinion, place, say)
        own.setdefault(who, opinion)

    def _once(
        self,
        stage: int,
        query: str,
        who: str,
        before: object,
        now: object,
        place: tuple[str, int],
        say: Callable[[str], None],
    ) -> None:
        key = (stage, query, who)
        if before is None:
            self._first[key] = place
            return
        source, line = self._first[key]
        same = before == now
        if not same:
            self._contradicted.add(key)
        outcome = "the same vote, which counts once" if same else "another vote, so neither counts"
        say(f"{who} voted on it before ({source}:{line}): {outcome}")

    def votes(self, machines: frozenset[str]) -> Votes:
        workers = {who for own in self._labels.values() for who in own}
        experts = {who for own in self._opinions.values() for who in own}
        machines |= {who for who in workers | experts if is_machine(who)}
        both = sorted(workers & experts - machines)  # a machine decides nothing, so it may answer both
        for who in both:
            source, line = next(
                at for (stage, _, name), at in self._first.items() if stage == 2 and name == who
            )
            what = f"the expert {who} was a worker; none of the opinions counts"
            self._problems.append(Inconsistency(source, line, "", what))
        labels = {
            query: {who: label for who, label in own.items() if (1, query, who) not in self._contradicted}
            for query, own in self._labels.items()
        }
        for query, own in labels.items():
            self._count_workers(query, [who for who in own if who not in machines])
        opinions = {
            query: {
                who: opinion
                for who, opinion in own.items()
                if (2, query, who) not in self._contradicted and who not in both
            }
            for query, own in self._opinions.items()
        }
        return Votes(self._texts, labels, opinions, tuple(self._problems), machines)

    def _count_workers(self, query: str, voters: Sequence[str]) -> None:
        asked = self._procedure.workers
        if len(voters) > asked:
            source, line = self._first[1, query, voters[asked]]
            what = f"{len(voters):,} workers voted on it, but the procedure asks for {asked:,}"
            self._problems.append(Inconsistency(source, line, query, f"{what}; all of the votes count"))
