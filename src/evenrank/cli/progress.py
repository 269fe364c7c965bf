"""A progress bar for work that takes longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

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
