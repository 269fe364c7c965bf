"""The files of a corpus: JSON lines, one for every stage, each record with what it was made by and from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.errors import DataError, Problem
from evenrank.files import read_utf8
from evenrank.io.atomic import atomic_write

Record = dict[str, Any]

MADE = ("model", "prompt", "seed", "time", "made_from")
"""In every record: who wrote it, the prompt's hash, the seed, when, and the hash of what it was made from."""


class Field(NamedTuple):
    """A field of a record that must be there."""

    kind: type | tuple[type, ...]
    empty: bool = False  # whether an empty text or list is accepted


_TEXT = Field(str)
SHAPES: dict[str, dict[str, Field]] = {
    "topics": {
        "topic": _TEXT, "title": _TEXT, "page": Field((int, str, type(None)), True), "domains": Field(list),
    },
    "questions": {"query": _TEXT, "topic": _TEXT, "text": _TEXT, "sampled": Field(bool)},
    "perspectives": {"query": _TEXT, "perspective": _TEXT, "text": _TEXT},
    "documents": {"document": _TEXT, "query": _TEXT, "perspective": _TEXT, "text": _TEXT},
    "filtered": {"document": _TEXT, "query": _TEXT, "perspective": _TEXT, "text": _TEXT},
    "distractors": {
        "document": _TEXT, "query": _TEXT, "perspective": _TEXT, "like": _TEXT, "about": _TEXT, "text": _TEXT,
    },
    "natural": {
        "document": _TEXT, "query": _TEXT, "rank": Field(int), "url": Field(str, True),
        "title": Field(str, True), "snippet": Field(str, True), "date": Field(str, True), "text": _TEXT,
    },
}  # fmt: skip
KEYS = {
    "topics": ("topic",), "questions": ("query",), "perspectives": ("query", "perspective"),
    "documents": ("document",), "filtered": ("document",), "distractors": ("document",),
    "natural": ("document",),
}  # fmt: skip
SIDES = ("p1", "p2")


def digest(records: Iterable[Mapping[str, Any]]) -> str:
    """The hash of what records say; when they were made does not count.

    >>> digest([{"text": "a", "time": "today"}]) == digest([{"time": "tomorrow", "text": "a"}])
    True
    """
    found = hashlib.sha256()
    for record in records:
        kept = {name: value for name, value in record.items() if name != "time"}
        found.update(json.dumps(kept, sort_keys=True, ensure_ascii=False).encode() + b"\n")
    return found.hexdigest()[:16]


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    with atomic_write(path) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def read_records(path: Path, stage: str) -> list[Record]:
    """The records of a stage, checked. Everything that is wrong is said with its line."""
    records, problems = list[Record](), list[Problem]()
    shape, key = SHAPES[stage], KEYS[stage]
    first: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            problems.append(Problem(number, "is not JSON"))
            continue
        wrong = _wrong_with(record, shape)
        if wrong is not None:
            problems.append(Problem(number, wrong))
            continue
        named = tuple(record[name] for name in key)
        if named in first:
            problems.append(
                Problem(number, f"{key[0]} {' '.join(named)!r} is there already, in line {first[named]}")
            )
            continue
        first[named] = number
        records.append(record)
    if problems:
        raise DataError.listing(str(path), problems)
    return records


def read_lines(path: Path) -> Sequence[str]:
    return read_utf8(path).split("\n")


def _wrong_with(record: object, shape: Mapping[str, Field]) -> str | None:
    if not isinstance(record, dict):
        return "is not an object: a record is written {...}"
    for name, field in shape.items():
        if name not in record:
            return f"has no field {name!r}"
        value = record[name]
        if not isinstance(value, field.kind) or (isinstance(value, bool) and field.kind is not bool):
            return f"{name} has a value of the wrong kind: {type(value).__name__}"
        if (
            not field.empty
            and isinstance(value, (str, list))
            and not (value.strip() if isinstance(value, str) else value)
        ):
            return f"{name} is empty"
    if "perspective" in shape and record["perspective"] not in SIDES:
        return f"perspective must be p1 or p2, got {record['perspective']!r}"
    return None
