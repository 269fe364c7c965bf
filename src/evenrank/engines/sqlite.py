"""SQLite with FTS5: a database file, which is opened to be read and in no other way."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from evenrank.engines.base import Answer, DeclaredEngine, EngineDescription, Raw, Wanted, hash_settings
from evenrank.engines.declared import declare_engine
from evenrank.engines.rows import FURTHER_ROWS, id_column, kept_rows, read_rows, too_large
from evenrank.engines.settings import EngineSettings
from evenrank.errors import DataError, RemoteError
from evenrank.text import without_userinfo

_WORD = re.compile(r"\w+")
_STEPS = 100_000  # of SQLite's machine between two looks at the clock
_LEAST_LENGTH = 1 << 24  # bytes of a value that SQLite may always make: its index has values of its own
_FULL_TEXT = "select name from sqlite_master where type = 'table' and sql like '%using fts5%' order by name"


class SqliteEngine(DeclaredEngine):
    """A SELECT over a database file with the parameters ``:query``, ``:words`` and ``:depth``, all of them
    bound.

    ``:words`` is the query as FTS5 wants it: its words, each in quotes, any of which may occur. Without
    ``sql`` the table is searched by BM25.
    """

    def __init__(self, settings: EngineSettings) -> None:
        path = Path(settings.address.path)
        super().__init__(str(settings.get("name") or path.stem))
        self._settings, self._path = settings, path
        self._lock = threading.Lock()
        self._connection = _opened(path, settings.limits.answer_bytes)
        table = settings.get("table")
        self._sql = settings.get("sql")
        if self._sql is None:
            self._table = table or _only_table(self._connection, path)
            name = _quoted(self._table)
            self._sql = (
                f"select *, -bm25({name}) as score from {name} where {name} match :words "
                f"order by bm25({name}), rowid limit :depth"
            )
        else:
            self._table = table
        self._texts = settings.texts_of("text")

    @property
    def settings_hash(self) -> str:
        path = str(self._path.resolve())
        return hash_settings(
            {"engine": "sqlite", "file": path, "sql": self._sql, "id": self._settings.get("id")}
        )

    def describe(self) -> EngineDescription:
        documents = None
        if self._table is not None:
            ((documents,),) = self._rows(f"select count(*) from {_quoted(self._table)}", {}, 1)[1]
        return EngineDescription(
            engine="sqlite",
            address=f"sqlite:///{self._path}",
            index=str(self._table or self._path.name),
            settings=self.settings_hash,
            version=sqlite3.sqlite_version,
            documents=documents,
            state=_state(self._path),
        )

    def fetch(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        answers: list[Raw | RemoteError] = []
        for text in texts:
            words = any_word(text)
            if not words and ":words" in self._sql:
                answers.append({"columns": [], "rows": []})
                continue
            try:
                bound = {"query": text, "words": words, "depth": depth}
                names, rows = self._rows(self._sql, bound, depth + FURTHER_ROWS)
                documents = [dict(zip(names, map(_json, row), strict=True)) for row in rows]
                answers.append(kept_rows(documents, id_column(names, self._settings), self._texts, wanted))
            except RemoteError as error:
                answers.append(error)
        return answers

    def read(self, raw: Raw, depth: int, wanted: Wanted) -> Answer:
        return read_rows(raw, depth, self._texts, wanted)

    def requests(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[str]:
        return [
            f"{self._sql}\n  query: {text!r}, words: {any_word(text)!r}, depth: {depth}" for text in texts
        ]

    def close(self) -> None:
        self._connection.close()

    def _rows(
        self, sql: str, parameters: Mapping[str, Any], most: int
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns, and the first rows, at most so many."""
        with self._lock:
            end = time.monotonic() + self._settings.limits.timeout
            self._connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            most_bytes, size, rows = self._settings.limits.answer_bytes, 0, []
            try:
                cursor = self._connection.execute(sql, dict(parameters))
                for row in islice(cursor, most):
                    size += sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row)
                    if size > most_bytes:
                        raise too_large(most_bytes)
                    rows.append(row)
                return [column[0] for column in cursor.description or ()], rows
            except sqlite3.Error as error:
                raise RemoteError(f"{self._path}: {error}") from None


def any_word(text: str) -> str:
    """A text as an FTS5 expression: any of its words.

    >>> any_word('men\\'s "red" shoes')
    '"men" OR "s" OR "red" OR "shoes"'
    """
    return " OR ".join(f'"{word}"' for word in _WORD.findall(text))


def _opened(path: Path, most_bytes: int) -> sqlite3.Connection:
    if not path.is_file():
        raise DataError(f"{without_userinfo(str(path))}: no such file")
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(most_bytes, _LEAST_LENGTH), 2**31 - 1))
    connection.execute("pragma query_only = on")  # not even a table in memory
    # SQL that somebody else wrote reads this file and no other
    connection.set_authorizer(_allowed)
    try:
        connection.execute("select count(*) from sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        connection.close()
        raise DataError(f"{path}: is not an SQLite database ({error})") from None
    return connection


def _allowed(action: int, first: str | None, *_: object) -> int:
    refused = action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) or (
        action == sqlite3.SQLITE_PRAGMA and first != "data_version"  # FTS5 itself asks for that one
    )
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def _json(value: Any) -> Any:
    return None if isinstance(value, bytes) else value


def _only_table(connection: sqlite3.Connection, path: Path) -> str:
    tables = [str(name) for (name,) in connection.execute(_FULL_TEXT)]
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise DataError(
            f"{path}: has no full-text table (FTS5): give the SELECT as sql in an engine file, or make "
            "a table with CREATE VIRTUAL TABLE .. USING fts5"
        )
    raise DataError(
        f"{path}: has several full-text tables: say which, {path.name}?table=NAME: {', '.join(tables)}"
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _state(path: Path) -> str:
    files = (path, path.with_name(path.name + "-wal"))
    found = [file.stat() for file in files if file.exists()]
    return " ".join(f"{status.st_size}:{status.st_mtime_ns}" for status in found)


@declare_engine("sqlite", "SQLite FTS5: a database file")
def _make(settings: EngineSettings) -> SqliteEngine:
    return SqliteEngine(settings)
