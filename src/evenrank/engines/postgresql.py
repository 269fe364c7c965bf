"""PostgreSQL: a SELECT with bound parameters, in a connection that cannot write."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from evenrank.engines.base import Answer, DeclaredEngine, EngineDescription, Raw, Wanted, hash_settings
from evenrank.engines.declared import declare_engine
from evenrank.engines.rows import id_column, kept_rows, read_rows
from evenrank.engines.settings import EngineSettings
from evenrank.errors import MissingExtraError, RemoteError
from evenrank.remote.addresses import LOOPBACK
from evenrank.remote.pace import Clock, RateLimit, back_off

PORT = 5432


class PostgresqlEngine(DeclaredEngine):
    """A SELECT with the parameters ``%(query)s`` and ``%(depth)s``: over full text, or over vectors of
    pgvector.

    Without ``sql``, ``table`` is searched by full text in the fields of ``text``, and ranked by
    ``ts_rank_cd``.
    """

    def __init__(self, settings: EngineSettings) -> None:
        super().__init__(str(settings.get("name") or settings.get("table") or settings.index or "postgresql"))
        self._settings, self.secrets = settings, settings.secrets
        address = settings.address
        self.address = f"postgresql://{address.host or 'localhost'}:{address.port or PORT}/{settings.index}"
        self.rate = settings.limits.rate
        self._clock = settings.clock or Clock()
        self._pace = RateLimit(self.rate, self._clock)
        self._texts = settings.texts_of("text")
        self._table = settings.get("table")
        self._sql = str(settings.get("sql") or self._made())
        if "%(query)s" not in self._sql:
            raise settings.error(
                "sql has no place for the query: write %(query)s where it goes (it is bound)"
            )
        self._connection: Any = None
        self._lock = threading.Lock()

    @property
    def settings_hash(self) -> str:
        own = {"sql": self._sql, "id": self._settings.get("id"), "text": list(self._texts)}
        return hash_settings({"engine": "postgresql", "address": self.address, **own})

    def describe(self) -> EngineDescription:
        _, ((version,),) = self._rows("show server_version", None)
        count = None
        if self._table is not None:
            _, ((count,),) = self._rows(f"select count(*) from {_quoted(self._table)}", None)
        return EngineDescription(
            engine="postgresql",
            address=self.address,
            index=str(self._table or self._settings.index),
            settings=self.settings_hash,
            version=str(version),
            documents=count,
            state=None if count is None else str(count),
        )

    def fetch(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        answers: list[Raw | RemoteError] = []
        for text in texts:
            try:
                # a text with a zero byte cannot be one of PostgreSQL's
                names, rows = self._rows(self._sql, {"query": text.replace("\0", " "), "depth": depth})
            except RemoteError as error:
                answers.append(error)
            else:
                column = id_column(names, self._settings)
                answers.append(kept_rows(names, rows, column, self._texts, wanted))
        return answers

    def read(self, raw: Raw, depth: int, wanted: Wanted) -> Answer:
        return read_rows(raw, depth, self._texts, wanted)

    def requests(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[str]:
        return [f"{self._sql}\n  query: {text!r}, depth: {depth}" for text in texts]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _made(self) -> str:
        if self._table is None or not self._texts:
            raise self._settings.error(
                "what to ask is missing: give sql in an engine file, or a table and its text, "
                "postgresql://host/database?table=products&text=title,description"
            )
        # coalesce: a missing title must not hide the description
        text = " || ' ' || ".join(f"coalesce({_quoted(name)}, '')" for name in self._texts)
        return (
            f"select documents.*, ts_rank_cd(to_tsvector({text}), words) as score from "
            f"{_quoted(self._table)} as documents, (select replace(plainto_tsquery(%(query)s)::text, "
            f"'&', '|')::tsquery as words) as asked where to_tsvector({text}) @@ words order by score "
            f"desc, {_quoted(self._settings.get('id') or 'id')} limit %(depth)s"
        )

    def _rows(
        self, sql: str, parameters: Mapping[str, Any] | None
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and rows; a connection that broke is opened again."""
        with self._lock:
            trouble = ""
            for attempt in range(self._settings.limits.retries + 1):
                self._pace.wait()
                try:
                    cursor = self._opened().execute(sql, parameters)
                    return [column.name for column in cursor.description or ()], cursor.fetchall()
                except _psycopg().OperationalError as error:
                    trouble = " ".join(str(error).split())
                    broken = self._connection is None or self._connection.closed
                    if not broken or "password" in trouble or "does not exist" in trouble:
                        break
                    with suppress(Exception):
                        self.close()
                    self._connection = None
                    if attempt < self._settings.limits.retries:
                        self._clock.sleep(back_off(attempt, self._clock))
                except _psycopg().Error as error:
                    trouble = " ".join(str(error).split())
                    break
            raise RemoteError(self.secrets.redact(f"{self.address}: {trouble}"))

    def _opened(self) -> Any:
        if self._connection is None:
            settings = self._settings
            seconds = settings.limits.timeout
            host = settings.address.host or "localhost"
            self._connection = _psycopg().connect(
                host=host,
                port=settings.address.port or PORT,
                dbname=settings.index,
                user=self.secrets.get("user"),
                password=self.secrets.get("password") or "",  # never that of PGPASSWORD or a passfile
                connect_timeout=max(1, round(seconds)),
                # whoever wrote the SQL: it reads, and it ends
                options=f"-c default_transaction_read_only=on -c statement_timeout={round(seconds * 1000)}",
                autocommit=True,
                passfile="/dev/null",
                **self._tls(host),
                application_name="evenrank",
            )
        return self._connection

    def _tls(self, host: str) -> dict[str, str]:
        """A server on another machine must show a certificate that can be verified."""
        given = self._settings.get("tls", host not in LOOPBACK)
        if given in (False, "false", "off"):
            return {"sslmode": "prefer" if host in LOOPBACK else "disable"}
        certificates = self._settings.get("certificates")
        root = "system" if certificates is None else str(self._settings.folder / certificates)
        return {"sslmode": "verify-full", "sslrootcert": root}


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError.for_job("asking PostgreSQL", "psycopg", "engines") from None
    return psycopg


def _quoted(name: str) -> str:
    """An identifier, perhaps behind that of its schema."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in str(name).split("."))


@declare_engine("postgresql", "PostgreSQL: full text, or vectors of pgvector")
def _make(settings: EngineSettings) -> PostgresqlEngine:
    return PostgresqlEngine(settings)
