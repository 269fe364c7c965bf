"""Files that are named: only regular ones are read, because others block, never end, or hold nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from evenrank.errors import DataError, DiskError
from evenrank.text import without_userinfo

_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def regular_file(path: str | os.PathLike[str]) -> Path:
    """The path, unless something other than a regular file is there: that is refused before it is opened.

    Whoever opens the file finds out whether it exists.

    >>> regular_file("/dev/null")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    evenrank.errors.DataError: /dev/null: is a device, not a file: ...
    """
    found = Path(path)
    try:
        kind = stat.S_IFMT(found.stat().st_mode)
    except (OSError, ValueError):  # a NUL inside the name
        return found
    if kind == stat.S_IFREG:
        return found
    name = _shown(found)
    if kind == stat.S_IFDIR:
        raise DataError(f"{name}: is a directory, not a file")
    raise DataError(
        f"{name}: is {_KINDS.get(kind, 'a device')}, not a file: save what it gives to a file; an input that "
        "may be - is read from standard input"
    )


def read_bytes(path: str | os.PathLike[str], holds: str = "") -> bytes:
    """The whole content of a file; ``holds`` says what it should be where it is not there."""
    try:
        return regular_file(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"{_shown(path)}: no such file" + (f": {holds}" if holds else "")) from None
    except OSError as error:
        raise DiskError(f"{_shown(path)}: cannot be read: {error.strerror}") from error


def read_utf8(path: str | os.PathLike[str], holds: str = "") -> str:
    """The whole text of a file, without a byte order mark."""
    content = read_bytes(path, holds)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: is not UTF-8") from None


def _shown(path: str | os.PathLike[str]) -> str:
    """The name for a message: one that is not UTF-8 made so, and without what may be a password."""
    return without_userinfo(os.fsencode(path).decode("utf-8", "replace"))
