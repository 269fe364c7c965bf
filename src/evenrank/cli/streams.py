"""What a command says: data on stdout as UTF-8, everything else on stderr, line by line."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, TextIO

from evenrank.errors import EvenrankWarning


def put(text: str) -> None:
    """Data, as UTF-8 whatever the locale, so that a file made by ``>`` reads back."""
    _write(sys.stdout, text)


def say(message: str) -> None:
    """A message. Each of its lines is prefixed, and nothing in it steers the terminal."""
    lines = ("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in message.split("\n"))
    _write(sys.stderr, "".join(f"evenrank: {line}\n" for line in lines))


def _write(stream: TextIO, text: str) -> None:
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # something that stands in for the stream
        stream.write(text)
        return
    stream.flush()  # what was written as text comes first
    buffer.write(text.encode("utf-8", "backslashreplace"))
    buffer.flush()


def say_warnings() -> None:
    """Show our own warnings as messages. Holds until the enclosing ``catch_warnings`` ends."""
    usual = warnings.showwarning

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, EvenrankWarning):
            say(f"warning: {message}")
        else:
            usual(message, category, *place, **more)

    warnings.showwarning = show


def flush_output() -> None:
    sys.stdout.flush()


def discard_output() -> None:
    """Send what is left to nowhere, or Python complains when it flushes at the end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return


def terminal_width() -> int | None:
    """The width of the terminal on stdout; None if stdout is something else."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
