"""The session of Spark that work is done in: one that is there, or one of our own."""

from __future__ import annotations

import os
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evenrank.errors import EvenrankError, MissingExtraError
from evenrank.scale.spark import ATTEMPTS, SparkExecutor

_MARK = "spark.evenrank.session"
# Java's better compiler costs more here than it saves: what Spark does in a scan takes seconds at most
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


class _OwnContexts:
    """The contexts that were started here, each with how many use it: the last one stops it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: dict[str, int] = {}

    @contextmanager
    def used(self, workers: int) -> Iterator[Any]:
        with self._lock:
            fresh = uuid.uuid4().hex
            context = _context(workers, fresh)
            mark = context.getConf().get(_MARK, "")  # who is given a context that is there does not change it
            own = mark == fresh or mark in self._users
            if own:
                self._users[mark] = self._users.get(mark, 0) + 1
        try:
            yield context
        finally:
            if own:
                self._leave(context, mark)

    def _leave(self, context: Any, mark: str) -> None:
        with self._lock:
            self._users[mark] -= 1
            if not self._users[mark]:
                del self._users[mark]
                context.stop()


_own_contexts = _OwnContexts()


def _context(workers: int, mark: str) -> Any:
    """The context of this process; where there is none, a new one with this mark."""
    from pyspark import SparkConf, SparkContext

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        _MARK: mark,
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": _JAVA,
    }
    wanted = SparkConf().setMaster(f"local[{workers},{ATTEMPTS}]").setAppName("evenrank")
    wanted.setAll(list(settings.items()))
    try:
        return SparkContext.getOrCreate(wanted)
    except Exception as error:  # of Java, which is not there or does not start
        first = str(error).strip().partition("\n")[0][:300]
        raise EvenrankError(f"Spark does not start: {first}: is Java 17 or later there?") from error


@contextmanager
def local_session(workers: int) -> Iterator[SparkExecutor]:
    """The active session, or that of another thread; else one on this machine, which ends with the block."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError.for_job("--on spark", "pyspark", "spark") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        yield SparkExecutor(active)
        return
    with _own_contexts.used(workers) as context:
        yield SparkExecutor(context)
