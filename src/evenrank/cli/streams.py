"""What a command says: data on stdout as UTF-8, everything else on stderr, line by line.

A stream may be closed, full, or read by somebody who has read enough. Data that cannot be written is an
error; messages that cannot be written are dropped, for they must not cost the data.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from evenrank.errors import DataError, EvenrankWarning, for_reader
from evenrank.text import printable, wrapped

if TYPE_CHECKING:
    from evenrank.scores import Scores

DEFAULT_WIDTH = 80


def put(text: str) -> None:
    """Data, as UTF-8 whatever the locale, so that a file made by ``>`` reads back.

    A reader who has read enough, as head has, ends nothing: the command finishes with its own exit code.
    """
    if not text:
        return
    if sys.stdout is None:
        raise DataError("standard output is closed, so the result cannot be printed: use > FILE")
    try:
        _write(sys.stdout, text)
    except BrokenPipeError:
        discard_output()
    except OSError as error:
        discard_output()
        raise DataError(
            f"standard output: {error.strerror or error}: not all of the result was written"
        ) from error


def say(message: str) -> None:
    """A message. Each of its lines is prefixed, and nothing in it steers the terminal.

    Lines are wrapped at the width of the terminal, or at COLUMNS; in a file each stays one line.
    """
    if sys.stderr is None:
        return
    lines = [f"evenrank: {printable(line)}" for line in for_reader(message).split("\n")]
    if (width := _width_of(sys.stderr)) is not None:
        lines = [wrapped(line, width) for line in lines]
    write_message("".join(f"{line}\n" for line in lines))


def say_notes(scores: Scores, arguments: argparse.Namespace) -> None:
    """What changes how these scores are to be read, one line each, and how many notes there are besides; or
    with --notes all of them."""
    from evenrank.scores.notes import note_lines

    for line in note_lines(scores, all_notes=getattr(arguments, "notes", True)):
        say(line)


def write_message(text: str) -> None:
    """To stderr as it is; nothing happens where stderr is closed, full or no longer read."""
    if sys.stderr is None:
        return
    try:
        _write(sys.stderr, text)
    except OSError:
        _discard(sys.stderr)


def message_width() -> int:
    """The width of the terminal that messages go to, which stdout need not be."""
    return _width_of(sys.stderr) or DEFAULT_WIDTH


def terminal_width() -> int | None:
    """The width of the terminal on stdout; None if stdout is something else and nobody says a width."""
    return _width_of(sys.stdout)


def _width_of(stream: TextIO | None) -> int | None:
    """What COLUMNS says, else the width of the terminal; None where there is neither."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return (os.get_terminal_size(stream.fileno()).columns or None) if stream is not None else None
    except (AttributeError, OSError, ValueError):
        return None


def is_terminal() -> bool:
    """Whether messages go to a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def _write(stream: TextIO, text: str) -> None:
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # something that stands in for the stream
        stream.write(text)
        return
    stream.flush()  # what was written as text comes first
    buffer.write(text.encode("utf-8", "backslashreplace"))
    buffer.flush()


def say_warnings() -> None:
    """Show our own warnings as messages, each once. Holds until the enclosing ``catch_warnings`` ends."""
    usual, told = warnings.showwarning, set[str]()

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, EvenrankWarning):
            if str(message) not in told:  # the beginning of a file may be read more than once
                say(f"warning: {message}")
            told.add(str(message))
        else:
            usual(message, category, *place, **more)

    warnings.showwarning = show


def discard_output() -> None:
    """Send what is left to nowhere, or Python complains when it flushes at the end."""
    _discard(sys.stdout)


def _discard(stream: TextIO | None) -> None:
    if stream is None:
        return
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def hold_closed_streams() -> None:
    """Put the null device where the caller closed stdin, stdout or stderr.

    Else the next file that is opened gets the number of that stream, and what a library prints goes into it.
    Python has made the stream None by then, which it stays.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
