"""Asking an engine a list of queries: politely, each once, and with every answer on disk as it comes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenrank._version import __version__
from evenrank.engines.answers import Answers
from evenrank.engines.base import (
    Answer,
    AnswerProblem,
    DeclaredEngine,
    EngineDescription,
    Raw,
    Wanted,
    hash_settings,
)
from evenrank.engines.opening import open_engine
from evenrank.engines.sending import Batch, Fetched, RequestsAhead
from evenrank.engines.web import REFUSED
from evenrank.errors import DataError, InputTypeError, ParameterError, RemoteError, counted
from evenrank.io.queries import Queries, read_queries
from evenrank.io.tables import as_table
from evenrank.io.texts import by_id
from evenrank.remote.answer_log import AnswerLog
from evenrank.remote.json_text import WrittenObject

GIVE_UP = 10  # queries in a row that fail before the rest is left for another time
CHECKED_EVERY = 100  # requests after which the index is looked at, whether it is still the same

TOO_DEEP = "the answer is nested too deeply"
NAMED = 3  # queries that a plan names
LAST_ANSWERS = 3.0  # seconds that answers to sent requests have to come in, when asking ends before its end

Progress = Callable[[int, int], None]


class AskingInterrupted(KeyboardInterrupt):
    """Ctrl-C while an engine was asked. What was answered before is kept."""


def ask(
    engine: Any,
    queries: Any,
    *,
    depth: int = 100,
    log: str | os.PathLike[str] | None = None,
    keep_texts: bool = False,
    fields: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Answers:
    """Ask an engine for the best ``depth`` documents of every query.

    ``engine`` is whatever ``open_engine`` takes. ``queries`` is a file, a mapping ``{id: text}`` or pairs.
    ``log`` is a folder that keeps every answer as it comes: the same call asks only queries that have no
    answer there. ``fields`` are the fields of documents to keep, by default those that the
    engine's settings name, or all with short values. Document
    texts are kept, on disk and in the result, only with ``keep_texts``.

    A query that fails is named in ``problems`` and has no list; the others are not affected. If ten fail in
    a row, the rest is not asked.

    >>> answers = ask(lambda text, depth: ["d1", "d2"], {"q1": "lamp"}, depth=2)
    >>> answers.run.documents("q1")
    ['d1', 'd2']
    """
    asked = query_texts(queries)
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise ParameterError(f"depth must be an integer >= 1, got {depth!r}")
    opened = open_engine(engine)
    wanted = _wanted(opened, fields, keep_texts)
    if log is not None and not opened.lasting:
        raise ParameterError(
            f"{opened.name}: answers of a Python object are kept under its name, and it has none: give one, "
            "open_engine(function, name=..), and another one when the function changes; or leave log out"
        )
    try:
        return _Asking(opened, asked, depth, wanted, progress).all(None if log is None else Path(log))
    finally:
        if opened is not engine:
            opened.close()


@dataclass(frozen=True)
class Plan:
    """What ``ask`` would send. Nothing was sent to find it."""

    engine: str
    address: str
    queries: int
    answered: int  # that are in the log already
    requests: tuple[str, ...] = field(repr=False)
    seconds: float = 0.0  # at the rate that is set; the engine may be slower
    texts: tuple[str, ...] = field(default=(), repr=False)  # of the queries

    def describe(self, shown: int = 1) -> str:
        """For people: the first requests as they would be sent, and the first queries."""
        head = (
            f"{self.engine} at {self.address}: {counted(len(self.requests), 'request', 'requests')} for "
            f"{counted(self.queries - self.answered, 'query', 'queries')}"
        )
        if self.answered:
            head += f" ({counted(self.answered, 'query is', 'queries are')} answered in the log)"
        if self.seconds >= 1:
            head += f", at least {self.seconds:,.0f} seconds"
        lines = [head, *self.requests[:shown]]
        if len(self.requests) > shown:
            named = "; ".join(self.texts[:NAMED])
            more = len(self.texts) - NAMED
            lines.append(f"queries: {named}" + (f"; and {more:,} more" if more > 0 else ""))
        return "\n".join(lines)


def plan(
    engine: Any,
    queries: Any,
    depth: int = 100,
    *,
    log: str | os.PathLike[str] | None = None,
    keep_texts: bool = False,
    fields: Sequence[str] | None = None,
) -> Plan:
    """What ``ask`` with the same arguments would send, without sending it.

    >>> plan(lambda text, depth: [], {"q1": "lamp"}).requests
    ("lambda('lamp', 100)",)
    """
    asked = query_texts(queries)
    opened = open_engine(engine)
    wanted = _wanted(opened, fields, keep_texts)
    state = _Asking(opened, asked, depth, wanted, None)
    if log is not None and (path := state.path(Path(log))).exists():
        state.load(AnswerLog(path, opened.secrets))
    left = state.left()
    state.close()
    requests = [text for batch in _batches(left, opened.batch) for text in
                opened.requests([words for _, words in batch], depth, wanted)]  # fmt: skip
    rate = getattr(opened, "rate", float("inf"))
    return Plan(
        engine=opened.name,
        address=getattr(opened, "address", opened.name),
        queries=len(asked),
        answered=len(asked) - len(left),
        requests=tuple(opened.secrets.redact(text) for text in requests),
        seconds=len(requests) / rate,
        texts=tuple(opened.secrets.redact(text) for _, text in left),
    )


def query_texts(queries: Any) -> dict[str, str]:
    """``{id: text}`` from a file, from ``Queries``, a mapping or pairs; every query needs a text."""
    if isinstance(queries, (str, os.PathLike)) or as_table(queries) is not None:
        queries = read_queries(queries)
    if isinstance(queries, Queries):
        silent = [query for query in queries.distinct if query not in queries.texts]
        if len(silent) == len(queries.distinct) and queries.text_column is None:
            return {query: query for query in queries.distinct}  # each is one word
        if silent:
            raise queries.without_text(" to ask an engine with")
        return {query: queries.texts[query] for query in queries.distinct}
    if isinstance(queries, Mapping):
        found = dict(queries)
    elif isinstance(queries, Iterable):
        found = by_id(((query, text) for query, text in queries), "queries")
    else:
        raise InputTypeError(
            f"queries are a file, a mapping {{id: text}} or pairs, got {type(queries).__name__}"
        )
    for query, text in found.items():
        if not isinstance(query, str) or not isinstance(text, str):
            raise InputTypeError(f"queries: ids and texts are strings, got {query!r}: {text!r:.60}")
    if not found:
        raise DataError("there are no queries")
    return found


class _Asking:
    """One call of ``ask``: what is known already, and what is still to be asked."""

    def __init__(
        self,
        engine: DeclaredEngine,
        queries: Mapping[str, str],
        depth: int,
        wanted: Wanted,
        progress: Progress | None,
    ) -> None:
        self._engine, self._queries, self._depth, self._wanted = engine, queries, depth, wanted
        self._progress = progress
        self._log: AnswerLog | None = None
        self._answers: dict[str, Answer] = {}
        self._states: dict[str, str | None] = {}  # of the index, when the query was asked
        self._failures: dict[str, AnswerProblem] = {}
        self._dates: list[str] = []
        self._description: EngineDescription | None = None

    def path(self, folder: Path) -> Path:
        """One file for each set of settings that answers depend on."""
        key = hash_settings(
            {"settings": self._engine.settings_hash, "depth": self._depth, "wanted": self._wanted.to_dict()}
        )
        return folder / f"answers-{key[:12]}.jsonl.zst"

    def load(self, log: AnswerLog) -> None:
        """Take the answers that are there. A query whose text is another one now is asked again."""
        self._log = log
        for record in log.records():
            if record.get("kind") == "engine":
                known = {name: record.get(name) for name in EngineDescription.__dataclass_fields__}
                self._description = EngineDescription(**known)  # type: ignore[arg-type]
            elif record.get("kind") == "answer" and self._queries.get(record["query"]) == record["text"]:
                try:
                    answer = self._engine.read(record["raw"], self._depth, self._wanted)
                except RemoteError:
                    continue  # an earlier version kept what cannot be used: the query is asked again
                self._take(record["query"], answer, record["date"], record["state"])

    def left(self) -> Batch:
        return [(query, text) for query, text in self._queries.items() if query not in self._answers]

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def all(self, folder: Path | None) -> Answers:
        try:
            if folder is not None:
                self.load(AnswerLog(self.path(folder), self._engine.secrets))
            left = self.left()
            if left:
                self._look()
                self._ask(left)
                self._look()
        finally:
            self.close()
        if self._description is None:  # a log without a beginning cannot be: answers follow their engine
            raise DataError(f"{self._engine.name}: the log does not say which engine answered: move it away")
        return self._result(self._description)

    def _ask(self, left: Batch) -> None:
        batches = _batches(left, self._engine.batch)
        try:
            if not self._engine.threads:
                self._ask_all((batch, self._fetch(batch)) for batch in batches)
                return
            sent = RequestsAhead(self._fetch, batches, self._engine.concurrency)
            try:
                self._ask_all(sent)
            finally:
                sent.close()
                for batch, fetched in sent.rest(LAST_ANSWERS):
                    self._keep_all(batch, fetched)
        except KeyboardInterrupt:
            raise AskingInterrupted(self._kept_so_far()) from None

    def _ask_all(self, fetched: Iterable[tuple[Batch, Fetched]]) -> None:
        failed = 0
        for requests, (batch, found) in enumerate(fetched, 1):
            failed = self._keep_all(batch, found, failed)
            if self._progress is not None:
                self._progress(len(self._answers) + len(self._failures), len(self._queries))
            if failed >= GIVE_UP:
                break
            if requests % CHECKED_EVERY == 0:
                self._look()

    def _keep_all(self, batch: Batch, fetched: Fetched, failed: int = 0) -> int:
        """Write the answers of a request down; how many queries in a row have failed now."""
        for (query, text), raw in zip(batch, fetched, strict=True):
            if isinstance(raw, RemoteError) and raw.status in REFUSED:
                raise raw
            failed = failed + 1 if not self._keep(query, text, raw) else 0
        return failed

    def _kept_so_far(self) -> str:
        kept = f"{len(self._answers):,} of {counted(len(self._queries), 'query', 'queries')}"
        if self._log is None:
            return f"interrupted; {self._engine.name} had answered {kept}"
        return f"interrupted; {kept} kept in {self._log.path.parent}: the same command goes on from there"

    def _fetch(self, batch: Batch) -> Fetched:
        try:
            return self._engine.fetch([text for _, text in batch], self._depth, self._wanted)
        except (RemoteError, RecursionError) as error:
            if isinstance(error, RecursionError):
                error = RemoteError(TOO_DEEP)
            if error.status in REFUSED:  # so would be every other query
                raise
            if len(batch) == 1:
                return [error]
        # one query may have spoilt the answer to all: each by itself
        return [answer for one in batch for answer in self._fetch([one])]

    def _keep(self, query: str, text: str, raw: Raw | RemoteError) -> bool:
        """Write an answer down, and take it. What cannot be read is a failure too."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        state = None if self._description is None else self._description.state
        record = {"kind": "answer", "query": query, "text": text, "date": date, "state": state}
        try:
            if isinstance(raw, RemoteError):
                raise raw
            # a server may repeat what it was sent, and ids and fields are written to further files
            written = raw.text if isinstance(raw, WrittenObject) else None
            raw = self._engine.secrets.redact_json(raw, written)
            answer = self._engine.read(raw, self._depth, self._wanted)
            self._write({**record, "raw": raw})
        except (RemoteError, UnicodeEncodeError, RecursionError) as error:
            what = TOO_DEEP if isinstance(error, RecursionError) else self._engine.secrets.redact(str(error))
            self._failures[query] = AnswerProblem("failed", what)
            self._write({"kind": "failure", "query": query, "text": text, "date": date, "what": what})
            return False
        self._take(query, answer, date, state)
        return True

    def _take(self, query: str, answer: Answer, date: str, state: str | None) -> None:
        self._answers[query] = answer
        self._states[query] = state
        self._dates.append(date)

    def _look(self) -> None:
        """Ask the engine what it is, and write it down where that is new."""
        found = self._engine.describe()
        if found != self._description:
            self._description = found
            date = datetime.now(UTC).isoformat(timespec="seconds")
            self._write({"kind": "engine", "date": date, "evenrank": __version__, **found.to_dict()})

    def _write(self, record: dict[str, Any]) -> None:
        if self._log is not None:
            self._log.add(record)

    def _result(self, description: EngineDescription) -> Answers:
        extra: dict[str, tuple[AnswerProblem, ...]] = {}
        for query in self._queries:
            if query in self._failures:
                extra[query] = (self._failures[query],)
            elif query not in self._answers:
                what = f"the {GIVE_UP} queries before it failed"
                extra[query] = (AnswerProblem("not asked", what),)
            elif self._states[query] != description.state:
                what = "the query was asked before or while the index changed"
                extra[query] = (AnswerProblem("index changed", what),)
        return Answers(
            self._engine.name,
            dict(self._queries),
            self._answers,
            description,
            self._origin(description, extra),
            extra,
        )

    def _origin(self, description: EngineDescription, extra: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "evenrank": __version__,
            "engine": description.to_dict(),
            "depth": self._depth,
            **self._wanted.to_dict(),
            "queries": len(self._queries),
            "answered": len(self._answers),
            "first answer": min(self._dates, default=None),
            "last answer": max(self._dates, default=None),
        }


def _wanted(engine: DeclaredEngine, fields: Sequence[str] | None, texts: bool) -> Wanted:
    if isinstance(fields, str):
        raise InputTypeError(f"fields are a list of names, got the text {fields!r}")
    return Wanted(engine.fields if fields is None else tuple(fields), texts)


def _batches(left: Batch, size: int) -> Iterator[Batch]:
    for begin in range(0, len(left), size):
        yield left[begin : begin + size]
