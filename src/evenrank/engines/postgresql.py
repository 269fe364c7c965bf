"""PostgreSQL: a SELECT with bound parameters, each in a read-only transaction of its own.

That keeps a statement from changing tables. It does not bind the role: a function that writes a file of the
server or calls another server runs if the role may run it. So the role decides what may be written.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from evenrank.engines.base import Answer, DeclaredEngine, EngineDescription, Raw, Wanted, hash_settings
from evenrank.engines.declared import declare_engine
from evenrank.engines.rows import FURTHER_ROWS, id_column, kept_rows, read_rows, too_large
from evenrank.engines.settings import EngineSettings
from evenrank.errors import MissingExtraError, RemoteError
from evenrank.remote.addresses import LOOPBACK
from evenrank.remote.pace import Clock, RateLimit, back_off

PORT = 5432
ROLE = "-- in a read-only transaction; what else the SQL may do is decided by the rights of the role"
# the server counts, so that an answer beyond the limits is never sent; such a CTE keeps the order of its rows
_LIMITED = """
with found as materialized (
{sql}
), written as materialized (select row_to_json(found)::text as hit from found)
select case when sum(octet_length(hit)) over (rows unbounded preceding) <= {bytes} then hit end
from written limit {rows}
"""


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
        (about,) = self._rows("select current_setting('server_version') as version", None, 1)
        count = None
        if self._table is not None:
            (counted,) = self._rows(f"select count(*) as count from {_quoted(self._table)}", None, 1)
            count = counted["count"]
        return EngineDescription(
            engine="postgresql",
            address=self.address,
            index=str(self._table or self._settings.index),
            settings=self.settings_hash,
            version=str(about["version"]),
            documents=count,
            state=None if count is None else str(count),
        )

    def fetch(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[Raw | RemoteError]:
        answers: list[Raw | RemoteError] = []
        for text in texts:
            try:
                # a text with a zero byte cannot be one of PostgreSQL's
                bound = {"query": text.replace("\0", " "), "depth": depth}
                rows = self._rows(self._sql, bound, depth + FURTHER_ROWS)
            except RemoteError as error:
                answers.append(error)
            else:
                column = id_column(list(rows[0]), self._settings) if rows else ""
                answers.append(kept_rows(rows, column, self._texts, wanted))
        return answers

    def read(self, raw: Raw, depth: int, wanted: Wanted) -> Answer:
        return read_rows(raw, depth, self._texts, wanted)

    def requests(self, texts: Sequence[str], depth: int, wanted: Wanted) -> list[str]:
        return [f"{ROLE}\n{self._sql}\n  query: {text!r}, depth: {depth}" for text in texts]

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

    def _rows(self, sql: str, parameters: Mapping[str, Any] | None, most: int) -> list[dict[str, Any]]:
        """The first rows, at most so many; a connection that broke is opened again."""
        with self._lock:
            trouble = ""
            for attempt in range(self._settings.limits.retries + 1):
                self._pace.wait()
                try:
                    return self._read_only(sql, parameters, most)
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

    def _read_only(self, sql: str, parameters: Mapping[str, Any] | None, most: int) -> list[dict[str, Any]]:
        """The rows of one SELECT: a cursor takes nothing else, and the transaction is rolled back."""
        connection, limit = self._opened(), self._settings.limits.answer_bytes
        limited = _LIMITED.format(sql=sql.strip().rstrip(";"), bytes=limit, rows=most)
        try:
            with connection.cursor(name="answer") as cursor:
                rows = [hit for (hit,) in cursor.execute(limited, parameters).fetchall()]
        finally:
            if not connection.closed:
                connection.rollback()
        if None in rows:
            raise too_large(limit)
        # a server may repeat the password, and names of columns and its version are shown and kept too
        found: list[dict[str, Any]] = self.secrets.redact_json(
            [json.loads(hit, parse_int=_integer) for hit in rows]
        )
        return found

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
                options=f"-c statement_timeout={round(seconds * 1000)}",
                passfile="/dev/null",
                **self._tls(host),
                application_name="evenrank",
            )
            self._connection.read_only = True  # every transaction begins so
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


def _integer(text: str) -> int | float:
    """A number without a fraction; Python refuses to read those of thousands of digits as integers."""
    return int(text) if len(text) < 20 else float(text)


def _quoted(name: str) -> str:
    """An identifier, perhaps behind that of its schema."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in str(name).split("."))


@declare_engine("postgresql", "PostgreSQL: full text, or vectors of pgvector")
def _make(settings: EngineSettings) -> PostgresqlEngine:
    return PostgresqlEngine(settings)
