"""A progress bar for work that takes longer than a second, on a terminal only."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from evenrank.cli.streams import is_terminal, message_width, write_message

T = TypeVar("T")

REDRAW_SECONDS = 0.1

QUIET_SECONDS = 1.0
WIDTH = 24
_CLEAR = "\r\x1b[K"


def show_line(line: str) -> None:
    """In place of the line that is shown. It is cut to the terminal: one that wraps could not be cleared."""
    write_message(f"{_CLEAR}{line[: max(0, message_width() - 1)]}")


def clear_line() -> None:
    write_message(_CLEAR)


def progress(items: Sequence[T], what: str) -> Iterator[T]:
    """Go through the items; once a second has passed, show how many are done and the time left."""
    terminal = is_terminal()
    begin = time.monotonic()
    shown = False
    try:
        for done, item in enumerate(items):
            spent = time.monotonic() - begin
            if terminal and spent > QUIET_SECONDS:
                shown = True
                left = f"{spent / done * (len(items) - done):.0f} s left" if done else "..."
                filled = "#" * (WIDTH * done // len(items))
                show_line(f"{what} [{filled:<{WIDTH}}] {done}/{len(items)}, {left}")
            yield item
    finally:
        if shown:
            clear_line()


class Bar:
    """Progress of work that tells how much of how much is done; on a terminal only, after a second."""

    def __init__(self, what: str, unit: str) -> None:
        self._what, self._unit = what, unit
        self._terminal = is_terminal()
        self._begin = self._drawn = time.monotonic()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        spent = now - self._begin
        if not self._terminal or spent < QUIET_SECONDS or now - self._drawn < REDRAW_SECONDS or not done:
            return
        self._drawn, self._shown = now, True
        filled = "#" * (WIDTH * done // max(1, total))
        left = spent / done * (total - done)
        show_line(f"{self._what} [{filled:<{WIDTH}}] {done:,} of {total:,} {self._unit}, {left:.0f} s left")

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            clear_line()
