"""What a search engine is here: it says what it is, and gives ranked hits for a text."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

from evenrank.errors import RemoteError, shortened
from evenrank.io.cells import ID_LIMIT
from evenrank.remote.secrets import Secrets

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

Raw = Any  # JSON: what an engine answered to one query, as it is kept in the log


class AnswerProblem(NamedTuple):
    """Something about the answer to a query that the reader of its numbers should know."""

    kind: str  # one of KINDS
    what: str


KINDS = {
    "failed": "the engine gave no answer that can be used; the query has no list",
    "not asked": "asking ended before the query's turn; the query has no list",
    "found nothing": "the engine found no document; the query has no list",
    "short page": "the engine gave fewer documents than it says it has",
    "duplicate id": "a document was there twice; its first place counts",
    "hit without id": "a hit has no id and was left out",
    "no score": "a hit has no score; the scores of the query are made from the ranks",
    "order": "the engine's order is not that of its scores; the scores are made from the ranks",
    "partial answer": "the engine says that a part of the index did not answer",
    "index changed": "the index changed while queries were asked",
}


class Hit(NamedTuple):
    """A document in an answer."""

    id: str
    score: float | None = None
    text: str | None = None
    fields: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Answer:
    """Hits, best first, and what is wrong with them."""

    hits: tuple[Hit, ...]
    problems: tuple[AnswerProblem, ...] = ()


@dataclass(frozen=True)
class EngineDescription:
    """What was asked: no secret is in it."""

    engine: str  # opensearch, sqlite, ..
    address: str
    index: str
    settings: str  # the hash of all that decides about the answers
    version: str | None = None
    documents: int | None = None
    state: str | None = None  # becomes another one when the index changes, where the engine tells

    def to_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class Wanted:
    """What to take of a document besides its id: fields (None: all that are short), and its text or not."""

    fields: tuple[str, ...] | None = None
    texts: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"fields": None if self.fields is None else list(self.fields), "texts": self.texts}


@runtime_checkable
class Engine(Protocol):
    """A search engine. Whatever has these two methods is one."""

    @property
    def name(self) -> str: ...

    def describe(self) -> EngineDescription:
        """Version, index, hash of the settings, and the number of documents if the engine tells."""

    def search(self, text: str, depth: int) -> Answer:
        """The best ``depth`` documents for a text."""


@dataclass
class DeclaredEngine(ABC):
    """What the engines of this package have in common: an answer is fetched, kept as it is, and read.

    ``fetch`` takes several queries at once, where the engine can. What it returns is JSON without document
    texts, unless they are wanted. ``read`` is a function of that JSON alone, so that a log can be read
    again.
    """

    name: str
    batch: int = field(default=1, init=False)  # queries in one request
    concurrency: int = field(default=1, init=False)  # requests at a time
    threads: bool = field(default=False, init=False)  # whether ``fetch`` may be called from other threads
    secrets: Secrets = field(default_factory=Secrets, init=False)
    lasting: bool = field(default=True, init=False)  # whether its settings tell it from every other engine
    fields: tuple[str, ...] | None = field(default=None, init=False)  # to keep, if the settings name some

    @abstractmethod
    def describe(self) -> EngineDescription: ...

    @abstractmethod
    def fetch(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        """The answers in the order of the texts, or why there is none. A RemoteError that is raised is for
        all."""

    @abstractmethod
    def read(self, raw: Raw, depth: int, wanted: Wanted) -> Answer: ...

    @abstractmethod
    def requests(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[str]:
        """What ``fetch`` would send, as text without secrets."""

    @property
    @abstractmethod
    def settings_hash(self) -> str:
        """Of all that decides about the answers; nothing is sent to find it."""

    def search(self, text: str, depth: int) -> Answer:
        wanted = Wanted(texts=True)
        (raw,) = self.fetch([text], depth, wanted)
        if isinstance(raw, RemoteError):
            raise raw
        return self.read(raw, depth, wanted)

    def close(self) -> None:  # noqa: B027
        """Let go of connections."""


def hash_settings(settings: Mapping[str, Any]) -> str:
    content = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def checked_hits(hits: Sequence[Hit | None], depth: int, found: int | None = None) -> Answer:
    """Hits in the engine's order with what is wrong about them. None is a hit without an id; ``found`` is
    how many the engine says there are.

    >>> checked_hits([Hit("a", 2.0), Hit("a", 1.0), None], 10).problems[0].what
    "document 'a' is at ranks 1 and 2"
    """
    kept: list[Hit] = [hit for hit in hits if hit is not None]
    places: dict[str, int] = {}
    problems: list[AnswerProblem] = []
    ids = "".join([hit.id for hit in kept])
    if not ids.isprintable() or len(ids) > ID_LIMIT // 4:
        for one in kept:
            _check_id(one.id)
    sound = len({hit.id for hit in kept}) == len(hits)  # as most answers are
    kept = kept if sound else []
    for rank, hit in enumerate(() if sound else hits, 1):
        if hit is None:
            problems.append(AnswerProblem("hit without id", f"the hit at rank {rank} has no id"))
        elif hit.id in places:
            problems.append(
                AnswerProblem("duplicate id", f"document {hit.id!r} is at ranks {places[hit.id]} and {rank}")
            )
        else:
            places[hit.id] = rank
            kept.append(hit)
    if found is not None and len(hits) < min(depth, found):
        problems.append(
            AnswerProblem(
                "short page",
                f"{len(hits):,} documents came, though {found:,} were found and {depth:,} asked for",
            )
        )
    if len(hits) > depth:
        kept = kept[:depth]
    if not hits:
        problems.append(AnswerProblem("found nothing", "no document was found"))
    return Answer(tuple(kept), tuple(problems))


def _check_id(key: str) -> None:
    """Refuse an id that no file of documents can hold: it would stop whatever is done with the answers."""
    try:
        if len(key.encode()) <= ID_LIMIT and not _CONTROL.search(key):
            return
    except UnicodeEncodeError:
        pass
    raise RemoteError(
        f"the id {shortened(ascii(key), 80)} of a hit is longer than {ID_LIMIT:,} bytes, or has a control "
        "character or half of a surrogate pair"
    )
