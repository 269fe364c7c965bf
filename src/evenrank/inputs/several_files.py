"""Reading several files: what is wrong with any of them is reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, cast

from evenrank.errors import DataError, EvenrankError, ParameterError, counted

FILES_SHOWN = 20

Read = TypeVar("Read")

_failures: ContextVar[list[EvenrankError] | None] = ContextVar("failures", default=None)


@contextmanager
def reading_files() -> Iterator[None]:
    """Inside, what ``attempt`` cannot read is kept; at the end it is one error.

    What was read must not be used inside, since something may be missing.
    """
    with collecting_problems() as failures:
        yield
    if len(failures) == 1:
        raise failures[0]
    if failures:
        shown = [str(error) for error in failures[:FILES_SHOWN]]
        if len(failures) > FILES_SHOWN:
            more = len(failures) - FILES_SHOWN
            shown.append(f"and {counted(more, 'further file', 'further files')} with problems")
        wrong = all(isinstance(error, ParameterError) for error in failures)
        raise (ParameterError if wrong else DataError)("\n".join(shown))


@contextmanager
def collecting_problems() -> Iterator[list[EvenrankError]]:
    """Inside, what ``attempt`` cannot do is kept in this list, and nothing is raised at the end."""
    failures: list[EvenrankError] = []
    token = _failures.set(failures)
    try:
        yield failures
    finally:
        _failures.reset(token)


def attempt(read: Callable[[], Read]) -> Read:
    """What ``read`` gives; within ``reading_files`` what cannot be used gives nothing for now."""
    failures = _failures.get()
    if failures is None:
        return read()
    try:
        return read()
    except (DataError, ParameterError) as error:
        failures.append(error)
        return cast(Read, None)  # nobody uses it: the block ends with an error


def something_failed() -> bool:
    return bool(_failures.get())
