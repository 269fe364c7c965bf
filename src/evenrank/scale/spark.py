"""Tasks on Spark: one partition of an RDD each, so that Spark places them and repeats those that are lost."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from evenrank.errors import EvenrankError, MissingExtraError, ParameterError
from evenrank.io.resumable import KEPT

Task = TypeVar("Task")
Result = TypeVar("Result")

ATTEMPTS = 4  # of a task; in a session on one machine Spark itself makes only one
LOOK = 0.05  # seconds between two looks at what has arrived


class SparkExecutor:
    """A session of Spark, which its owner stops."""

    def __init__(self, session: Any) -> None:
        try:
            self._context = session.sparkContext
        except Exception as error:  # Spark Connect has none, and says so in errors of its own
            raise ParameterError(
                "this session of Spark has no context (Spark Connect): use a session on the cluster itself"
            ) from error
        self.name = "Spark"
        self.link: str | None = self._context.uiWebUrl

    def run(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        missing = dict(enumerate(tasks))
        for attempt in range(ATTEMPTS):
            try:
                for place, result in self._once(work, missing):
                    if missing.pop(place, None) is not None:  # Spark may do one twice
                        yield place, result
            except _JobLost as error:
                if attempt + 1 == ATTEMPTS:
                    raise EvenrankError(
                        "Spark gave up: workers were lost again and again, perhaps for lack of memory "
                        f"({_first_line(error)}); {KEPT}"
                    ) from error.__cause__
            if not missing:
                return
        raise EvenrankError(f"Spark ended {ATTEMPTS} jobs without the results of all tasks; {KEPT}")

    def _once(self, work: Callable[[Task], Result], tasks: dict[int, Task]) -> Iterator[tuple[int, Result]]:
        """One job for all tasks; their results come by way of an accumulator, each when it is there."""
        arrived = self._context.accumulator([], Arrivals())

        def one(item: tuple[int, Task]) -> int:
            arrived.add([(item[0], work(item[1]))])
            return item[0]

        group = f"evenrank-{id(tasks):x}"
        failed: list[BaseException] = []

        def collect() -> None:
            try:
                self._context.setJobGroup(group, "evenrank", interruptOnCancel=True)
                self._context.parallelize(list(tasks.items()), len(tasks)).map(one).collect()
            except Exception as error:
                failed.append(error)

        job = threading.Thread(target=collect, daemon=True)
        job.start()
        taken = 0
        try:
            alive = True
            while alive:
                job.join(LOOK)
                alive = job.is_alive()
                while taken < len(arrived.value):
                    yield arrived.value[taken]
                    taken += 1
        finally:
            if job.is_alive():
                self._context.cancelJobGroup(group)
                job.join()
        if failed:
            raise _JobLost(str(failed[0])) from failed[0]


class Arrivals:
    """What workers add to a list here, as Spark wants it told."""

    def zero(self, value: list[Any]) -> list[Any]:
        return []

    def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:
        value1.extend(value2)
        return value1


class _JobLost(Exception):
    """A job that Spark gave up."""


@contextmanager
def local_session(workers: int) -> Iterator[SparkExecutor]:
    """The active session; or one on this machine, which ends with the block."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError.for_job("--on spark", "pyspark", "spark") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        yield SparkExecutor(active)
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        session = (
            SparkSession.builder.master(f"local[{workers},{ATTEMPTS}]")
            .appName("evenrank")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .getOrCreate()
        )
    except Exception as error:  # of Java, which is not there or does not start
        raise EvenrankError(
            f"Spark does not start: {_first_line(error)}: is Java 17 or later there?"
        ) from error
    try:
        yield SparkExecutor(session)
    finally:
        session.stop()


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300]
