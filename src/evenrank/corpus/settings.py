"""What a corpus is made with: ``corpus.toml`` in its folder."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from evenrank.errors import DataError
from evenrank.files import read_bytes
from evenrank.io.toml import parse_toml

DOMAINS = (
    "Entertainment", "Environment", "History", "Languages", "Law and order", "Media and culture", "People",
    "Philosophy", "Politics and economics", "Psychiatry", "Religion", "Science, biology, and health",
    "Sex, sexuality, and gender identity", "Sports", "Technology",
)  # fmt: skip
"""The domains of pair-duo-2024."""

FILE = "corpus.toml"
INCOMPLETE = ("keep", "drop")

T = TypeVar("T")


@dataclass(frozen=True)
class WriterSettings:
    """Who writes: a server by its address, or without one a model in a folder of this machine."""

    url: str = ""
    model: str = ""
    key: str = ""  # the environment variable that holds the key
    answers_as: str = ""  # the name that the server gives itself, where that is another one
    temperature: float = 0.7
    max_tokens: int = 1200
    seed: int = 0
    rate: float = 5.0  # requests a second
    timeout: float = 120.0  # seconds until an answer is whole
    retries: int = 4
    concurrency: int = 1
    input_price: float = 0.0  # for a million tokens
    output_price: float = 0.0


@dataclass(frozen=True)
class QuestionSettings:
    """How many questions a topic gets, and how many of all are used."""

    per_topic: int = 10
    sample: int = 0  # 0: all of them


@dataclass(frozen=True)
class DocumentSettings:
    """How many documents a side gets, and how often an answer that cannot be used is asked for again."""

    per_side: int = 4
    attempts: int = 3
    incomplete: str = "keep"  # what becomes of questions that lack documents after the filters


@dataclass(frozen=True)
class FilterSettings:
    """What a document must fulfil."""

    least_words: int = 40
    most_words: int = 2000
    near: float = 0.5  # share of five-word pieces in common, from which on two are near-duplicates
    language: str = "en"  # or "any"


@dataclass(frozen=True)
class DistractorSettings:
    """Distractors for so many documents of a side, and how unlike the other question must be."""

    per_side: int = 1
    distinct: float = 0.8  # the largest similarity of the two questions
    encoder: str = "words"  # or a sentence-transformers model


@dataclass(frozen=True)
class SafetySettings:
    """The score from which on somebody must read a document, and how many of the worst are listed."""

    threshold: float = 0.09
    review: int = 20
    model: str = "omni-moderation-latest"


@dataclass(frozen=True)
class Settings:
    """All of it, with the prompts that the folder has in place of ours."""

    writer: WriterSettings = field(default_factory=WriterSettings)
    questions: QuestionSettings = field(default_factory=QuestionSettings)
    documents: DocumentSettings = field(default_factory=DocumentSettings)
    filters: FilterSettings = field(default_factory=FilterSettings)
    distractors: DistractorSettings = field(default_factory=DistractorSettings)
    safety: SafetySettings = field(default_factory=SafetySettings)
    domains: tuple[str, ...] = DOMAINS
    name: str = "corpus"
    license: str = ""


TABLES: dict[str, type] = {
    "writer": WriterSettings, "questions": QuestionSettings, "documents": DocumentSettings,
    "filters": FilterSettings, "distractors": DistractorSettings, "safety": SafetySettings,
}  # fmt: skip
LEAST = {
    "max_tokens": 1, "seed": 0, "retries": 0, "concurrency": 1, "input_price": 0.0, "output_price": 0.0,
    "temperature": 0.0, "per_topic": 1, "sample": 0, "per_side": 1, "attempts": 1, "least_words": 1,
    "most_words": 1, "near": 0.0, "distinct": -1.0, "threshold": 0.0, "review": 0, "rate": 1e-9,
    "timeout": 1e-9,
}  # fmt: skip
MOST = {"near": 1.0, "distinct": 1.0, "threshold": 1.0}


def read_settings(folder: Path) -> Settings:
    """The settings of a folder; the defaults where it has no ``corpus.toml``."""
    path = folder / FILE
    if not path.exists():
        return Settings()
    given = parse_toml(read_bytes(path), str(path))
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in TABLES:
            if not isinstance(value, dict):
                raise DataError(f"{path}: [{name}] must be a table")
            found[name] = _table(TABLES[name], value, path, name)
        elif name == "domains":
            if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
                raise DataError(f"{path}: domains must be a list of names")
            found[name] = tuple(value)
        elif name in ("name", "license"):
            if not isinstance(value, str):
                raise DataError(f"{path}: {name} must be a text")
            found[name] = value
        else:
            raise DataError(_unknown(path, name, [*TABLES, "domains", "name", "license"]))
    return Settings(**found)


def _table(kind: type[T], given: Mapping[str, Any], path: Path, table: str) -> T:
    known = {each.name: each.default for each in fields(kind)}  # type: ignore[arg-type]
    for name, value in given.items():
        where = f"{path}: [{table}] {name}"
        if name not in known:
            raise DataError(_unknown(path, name, list(known), table))
        expected: Any = type(known[name])
        if expected is float and isinstance(value, int) and not isinstance(value, bool):
            expected = int
        if not isinstance(value, expected) or isinstance(value, bool):
            words = {str: "a text", int: "a whole number", float: "a number"}[expected]
            raise DataError(f"{where} must be {words}, got {value!r}")
        if name in LEAST and not LEAST[name] <= value <= MOST.get(name, float("inf")):
            raise DataError(f"{where} must be at least {LEAST[name]:g}{_at_most(name)}, got {value!r}")
        if name == "incomplete" and value not in INCOMPLETE:
            raise DataError(f"{where} must be one of {', '.join(INCOMPLETE)}, got {value!r}")
    return kind(**given)


def _at_most(name: str) -> str:
    return f" and at most {MOST[name]:g}" if name in MOST else ""


def _unknown(path: Path, name: str, known: list[str], table: str = "") -> str:
    close = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
    return f"{path}: {f'[{table}] ' if table else ''}has no setting {name!r}; {hint}"
