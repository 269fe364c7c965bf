"""Where answers are kept: SQLite in a file, or PostgreSQL by its address, behind one small protocol.

A transaction has been written to disk when its block ends; only then may a page say that it was. SQL is the
part that both databases share, with ``?`` for values.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from evenrank.errors import DataError, MissingExtraError, shortened

POSTGRESQL = ("postgresql://", "postgres://")
PATIENCE = 3.0  # seconds that a transaction waits for its turn, and then for another program
CONNECTIONS = 8  # to PostgreSQL

Row = tuple[Any, ...]


class Transaction(Protocol):
    """What can be done between beginning and end."""

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """What a query finds."""

    def run(self, sql: str, *values: Any) -> int:
        """How many rows a statement changed."""

    def lock(self, name: str) -> None:
        """Wait until no other transaction holds the lock of this name, and hold it until the end."""


class Store(Protocol):
    """A database; a block that raises changes nothing."""

    def reading(self) -> AbstractContextManager[Transaction]: ...

    def writing(self) -> AbstractContextManager[Transaction]: ...

    def close(self) -> None: ...


def open_store(address: str) -> Store:
    """``postgresql://..`` is a server; anything else is the path of a file of SQLite."""
    if address.startswith(POSTGRESQL):
        return PostgreSQLStore(address)
    return SQLiteStore(Path(address))


def prepare(store: Store, tables: str) -> None:
    """Make the tables that are not there yet; statements are separated by semicolons."""
    with store.writing() as transaction:
        transaction.lock("tables")
        for statement in filter(str.strip, tables.split(";")):
            transaction.run(statement)


class _SQLiteTransaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: Any) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def run(self, sql: str, *values: Any) -> int:
        return self._connection.execute(sql, values).rowcount

    def lock(self, name: str) -> None:
        """Nothing to do: there is one writer at a time."""


# what can happen to a file, by SQLite's code, and what to do about it
_TROUBLES = {
    sqlite3.SQLITE_BUSY: "another program has locked it: end that program or wait until it is done",
    sqlite3.SQLITE_FULL: "the disk is full: make room",
    sqlite3.SQLITE_IOERR: "the disk does not take what is written: look at its free space, quota and health",
    sqlite3.SQLITE_READONLY: "it may not be written: allow writing the file and its folder to who runs this",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: look at the folder, and at who may write there",
    sqlite3.SQLITE_CORRUPT: "it is damaged: take a backup",
    sqlite3.SQLITE_NOTADB: "it cannot be used as a database: name another file",
}


class SQLiteStore:
    """A file. One thread writes at a time, and readers do not wait for it (write-ahead log); a transaction
    ends when its log is on disk (``synchronous=FULL``). What is deleted is overwritten."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()
        self._readers: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._locked = False  # when somebody last wanted to write, by another program
        if not path.exists():  # answers, and the key of the sessions, are for nobody else on this machine
            with suppress(OSError):
                path.touch(0o600)
        with self._explained():
            self._writer = self._connected()
            self._writer.execute("PRAGMA journal_mode=WAL")

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        for pragma in ("synchronous=FULL", "secure_delete=ON", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            trouble = _TROUBLES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
            if trouble is None:
                raise
            raise DataError(f"{self._path}: {error}: {trouble}") from None

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        with self._explained():
            try:
                connection = self._readers.get_nowait()
            except queue.Empty:
                connection = self._connected()
            try:
                connection.execute("BEGIN")
                with _ended(connection):
                    yield _SQLiteTransaction(connection)
            finally:
                self._readers.put(connection)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        if not self._turn.acquire(timeout=PATIENCE):
            raise DataError(f"{self._path}: too many write at once: try again")
        try:
            with self._explained():
                # only the first waits for another program: those behind it would wait one after the other
                self._writer.execute(f"PRAGMA busy_timeout={0 if self._locked else round(1000 * PATIENCE)}")
                self._locked = True
                self._writer.execute("BEGIN IMMEDIATE")
                self._locked = False
                with _ended(self._writer):
                    yield _SQLiteTransaction(self._writer)
        finally:
            self._turn.release()

    def close(self) -> None:
        with self._turn:
            # what was deleted must not live on in the log
            with suppress(sqlite3.Error):
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()
            while not self._readers.empty():
                self._readers.get().close()


@contextmanager
def _ended(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


class _PostgreSQLTransaction:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: Any) -> list[Row]:
        found: list[Row] = self._connection.execute(sql.replace("?", "%s"), values).fetchall()
        return found

    def run(self, sql: str, *values: Any) -> int:
        changed: int = self._connection.execute(sql.replace("?", "%s"), values).rowcount
        return changed

    def lock(self, name: str) -> None:
        self._connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (name,))


class PostgreSQLStore:
    """A server, by a few connections that are opened when they are first needed and again after a break."""

    def __init__(self, address: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtraError.for_job("a PostgreSQL store", "psycopg", "study") from None
        self._psycopg = psycopg
        self._address = address
        self._idle: queue.LifoQueue[Any] = queue.LifoQueue()
        for _ in range(CONNECTIONS):
            self._idle.put(None)
        with self.reading() as transaction:
            transaction.rows("SELECT 1")

    def _connected(self) -> Any:
        try:
            return self._psycopg.connect(
                self._address, autocommit=True, connect_timeout=round(PATIENCE),
                options=f"-c synchronous_commit=on -c lock_timeout={round(1000 * PATIENCE)}",
            )  # fmt: skip
        except self._psycopg.Error as error:
            said = shortened(str(error).splitlines()[0] if str(error) else type(error).__name__, 200)
            raise DataError(f"the PostgreSQL store cannot be reached: {said}") from None

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        try:
            connection = self._idle.get(timeout=PATIENCE)
        except queue.Empty:
            raise DataError("the PostgreSQL store is too busy: try again") from None
        try:
            if connection is None or connection.closed or connection.broken:
                connection = self._connected()
            try:
                with connection.transaction():
                    yield _PostgreSQLTransaction(connection)
            except self._psycopg.OperationalError as error:
                connection.close()
                raise DataError(
                    "the PostgreSQL store did not answer in time, or the connection broke: try again"
                ) from error
        finally:
            self._idle.put(connection)

    def reading(self) -> AbstractContextManager[Transaction]:
        return self.writing()

    def close(self) -> None:
        while True:
            try:
                connection = self._idle.get_nowait()
            except queue.Empty:
                return
            if connection is not None:
                connection.close()
