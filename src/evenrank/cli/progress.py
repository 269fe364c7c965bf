"""A progress bar for work that takes longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_REDRAW_SECONDS = 0.1

QUIET_SECONDS = 1.0
WIDTH = 24


def progress(items: Sequence[T], what: str) -> Iterator[T]:
    """Go through the items; once a second has passed, show how many are done and the time left."""
    terminal = sys.stderr.isatty()
    begin = time.monotonic()
    shown = False
    try:
        for done, item in enumerate(items):
            spent = time.monotonic() - begin
            if terminal and spent > QUIET_SECONDS:
                shown = True
                left = f"{spent / done * (len(items) - done):.0f} s left" if done else "..."
                filled = "#" * (WIDTH * done // len(items))
                sys.stderr.write(f"\r\x1b[K{what} [{filled:<{WIDTH}}] {done}/{len(items)}, {left}")
                sys.stderr.flush()
            yield item
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Bar:
    """Progress of work that tells how much of how much is done; on a terminal only, after a second."""

    def __init__(self, what: str, unit: str) -> None:
        self._what, self._unit = what, unit
        self._terminal = sys.stderr.isatty()
        self._begin = self._drawn = time.monotonic()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        spent = now - self._begin
        if not self._terminal or spent < QUIET_SECONDS or now - self._drawn < _REDRAW_SECONDS or not done:
            return
        self._drawn, self._shown = now, True
        filled = "#" * (WIDTH * done // max(1, total))
        left = spent / done * (total - done)
        sys.stderr.write(
            f"\r\x1b[K{self._what} [{filled:<{WIDTH}}] {done:,} of {total:,} {self._unit}, {left:.0f} s left"
        )
        sys.stderr.flush()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
