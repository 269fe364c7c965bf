"""Tasks on Spark: one partition of an RDD each, so that Spark places them and repeats those that are lost."""

from __future__ import annotations

import gc
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from evenrank.errors import MAY_PASS, EvenrankError, MissingExtraError, ParameterError
from evenrank.io.part_folder import KEPT

Task = TypeVar("Task")
Result = TypeVar("Result")

ATTEMPTS = 4  # of a job; in a session on one machine Spark itself makes only one of a task
ROUNDS = 8  # tasks for each core in one job: results, and what is wrong with them, come job by job
# Java's better compiler costs more here than it saves: what Spark does in a scan takes seconds at most
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
_LOST = ("Python worker exited unexpectedly", "ExecutorLost", "ExecutorDeadException", "FetchFailed")
_STOPPED = ("SparkContext was shut down", "stopped SparkContext")
_CLASSES = re.compile(r"^(?:[:\s]*(?:org|java|py4j)\.[\w.$]+:)+\s*")


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
        size = ROUNDS * self._context.defaultParallelism
        for begin in range(0, len(tasks), size):
            yield from self._job(work, tasks[begin : begin + size])

    def _job(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        missing, done = list(range(len(tasks))), {}
        for attempt in range(1, ATTEMPTS + 1):
            last, left = attempt == ATTEMPTS, [tasks[place] for place in missing]
            try:
                # a task that raised an error would be done again, and its error would come as text
                rows = self._context.parallelize(left, len(left)).map(partial(outcome_of, work)).collect()
            except Exception as error:
                if last or not any(mark in str(error) for mark in _LOST):
                    raise self._given_up(error) from error
                continue
            for place, outcome in zip(missing, rows, strict=True):
                if not isinstance(outcome, TaskFailure):
                    done[place] = outcome
                elif last or not outcome.may_pass:
                    raise outcome.to_error()
            missing = [place for place in missing if place not in done]
            if not missing:
                break
        return [done[place] for place in range(len(tasks))]

    def _given_up(self, error: Exception) -> EvenrankError:
        """Why Spark gave up a job, from what its Java says."""
        text = str(error)
        lines = [line.strip() for line in text.strip().split("\n")]
        first = next((line for line in lines if line and not line.startswith("An error occurred while")), "")
        reason = _CLASSES.sub("", first.rpartition("most recent failure: ")[2])[:300]
        gone = isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError"
        if any(mark in text for mark in _LOST):
            reason = (
                f"Spark gave up: workers were lost again and again, perhaps for lack of memory ({reason})"
            )
        elif gone or getattr(self._context, "_jsc", None) is None or any(mark in text for mark in _STOPPED):
            reason = "the session of Spark was stopped while it was used"
        elif "Python worker" in text and "Traceback" in text:
            trace = text.partition("Traceback")[2].split("\n")[1:]
            last = next((line for line in trace if line and not line.startswith((" ", "\t"))), "")
            reason = (
                f"a worker of Spark failed before or after a task: {last.strip()[:300]}: is the same "
                "evenrank installed there?"
            )
        else:
            reason = f"Spark ended the job: {reason}"
        return EvenrankError(f"{reason}; {KEPT}")


class TaskFailure(NamedTuple):
    """The error of a task, as its worker sends it."""

    error: Exception
    trace: str

    @property
    def may_pass(self) -> bool:
        """Whether another attempt may do better, as where a disk was full or a store did not answer."""
        return isinstance(self.error, (OSError, MemoryError, *MAY_PASS))

    def to_error(self) -> Exception:
        found = self.error
        if self.may_pass and not isinstance(found, MAY_PASS):
            found = EvenrankError(f"a worker of Spark could not do its task: {found!s}; {KEPT}")
        found.__cause__ = RuntimeError(self.trace)  # where it happened, in another process
        return found


def outcome_of(work: Callable[[Task], Result], task: Task) -> Result | TaskFailure:
    """What a worker makes of a task, be it an error."""
    try:
        outcome: Result | TaskFailure = work(task)
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        outcome = TaskFailure(_sendable(error.with_traceback(None)), trace)
    if not gc.get_freeze_count():
        gc.freeze()  # Spark looks for garbage after each task, and what was imported is none
    return outcome


def _sendable(error: Exception) -> Exception:
    from pyspark.serializers import CloudPickleSerializer

    serializer = CloudPickleSerializer()
    try:
        again = serializer.loads(serializer.dumps(error))
    except Exception:  # whatever an exception of somebody's does when it is made anew
        again = None
    return error if type(again) is type(error) else RuntimeError(f"{type(error).__name__}: {error}")


@contextmanager
def local_session(workers: int) -> Iterator[SparkExecutor]:
    """The session or context that is there; else one on this machine, which ends with the block."""
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError.for_job("--on spark", "pyspark", "spark") from error
    # a session is active in the thread that made it, a context in all of them
    there = SparkSession.getActiveSession() or SparkContext._active_spark_context
    if there is not None:
        yield SparkExecutor(there)
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setMaster(f"local[{workers},{ATTEMPTS}]").setAppName("evenrank")
    conf.set("spark.ui.showConsoleProgress", "false").set("spark.driver.extraJavaOptions", _JAVA)
    conf.set("spark.driver.bindAddress", "127.0.0.1")
    try:
        context = SparkContext(conf=conf)
    except Exception as error:  # of Java, which is not there or does not start
        first = str(error).strip().partition("\n")[0][:300]
        raise EvenrankError(f"Spark does not start: {first}: is Java 17 or later there?") from error
    try:
        yield SparkExecutor(context)
    finally:
        context.stop()
