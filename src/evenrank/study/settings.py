"""``study.toml``: what a study asks of whom, checked as a whole so that every problem is listed at once."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from evenrank.errors import DataError
from evenrank.io.toml import parse_toml

FILE = "study.toml"
MOST_RESULTS = 10
SIDES = ("for", "against")
ORDERS = ("MaxDUO", "MinDUO")
STORE = "study.sqlite"
# settings that do not change what participants see, so they may be edited while a study runs
OPERATION = ("store", "address", "public_address", "closed", "retention", "plan")


@dataclass(frozen=True)
class Condition:
    """One way to order the results of a question."""

    name: str
    corpus: str
    order: str | None = None  # MaxDUO or MinDUO
    first: str | None = None  # which side is first
    run: str | None = None  # or the order of this run
    share: int = 1  # how many places it has in a block

    @property
    def direction(self) -> float:
        """The side that the condition is meant to favour: 1, -1, or 0 for neither."""
        if self.order != "MaxDUO":
            return 0.0
        return 1.0 if self.first == SIDES[0] else -1.0


@dataclass(frozen=True)
class CorpusFiles:
    name: str
    documents: str
    polarity: Mapping[str, str]  # encoder -> a field of the documents, or a file


@dataclass(frozen=True)
class AttentionCheck:
    """A question whose right answer says itself; who misses it is left out of the analysis."""

    question: str
    answers: tuple[str, ...]
    correct: str
    after: int = 1  # so many of the questions


@dataclass(frozen=True)
class Panel:
    """Where participants come from, and what tells the panel that they have finished."""

    parameter: str
    required: bool = True
    code: str | None = None
    redirect: str | None = None


@dataclass(frozen=True)
class Planned:
    """The effect that is expected, for power and for simulated participants."""

    participants: int = 100
    questions: int = 10
    slope: float = 0.3
    slope_spread: float = 0.22  # standard deviation of the slope over questions
    prior_slope: float = 0.7
    participant_spread: float = 0.5
    question_spread: float = 0.5
    noise: float = 1.0


@dataclass(frozen=True)
class StudySettings:
    folder: Path
    title: str
    contact: str
    retention: date | None
    version: int = 1
    language: str = "en"
    closed: bool = False
    minimum_age: int = 18
    questions_each: int = 1
    results: int = MOST_RESULTS
    minimum_words: int = 15
    quote_words: int = 4
    questions: str = "questions.csv"
    texts: str = "texts.toml"
    consent: str = "consent.txt"
    store: str = STORE
    address: str = "127.0.0.1:8000"
    public_address: str = "http://127.0.0.1:8000"
    corpora: tuple[CorpusFiles, ...] = ()
    conditions: tuple[Condition, ...] = ()
    attention: AttentionCheck | None = None
    panel: Panel | None = None
    plan: Planned = field(default_factory=Planned)
    shown: Mapping[str, Any] = field(default_factory=dict, repr=False)  # what participants depend on

    @property
    def secure(self) -> bool:
        return self.public_address.startswith("https://")

    def path(self, name: str) -> Path:
        return self.folder / name

    @property
    def store_address(self) -> str:
        """A path is seen from the study's folder; ``$NAME`` is read from the environment."""
        address = self.store
        if address.startswith("$"):
            found = os.environ.get(address[1:])
            if not found:
                raise DataError(
                    f"{self.path(FILE)}: store = {address!r}: the environment has no {address[1:]}"
                )
            address = found
        return address if "://" in address else str(self.folder / address)


