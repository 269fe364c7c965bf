"""A corpus as a folder of stage files, read and checked against each other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evenrank.corpus.records import Record, read_records
from evenrank.errors import DataError, Problem

PARENTS = {
    "questions": ("topic", "topics"), "perspectives": ("query", "questions"),
    "documents": ("query", "questions"), "filtered": ("query", "questions"),
    "distractors": ("query", "questions"), "natural": ("query", "questions"),
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Corpus:
    """The records of every stage that has been made."""

    folder: Path
    topics: tuple[Record, ...] = ()
    questions: tuple[Record, ...] = ()
    perspectives: tuple[Record, ...] = ()
    written: tuple[Record, ...] = ()  # documents as they came
    filtered: tuple[Record, ...] | None = None  # None before the filters
    distractors: tuple[Record, ...] = ()
    natural: tuple[Record, ...] = ()
    _domains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def documents(self) -> tuple[Record, ...]:
        """Those that the filters have kept; all of them before there were filters."""
        return self.written if self.filtered is None else self.filtered

    @property
    def queries(self) -> dict[str, str]:
        """The questions that documents are written for."""
        return {record["query"]: record["text"] for record in self.questions if record["sampled"]}

    def domains(self, query: str) -> tuple[str, ...]:
        """The domains of a question's topic."""
        return self._domains[query]

    def __repr__(self) -> str:
        return (
            f"<Corpus: {len(self.topics)} topics, {len(self.questions)} questions, "
            f"{len(self.documents)} documents, {len(self.distractors)} distractors>"
        )


def read_corpus(folder: str | os.PathLike[str]) -> Corpus:
    """The stage files of a folder; a stage that has not been made is empty."""
    there = Path(folder)
    if not there.is_dir():
        raise DataError(f"{folder}: no such folder")
    read: dict[str, list[Record]] = {}
    for stage in ("topics", "questions", "perspectives", "documents", "filtered", "distractors", "natural"):
        path = stage_file(there, stage)
        if path.exists():
            read[stage] = read_records(path, stage)
    for stage, (key, above) in PARENTS.items():
        if stage in read:
            _check_parents(there, stage, key, above, read)
    of_topic = {record["topic"]: tuple(record["domains"]) for record in read.get("topics", ())}
    return Corpus(
        there,
        topics=tuple(read.get("topics", ())),
        questions=tuple(read.get("questions", ())),
        perspectives=tuple(read.get("perspectives", ())),
        written=tuple(read.get("documents", ())),
        filtered=tuple(read["filtered"]) if "filtered" in read else None,
        distractors=tuple(read.get("distractors", ())),
        natural=tuple(read.get("natural", ())),
        _domains={record["query"]: of_topic[record["topic"]] for record in read.get("questions", ())},
    )


def stage_file(folder: Path, stage: str) -> Path:
    return folder / f"{stage}.jsonl"


def _check_parents(folder: Path, stage: str, key: str, above: str, read: Mapping[str, list[Record]]) -> None:
    known = {record[key] for record in read.get(above, ())}
    problems = [
        Problem(line, f"{key} {record[key]!r} is not in {above}.jsonl")
        for line, record in enumerate(read[stage], 1)
        if record[key] not in known
    ]
    if problems:
        raise DataError.listing(str(stage_file(folder, stage)), problems)
