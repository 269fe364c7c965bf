"""Requests in threads of their own: the next one is on its way while the last answer is written down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from evenrank.engines.base import Raw
from evenrank.errors import RemoteError

Batch = list[tuple[str, str]]
Fetched = list[Raw | RemoteError]


class RequestsAhead:
    """Batches with their answers, as they come; never more than ``concurrency`` requests at a time.

    After an answer that failed, nothing is sent until whoever iterates asks for the next one, so that it can
    stop. ``rest`` gives the answers to what was sent before it stopped: an answer that came is not lost.
    """

    def __init__(self, fetch: Callable[[Batch], Fetched], batches: Iterator[Batch], concurrency: int) -> None:
        self._batches, self._concurrency = batches, concurrency
        self._fetch = fetch
        self._sent: SimpleQueue[Batch | None] = SimpleQueue()
        self._came: SimpleQueue[tuple[Batch, Fetched | BaseException]] = SimpleQueue()
        self._running = 0
        for _ in range(concurrency):  # who interrupts the program does not wait for a slow server
            threading.Thread(target=self._work, daemon=True).start()

    def __iter__(self) -> Iterator[tuple[Batch, Fetched]]:
        self._send()
        while self._running:
            batch, found = self._came.get()
            self._running -= 1
            if isinstance(found, BaseException):
                raise found
            if not any(isinstance(one, RemoteError) for one in found):
                self._send()
            yield batch, found
            self._send()

    def rest(self, seconds: float) -> Iterator[tuple[Batch, Fetched]]:
        """The answers to requests that are on their way, as far as they come within this time."""
        end = time.monotonic() + seconds
        while self._running:
            try:
                batch, found = self._came.get(timeout=max(0.0, end - time.monotonic()))
            except Empty:
                return
            self._running -= 1
            if not isinstance(found, BaseException):
                yield batch, found

    def close(self) -> None:
        for _ in range(self._concurrency):
            self._sent.put(None)

    def _send(self) -> None:
        while self._running < self._concurrency and (batch := next(self._batches, None)):
            self._sent.put(batch)
            self._running += 1

    def _work(self) -> None:
        while (batch := self._sent.get()) is not None:
            found: Any
            try:
                found = self._fetch(batch)
            except BaseException as error:
                found = error
            self._came.put((batch, found))
