"""Running one function on many values, wherever that is: the interface that engines of clusters implement.

Whoever has collection-sized work cuts it into tasks, each a plain value, and names a function of a module
that does one of them. An executor says where the function runs: in threads of this process, or with Dask or
Spark (``evenrank.scale``). A task may be done twice, since a worker that was lost may have finished it; so a
task writes its result to a file of its own, in one step, and gives back a small value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Executor(Protocol):
    """Where tasks are done. ``link`` is the page that shows them at work, where there is one."""

    name: str
    link: str | None

    def run(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """The place of each task in ``tasks`` and what ``work`` made of it, in the order of their ends.

        A task whose worker is lost is done again. ``work`` must be a function that another process can
        import, or a ``functools.partial`` of one.
        """
        ...


class ThreadExecutor:
    """The threads of this process."""

    link: str | None = None

    def __init__(self, threads: int) -> None:
        self.name = f"{threads} threads"
        self._threads = threads

    def run(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="partition")
        try:
            places = {pool.submit(work, task): place for place, task in enumerate(tasks)}
            for future in as_completed(places):
                yield places[future], future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