class _Reader:
    """Takes keys of a table one by one and remembers what is wrong with them."""

    def __init__(self, table: Mapping[str, Any], where: str, problems: list[str]) -> None:
        self._table, self._where, self.problems = dict(table), where, problems
        self._known: list[str] = []

    def take(self, name: str, kind: type, default: Any, check: Callable[[Any], bool], form: str) -> Any:
        self._known.append(name)
        if name not in self._table:
            return default
        value = self._table.pop(name)
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not fits or not check(value):
            self.problems.append(f"{self._where}{name} must be {form}, got {value!r}")
            return default
        return value

    def text(self, name: str, default: str | None = None, form: str = "a text that is not empty") -> Any:
        return self.take(name, str, default, lambda value: bool(value.strip()), form)

    def number(self, name: str, default: int, low: int, high: int) -> Any:
        form = f"a whole number from {low} to {high}"
        return self.take(name, int, default, lambda value: low <= value <= high, form)

    def real(self, name: str, default: float, low: float) -> float:
        self._known.append(name)
        value = self._table.pop(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value < 1e9:
            self.problems.append(f"{self._where}{name} must be a number from {low:g}, got {value!r}")
            return default
        return float(value)

    def flag(self, name: str, default: bool) -> Any:
        return self.take(name, bool, default, lambda value: True, "true or false")

    def choice(self, name: str, choices: tuple[str, ...]) -> Any:
        form = " or ".join(map(repr, choices))
        return self.take(name, str, None, lambda value: value in choices, form)

    def done(self) -> None:
        for name in self._table:
            near = difflib.get_close_matches(name, self._known, 1)
            cure = f"did you mean {near[0]}?" if near else f"it may have {', '.join(self._known)}"
            self.problems.append(f"{self._where}{name} is not a setting; {cure}")


def read_settings(folder: str | Path) -> StudySettings:
    """The settings of a study's folder; one error lists everything that is wrong with them."""
    home = Path(folder)
    file = home / FILE
    if not file.is_file():
        raise DataError(f"{file}: no such file: evenrank study new {folder} writes an example")
    table = parse_toml(file.read_bytes(), str(file))
    problems: list[str] = []
    settings = _settings(home, table, problems)
    if problems:
        raise DataError("\n".join(f"{file}: {problem}" for problem in problems[:20]))
    return settings


def _settings(folder: Path, table: Mapping[str, Any], problems: list[str]) -> StudySettings:
    top = _Reader(table, "", problems)
    corpora = tuple(_corpora(top.take("corpora", dict, {}, lambda value: True, "tables"), problems))
    conditions = tuple(
        _conditions(top.take("conditions", list, [], lambda value: True, "a list of tables"), problems)
    )
    attention = top.take("attention", dict, None, lambda value: True, "a table")
    panel = top.take("panel", dict, None, lambda value: True, "a table")
    plan = top.take("plan", dict, {}, lambda value: True, "a table")
    https = "an address that begins with http:// or https://"
    settings = StudySettings(
        folder,
        title=top.text("title") or "",
        contact=top.text("contact") or "",
        retention=top.take("retention", date, None, lambda value: True, "a date, as 2030-12-31"),
        version=top.number("version", 1, 1, 1_000_000),
        language=top.text("language", "en"),
        closed=top.flag("closed", False),
        minimum_age=top.number("minimum_age", 18, 0, 120),
        questions_each=top.number("questions_each", 1, 1, 100),
        results=top.number("results", MOST_RESULTS, 2, MOST_RESULTS),
        minimum_words=top.number("minimum_words", 15, 0, 1000),
        quote_words=top.number("quote_words", 4, 0, 100),
        questions=top.text("questions", "questions.csv"),
        texts=top.text("texts", "texts.toml"),
        consent=top.text("consent", "consent.txt"),
        store=top.text("store", STORE),
        address=top.text("address", "127.0.0.1:8000"),
        public_address=top.take(
            "public_address", str, "http://127.0.0.1:8000",
            lambda value: value.startswith(("http://", "https://")), https,
        ),
        corpora=corpora,
        conditions=conditions,
        attention=None if attention is None else _attention(attention, problems),
        panel=None if panel is None else _panel(panel, problems),
        plan=_plan(plan, problems),
        shown={name: value for name, value in table.items() if name not in OPERATION},
    )  # fmt: skip
    top.done()
    problems += _lacking(settings)
    return settings


def _corpora(tables: Mapping[str, Any], problems: list[str]) -> list[CorpusFiles]:
    found = []
    for name, table in tables.items():
        where = f"corpora.{name}: "
        if not isinstance(table, dict):
            problems.append(f"{where}must be a table")
            continue
        reader = _Reader(table, where, problems)
        documents = reader.text("documents")
        polarity = reader.take(
            "polarity", dict, {},
            lambda value: all(isinstance(source, str) and source for source in value.values()),
            'a table of encoders, as {labels = "side"}',
        )  # fmt: skip
        reader.done()
        if documents is None:
            problems.append(f'{where}names no documents: documents = "corpora/{name}.jsonl"')
        if not polarity:
            problems.append(
                f"{where}has no polarity, so its lists cannot be ordered: polarity = {{labels = 'side'}} "
                "names a field of the documents, polarity = {minilm = 'minilm.parquet'} a file"
            )
        found.append(CorpusFiles(name, documents or "", dict(polarity)))
    return found


def _conditions(tables: list[Any], problems: list[str]) -> list[Condition]:
    found = []
    for place, table in enumerate(tables, 1):
        where = f"conditions {place}: "
        if not isinstance(table, dict):
            problems.append(f"{where}must be a table")
            continue
        reader = _Reader(table, where, problems)
        condition = Condition(
            name=reader.text("name") or f"condition {place}",
            corpus=reader.text("corpus") or "",
            order=reader.choice("order", ORDERS),
            first=reader.choice("first", SIDES),
            run=reader.text("run"),
            share=reader.number("share", 1, 1, 100),
        )
        reader.done()
        if (condition.order is None) == (condition.run is None):
            problems.append(f'{where}needs either order = "MaxDUO" or "MinDUO", or run = "a file of a run"')
        if condition.order is not None and condition.first is None:
            problems.append(f'{where}needs the side that comes first: first = "for" or "against"')
        found.append(condition)
    return found


def _attention(table: Mapping[str, Any], problems: list[str]) -> AttentionCheck:
    reader = _Reader(table, "attention: ", problems)
    answers = reader.take(
        "answers", list, [],
        lambda value: len(value) > 1 and all(isinstance(answer, str) for answer in value),
        "a list of at least two texts",
    )  # fmt: skip
    found = AttentionCheck(
        reader.text("question") or "", tuple(answers), reader.text("correct") or "",
        reader.number("after", 1, 1, 100),
    )  # fmt: skip
    reader.done()
    if not found.question or found.correct not in found.answers:
        problems.append("attention: needs question, answers, and correct, which is one of the answers")
    return found


def _panel(table: Mapping[str, Any], problems: list[str]) -> Panel:
    reader = _Reader(table, "panel: ", problems)
    found = Panel(
        reader.text("parameter") or "",
        reader.flag("required", True),
        reader.text("code"),
        reader.take(
            "redirect", str, None, lambda value: value.startswith("https://"),
            "an address that begins with https://",
        ),
    )  # fmt: skip
    reader.done()
    if not found.parameter:
        problems.append('panel: needs the name of the id in the address: parameter = "PROLIFIC_PID"')
    return found


def _plan(table: Mapping[str, Any], problems: list[str]) -> Planned:
    reader = _Reader(table, "plan: ", problems)
    usual = Planned()
    found = Planned(
        participants=reader.number("participants", usual.participants, 2, 1_000_000),
        questions=reader.number("questions", usual.questions, 2, 10_000),
        slope=reader.real("slope", usual.slope, -1e9),
        slope_spread=reader.real("slope_spread", usual.slope_spread, 0),
        prior_slope=reader.real("prior_slope", usual.prior_slope, -1e9),
        participant_spread=reader.real("participant_spread", usual.participant_spread, 0),
        question_spread=reader.real("question_spread", usual.question_spread, 0),
        noise=reader.real("noise", usual.noise, 0),
    )
    reader.done()
    return found


def _lacking(settings: StudySettings) -> list[str]:
    """What is needed, and what does not fit together."""
    problems = []
    if not settings.title:
        problems.append('title is missing: title = "What do search results tell you?"')
    if not settings.contact:
        problems.append('contact is missing: contact = "Jane Doe, jane@example.org" is shown to participants')
    if settings.retention is None:
        problems.append("retention is missing: retention = 2030-12-31 is the day when answers are deleted")
    corpora = [corpus.name for corpus in settings.corpora]
    if not corpora:
        problems.append("there is no corpus: write a table [corpora.NAME] with documents and polarity")
    if len(settings.conditions) < 2:
        problems.append("there must be at least two conditions: write tables [[conditions]]")
    names = [condition.name for condition in settings.conditions]
    problems += [
        f"two conditions are called {name!r}" for name in sorted({n for n in names if names.count(n) > 1})
    ]
    problems += [
        f"condition {condition.name!r}: no corpus is {condition.corpus!r}; they are {', '.join(corpora)}"
        for condition in settings.conditions
        if condition.corpus not in corpora and corpora
    ]
    encoders = {tuple(corpus.polarity) for corpus in settings.corpora}
    if len(encoders) > 1:
        problems.append("all corpora must have the same encoders under polarity, in the same order")
    return problems
