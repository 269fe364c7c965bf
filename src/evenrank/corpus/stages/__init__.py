"""The stages of a corpus, each from the files of those before it to a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.corpus.asking import Asker, Progress, WriterReply
from evenrank.corpus.folder import Corpus, stage_file
from evenrank.corpus.records import Record, write_records
from evenrank.corpus.settings import Settings


class Rejection(NamedTuple):
    """Something that was not kept, with the reason and what was written."""

    about: str
    reason: str
    attempts: int = 1
    text: str = ""


@dataclass(frozen=True)
class StageInputs:
    """What a stage works with."""

    corpus: Corpus
    settings: Settings
    progress: Progress | None = None

    @property
    def folder(self) -> Path:
        return self.corpus.folder


@dataclass(frozen=True)
class Made:
    """What a stage gave."""

    records: tuple[Record, ...]
    rejected: tuple[Rejection, ...] = ()
    undone: int = 0  # pieces of work that a limit left
    notes: tuple[str, ...] = field(default=())


def save(folder: Path, stage: str, made: Made) -> None:
    """Write the file of a stage, and beside it what was rejected."""
    name = "filtered" if stage == "filters" else stage
    write_records(stage_file(folder, name), made.records)
    beside = folder / "rejected" / f"{stage}.jsonl"
    if made.rejected or beside.exists():
        beside.parent.mkdir(exist_ok=True)
        write_records(beside, [each._asdict() for each in made.rejected])


def provenance(model: str, prompt: str, reply: WriterReply, made_from: str) -> dict[str, Any]:
    """The fields of a record that say how it was made."""
    return {
        "model": model, "prompt": prompt, "seed": reply.seed, "time": reply.time,
        "made_from": made_from,
    }  # fmt: skip


def gathered(found: Sequence[tuple[list[Record], list[Rejection]] | None]) -> Made:
    """One result of all pieces of work."""
    records = [record for each in found if each is not None for record in each[0]]
    rejected = [one for each in found if each is not None for one in each[1]]
    return Made(tuple(records), tuple(rejected), sum(each is None for each in found))


__all__ = ["Asker", "Made", "Rejection", "StageInputs", "gathered", "provenance", "save"]
