"""Two threads that are made to meet at the worst place, so that what they do to each other is no luck."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

REAL_LOCK = threading.RLock


class Meeting:
    """Whoever comes to a place waits there until both threads are there, or one of them waits for a lock.

    Locks that are made with ``lock`` in place of ``threading.RLock`` say when a thread waits for them.
    """

    def __init__(self, threads: int = 2) -> None:
        self._expected, self._came = threads, set[int]()
        self._together = threading.Event()

    def arrive(self) -> None:
        self._came.add(threading.get_ident())
        if len(self._came) >= self._expected:
            self._together.set()

    def at(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which goes on when all have come."""

        def meeting(*arguments: Any, **named: Any) -> Any:
            self.arrive()
            assert self._together.wait(60), "the other thread never came"
            return function(*arguments, **named)

        return meeting

    def lock(self) -> _NotedLock:
        return _NotedLock(self)

    def run(self, *works: Callable[[], Any]) -> list[Any]:
        """What each of them gives, in a thread of its own."""
        found: dict[int, Any] = {}

        def one(place: int) -> None:
            try:
                found[place] = works[place]()
            except BaseException as error:
                found[place] = error

        threads = [threading.Thread(target=one, args=(place,)) for place in range(len(works))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in found.values():
            if isinstance(result, BaseException):
                raise result
        return [found[place] for place in range(len(works))]


class _NotedLock:
    def __init__(self, meeting: Meeting) -> None:
        self._lock, self._meeting = REAL_LOCK(), meeting

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._meeting.arrive()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
