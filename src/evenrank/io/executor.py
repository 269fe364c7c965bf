"""Running one function on many values, wherever that is: the interface that engines of clusters implement.

Whoever has collection-sized work cuts it into tasks, each a plain value, and names a function of a module
that does one of them. An executor says where the function runs: in threads or processes of this machine, or
with Dask or Spark (``evenrank.scale``). A task may be done twice, since a worker that was lost may have
finished it; so a task writes its result to a file of its own, in one step, and gives back a small value.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextvars import copy_context
from functools import partial
from multiprocessing.connection import wait
from typing import Any, Protocol, TypeVar

from evenrank.errors import EvenrankError, ParameterError
from evenrank.io.part_folder import KEPT

Task = TypeVar("Task")
Result = TypeVar("Result")


class Executor(Protocol):
    """Where tasks are done. ``link`` is the page that shows them at work, where there is one."""

    name: str
    link: str | None

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """What ``work`` makes of each task, in the order of ``tasks``, each as soon as it is there.

        A task whose worker is lost is done again. ``work`` must be a function that another process can
        import, or a ``functools.partial`` of one.
        """
        ...


class ThreadExecutor:
    """The threads of this process."""

    link: str | None = None

    def __init__(self, threads: int) -> None:
        self.name = f"{threads} threads"
        self.threads = threads

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        yield from _run(_Threads(self.threads, thread_name_prefix="partition"), work, tasks)


class SerialExecutor:
    """One task after the other, here: an interrupt ends the one that is being done."""

    name = "1 process"
    link: str | None = None

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        yield from map(work, tasks)


class _Threads(ThreadPoolExecutor):
    """Threads that word their errors as this one does: for Python, or for a shell."""

    def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Any:
        return super().submit(copy_context().run, work, *arguments, **named)


class ProcessExecutor:
    """Fresh processes, for what is Python, of which one process runs one line at a time. They are not forked,
    since Arrow has threads."""

    link: str | None = None

    def __init__(self, processes: int) -> None:
        self.name = f"{processes} processes"
        self._processes = processes

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        fresh = multiprocessing.get_context("spawn")
        try:
            yield from _run(ProcessPoolExecutor(self._processes, fresh, initializer=_begin), work, tasks)
        except BrokenProcessPool as error:
            raise EvenrankError(
                "a process was ended by the system, perhaps for lack of memory; with fewer threads "
                f"(--threads 1) it takes less; {KEPT}"
            ) from error


def _run(pool: Pool, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
    try:
        for future in [pool.submit(work, task) for task in tasks]:
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who interrupts means the parent, which ends the pool
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot end its pool."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def workers_of(threads: int | None) -> int:
    """As many as there are cores, unless said otherwise."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ParameterError(f"threads must be an integer >= 1, got {threads!r}")
    return threads


def ahead(
    work: Callable[[Task], Result], tasks: Iterable[Task], threads: int
) -> Generator[Callable[[], Result]]:
    """What ``work`` makes of each task, in their order, as calls that give it or raise its error.

    A few tasks are worked on before their turn, which keeps every thread busy; no more are in memory.
    """
    if threads == 1:
        yield from (partial(work, task) for task in tasks)
        return
    pool = _Threads(threads, thread_name_prefix="ahead")
    try:
        waiting: deque[Callable[[], Result]] = deque()
        for task in tasks:
            waiting.append(pool.submit(work, task).result)
            if len(waiting) > threads + 2:
                yield waiting.popleft()
        yield from waiting
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
