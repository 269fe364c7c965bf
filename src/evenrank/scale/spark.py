"""Tasks on Spark: one partition of an RDD each, so that Spark places them and repeats those that are lost."""

from __future__ import annotations

import gc
import threading
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import Any, TypeVar

from evenrank.errors import EvenrankError, ParameterError
from evenrank.io.part_folder import KEPT
from evenrank.scale.spark_failures import TaskFailure, WorkersLost, job_failure

Task = TypeVar("Task")
Result = TypeVar("Result")

ATTEMPTS = 4  # of a task; in a session on one machine Spark itself makes only one
FAILURES = 20  # tasks of one job that fail for reasons that may pass, until that is no accident
LOOK = 0.05  # seconds between two looks at what has arrived


class SparkExecutor:
    """A session of Spark or its context, which its owner stops."""

    def __init__(self, session: Any) -> None:
        try:
            self._context = session if hasattr(session, "parallelize") else session.sparkContext
        except Exception as error:  # Spark Connect has none, and says so in errors of its own
            raise ParameterError(
                "this session of Spark has no context (Spark Connect): use a session on the cluster itself"
            ) from error
        self.name = "Spark"
        self.link: str | None = self._context.uiWebUrl

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        ready: dict[int, Result] = {}
        at = 0
        with closing(self._in_any_order(work, tasks)) as results:
            for place, result in results:
                ready[place] = result
                while at in ready:
                    yield ready.pop(at)
                    at += 1

    def _in_any_order(
        self, work: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Generator[tuple[int, Result]]:
        missing = dict(enumerate(tasks))
        for attempt in range(ATTEMPTS):
            last = attempt + 1 == ATTEMPTS
            failures = 0
            try:
                with closing(self._once(work, missing)) as results:
                    for place, outcome in results:
                        if isinstance(outcome, TaskFailure):
                            failures += 1
                            if last or not outcome.may_pass or failures > FAILURES:
                                raise outcome.to_error()
                        elif missing.pop(place, None) is not None:  # Spark may do one twice
                            yield place, outcome
            except WorkersLost as error:
                if last:
                    raise EvenrankError(
                        "Spark gave up: workers were lost again and again, perhaps for lack of memory "
                        f"({error}); {KEPT}"
                    ) from error.__cause__
            if not missing:
                return
        raise EvenrankError(f"Spark ended {ATTEMPTS} jobs without the results of all tasks; {KEPT}")

    def _once(
        self, work: Callable[[Task], Result], tasks: dict[int, Task]
    ) -> Generator[tuple[int, Result | TaskFailure]]:
        """One job for all tasks; their results come by way of an accumulator, each when it is there."""
        arrived = self._context.accumulator([], Arrivals())

        def one(item: tuple[int, Task]) -> int:
            place, task = item
            arrived.add([(place, outcome_of(work, task))])
            return place

        group = f"evenrank-{uuid.uuid4().hex}"
        items = list(tasks.items())
        failed: list[BaseException] = []

        def collect() -> None:
            try:
                self._context.setJobGroup(group, "evenrank", interruptOnCancel=True)
                self._context.parallelize(items, len(items)).map(one).collect()
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
            raise job_failure(failed[0], self._context) from failed[0]


def outcome_of(work: Callable[[Task], Result], task: Task) -> Result | TaskFailure:
    """What a worker makes of a task, be it an error."""
    try:
        outcome: Result | TaskFailure = work(task)
    except Exception as error:
        outcome = TaskFailure.of(error)
    if not gc.get_freeze_count():
        # Spark has its workers look for garbage after each task: what was imported is none, and looking at
        # all of it takes as long as a task may
        gc.collect()
        gc.freeze()
    return outcome


class Arrivals:
    """What workers add to a list here, as Spark wants it told."""

    def zero(self, value: list[Any]) -> list[Any]:
        return []

    def addInPlace(self, value1: list[Any], value2: list[Any]) -> list[Any]:
        value1.extend(value2)
        return value1
