"""Doing the partitions of a work with an executor, and passing over those that are finished."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Generator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from evenrank.errors import DataError, DataErrors, EvenrankError, counted
from evenrank.io.executor import Executor
from evenrank.io.part_folder import KEPT

Progress = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much (None: unknown), and of what: bytes or documents."""

Record = dict[str, Any]


class HasBytes(Protocol):
    @property
    def number(self) -> int: ...

    @property
    def bytes(self) -> int: ...


P = TypeVar("P", bound=HasBytes)


class FinishedPart(NamedTuple):
    """A partition that is done: its number, its record, and whether it was there before."""

    number: int
    record: Record
    found: bool


def run_partitions(
    executor: Executor,
    work: Callable[[P], Record | DataError],
    partitions: Sequence[P],
    finished: dict[int, Record],
    progress: Progress | None = None,
) -> Generator[FinishedPart]:
    """All partitions in their order, as soon as those before them are there.

    What is wrong with the data of one does not keep the others from being read: in the end one error lists
    the problems of all of them, at most twenty. ``work`` gives back what is wrong with the data as a value;
    what it raises, as where a store does not answer, is for the executor to try again.
    """
    log = logging.getLogger(__name__)
    missing = [partition for partition in partitions if partition.number not in finished]
    log.info("%s: %d partitions, %d finished before", executor.name, len(partitions), len(finished))
    if executor.link is not None:
        log.info("%s shows the work at %s", executor.name, executor.link)
    total = sum(partition.bytes for partition in partitions)
    done = total - sum(partition.bytes for partition in missing)
    ready: dict[int, FinishedPart] = {
        number: FinishedPart(number, record, True) for number, record in finished.items()
    }
    errors: dict[int, DataError] = {}
    wrong = DataErrors()  # of the partitions before ``known``, all of which have been read
    at = known = 0
    results = executor.run(work, missing) if missing else iter(())
    try:
        while at < len(partitions):
            number = partitions[at].number
            if number in ready and not errors:
                yield ready.pop(number)
                at += 1
                continue
            place, outcome = next(results, (-1, None))
            if outcome is None:
                break
            own = missing[place].number
            if isinstance(outcome, DataError):
                errors[own] = outcome
            else:
                ready[own] = FinishedPart(own, outcome, False)
            known = _add_known(partitions, max(known, at), ready, errors, wrong)
            if wrong.full:
                break
            done += missing[place].bytes
            if progress is not None:
                progress(done, total, "bytes")
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            close()
    for partition in partitions[known:]:  # behind one that never came
        if partition.number in errors:
            wrong.add(errors[partition.number])
    wrong.check()
    if at < len(partitions):  # an output without them would look whole
        lacking = len(partitions) - at - len(ready)
        raise EvenrankError(
            f"{executor.name} ended without {counted(lacking, 'partition', 'partitions')} of "
            f"{len(partitions)}; {KEPT}"
        )


def _add_known(
    partitions: Sequence[P],
    known: int,
    ready: Container[int],
    errors: Mapping[int, DataError],
    wrong: DataErrors,
) -> int:
    """Add the errors of partitions that follow each other, up to the first one that is still to come.

    Which problems are listed must not depend on which worker was the first.
    """
    while known < len(partitions):
        number = partitions[known].number
        if number in errors:
            wrong.add(errors[number])
        elif number not in ready:
            break
        known += 1
    return known
