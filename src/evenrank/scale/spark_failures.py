"""What goes wrong on Spark, told apart: an error of a task, workers that were lost, a session that ended."""

from __future__ import annotations

import re
import traceback
from typing import Any, NamedTuple

from evenrank.errors import MAY_PASS, EvenrankError
from evenrank.io.part_folder import KEPT

_LOST = (
    "Python worker exited unexpectedly",
    "ExecutorLostFailure",
    "ExecutorDeadException",
    "FetchFailed",
)
_CLASSES = re.compile(r"^(?:[:\s]*(?:org|java|py4j)\.[\w.$]+:)+\s*")
_STOPPED = ("SparkContext was shut down", "stopped SparkContext")


class TaskFailure(NamedTuple):
    """The error of a task, as its worker sends it: Spark itself would only send its text."""

    error: Exception
    trace: str

    @classmethod
    def of(cls, error: Exception) -> TaskFailure:
        trace = "".join(traceback.format_exception(error))
        return cls(_sendable(error.with_traceback(None)), trace)

    @property
    def may_pass(self) -> bool:
        """Whether another attempt may do better, as where a disk was full or a store did not answer."""
        return isinstance(self.error, (OSError, MemoryError, *MAY_PASS))

    def to_error(self) -> Exception:
        if not self.may_pass or isinstance(self.error, MAY_PASS):
            self.error.__cause__ = _WorkerTrace(self.trace)
            return self.error
        found = EvenrankError(f"a worker of Spark could not do its task: {self.error!s}; {KEPT}")
        found.__cause__ = _WorkerTrace(self.trace)
        return found


class _WorkerTrace(Exception):
    """Where an error happened, in another process."""


def _sendable(error: Exception) -> Exception:
    from pyspark.serializers import CloudPickleSerializer

    serializer = CloudPickleSerializer()
    try:
        again = serializer.loads(serializer.dumps(error))
    except Exception:  # whatever an exception of somebody's does when it is made anew
        again = None
    if type(again) is type(error):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")


class WorkersLost(Exception):
    """A job that Spark gave up because its workers were lost; it can be begun again."""


def job_failure(error: BaseException, context: Any) -> Exception:
    """Why Spark gave up a job, from what its Java says."""
    text = str(error)
    reason = _reason(text)
    if any(mark in text for mark in _LOST):
        return WorkersLost(reason)
    if getattr(context, "_jsc", None) is None or any(mark in text for mark in _STOPPED) or _is_gone(error):
        return EvenrankError(f"the session of Spark was stopped while it was used; {KEPT}")
    if "Python worker" in text and "Traceback" in text:
        return EvenrankError(
            f"a worker of Spark failed before or after a task: {_last_of_trace(text)}: is the same evenrank "
            f"installed there? {KEPT}"
        )
    return EvenrankError(f"Spark ended the job: {reason}; {KEPT}")


def _is_gone(error: BaseException) -> bool:
    """Whether Java does not answer any more."""
    return isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError"


def _reason(text: str) -> str:
    """The first line that says something, without the names of Java's classes and places."""
    lines = [line.strip() for line in text.strip().split("\n")]
    found = next((line for line in lines if line and not line.startswith("An error occurred while")), "")
    return _CLASSES.sub("", found.rpartition("most recent failure: ")[2])[:300]


def _last_of_trace(text: str) -> str:
    """The last line of the traceback in a message: the error itself."""
    lines = text.partition("Traceback")[2].split("\n")[1:]
    found = ""
    for line in lines:
        if line and not line.startswith((" ", "\t")):
            found = line
            break
    return found.strip()[:300]
