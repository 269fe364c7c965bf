"""The progress bar: how far work is, how fast, and how long it will take; on a terminal only."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Self, TypeVar

from evenrank.cli.streams import is_terminal, message_width, say, write_message

T = TypeVar("T")

QUIET_SECONDS = 0.8  # work that is done by then has no bar; any other says by then that it has begun
REDRAW_SECONDS = 0.1
WIDTH = 24
_CLEAR = "\r\x1b[K"
_DRAWING = re.compile(r"\[[# ]*\] ")
_SPEED = re.compile(r", [\d,]+ [^,]+/s(?=, )")


class Bar:
    """One line that is drawn over and over while work goes on, and is gone when it is done.

    It is told ``(done, total)``, where ``total`` may be None and ``unit`` may change. Work that tells nothing
    in its first second, since it compiles or loads something, is announced by a timer. ``begin`` starts the
    next part of the work under another name.
    """

    def __init__(self, what: str, unit: str = "") -> None:
        self.detail = ""  # what else there is to say, as the cost so far
        self._terminal = is_terminal()
        self._lock = threading.RLock()  # a timer draws too
        self._start(what, unit)

    def _start(self, what: str, unit: str) -> None:
        self._what, self._unit, self._shown = what, unit, False
        self._begin = self._drawn = time.monotonic()
        self._first: tuple[int, float] | None = None  # what was done when it was first told, and when
        self._timer = threading.Timer(QUIET_SECONDS, self._announce)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._terminal:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()

    def begin(self, what: str, unit: str | None = None) -> None:
        """Start the next part of the work; nothing happens where it has that name already."""
        if what != self._what:
            self.close()
            self._start(what, self._unit if unit is None else unit)
            self.__enter__()

    def __call__(self, done: int, total: int | None = None, unit: str | None = None) -> None:
        now = time.monotonic()
        # what was done before, and the time that it takes to begin, say nothing about the speed
        if self._first is None or done < self._first[0]:
            self._first = done, now
        before, since = self._first
        if not self._terminal or now - self._begin < QUIET_SECONDS or now - self._drawn < REDRAW_SECONDS:
            return
        self._drawn = now
        unit = self._unit if unit is None else unit
        self._draw(bar_line(self._what, done, total, unit, now - since, self.detail, before=before))

    def close(self) -> None:
        with self._lock:
            self._timer.cancel()
            if self._shown:
                write_message(_CLEAR)
            self._shown = False

    def _announce(self) -> None:
        with self._lock:
            if not self._shown and not self._timer.finished.is_set():
                self._draw(f"{self._what} ...")

    def _draw(self, line: str) -> None:
        """In place of the line that is shown, cut to the terminal: one that wraps could not be cleared."""
        width = max(0, message_width() - 1)
        for least_needed in (_DRAWING, _SPEED):
            if len(line) > width:
                line = least_needed.sub("", line)
        with self._lock:
            self._shown = True
            write_message(f"{_CLEAR}{line[:width]}")


@contextmanager
def work_bar() -> Iterator[Callable[[str, int, int], None]]:
    """One bar after another, as the work names itself."""
    with Bar("reading", "texts") as bar:

        def show(what: str, done: int, total: int) -> None:
            bar.begin(what)
            bar(done, total)

        yield show


class ResumableBar(Bar):
    """A bar of work that continues where it was interrupted, and says so if a piece of it is finished."""

    _finished = False

    def __call__(self, done: int, total: int | None = None, unit: str | None = None) -> None:
        self._finished = self._finished or done > 0
        super().__call__(done, total, unit)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        if kind is KeyboardInterrupt and self._finished:
            from evenrank.io.part_folder import KEPT

            say(KEPT)


def progress(items: Sequence[T], what: str) -> Iterator[T]:
    """Go through the items, with a bar that says how many are done."""
    with Bar(what) as bar:
        for done, item in enumerate(items):
            bar(done, len(items))
            yield item


def bar_line(
    what: str,
    done: int,
    total: int | None,
    unit: str,
    seconds: float,
    detail: str = "",
    *,
    before: int = 0,
) -> str:
    """How far the work is; its speed is what was done in these seconds, beyond what was done ``before``.

    >>> bar_line("scanning", 50_000_000, 200_000_000, "bytes", 2.0)
    'scanning [######                  ] 50 of 200 MB, 25 MB/s, 6 s left'
    >>> bar_line("scanning", 4096, None, "documents", 2.0)
    'scanning 4,096 documents, 2,048 documents/s'
    >>> bar_line("reading runs", 1, 4, "", 2.0)
    'reading runs [######                  ] 1 of 4, 6 s left'
    >>> bar_line("asking", 1, 4, "", 2.0, "800 tokens, cost 0.02")
    'asking [######                  ] 1 of 4, 800 tokens, cost 0.02, 6 s left'
    >>> bar_line("scanning", 130_000, 520_000, "bytes", 2.0, before=130_000)
    'scanning [######                  ] 130 of 520 kB, ...'
    """
    scale, name = _scale(total or done) if unit == "bytes" else (1.0, unit)
    rate = (done - before) / seconds if seconds > 0 else 0.0
    speed = f"{rate / scale:,.0f} {name}/s" if rate * seconds >= 1 and rate / scale >= 1 and name else ""
    if not total:
        return ", ".join(filter(None, (f"{what} {done / scale:,.0f} {name}".rstrip(), speed, detail)))
    filled = "#" * min(WIDTH, WIDTH * done // total)
    left = f"{max(0, total - done) / rate:.0f} s left" if rate else "..."
    amount = f"{done / scale:,.0f} of {total / scale:,.0f} {name}".rstrip()
    return f"{what} [{filled:<{WIDTH}}] " + ", ".join(filter(None, (amount, speed, detail, left)))


def _scale(size: int) -> tuple[float, str]:
    """The unit in which a number of bytes is read easily."""
    if size < 1e3:
        return 1.0, "bytes"
    return (1e3, "kB") if size < 1e6 else (1e6, "MB")
