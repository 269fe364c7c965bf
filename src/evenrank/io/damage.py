"""One error for whatever libraries say of a file that is not what was written."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from evenrank.errors import DamagedError, DataError, DiskError

# Arrow checks the pages of a Parquet file, but not its footer: a changed bit in a name, in a type or in our
# own JSON shows itself wherever that is used
_SIGNS = (
    pa.ArrowException, OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError,
    RecursionError,
)  # fmt: skip

# the system refuses a place that no file has, as a damaged footer may name one
_NO_SUCH_PLACE = (errno.EINVAL, errno.EOVERFLOW)


@contextmanager
def noticing_damage(name: str | os.PathLike[str], what: str, cure: str) -> Iterator[None]:
    """In this block a file is read: what is wrong with its content is damage, and the error says the way out.

    What the system says (no such file, too many open files, no memory) is no damage: the file may be sound.

    >>> with noticing_damage("c.parquet", "a sound file", "scan again"):
    ...     {}["groups"]
    Traceback (most recent call last):
    evenrank.errors.DamagedError: c.parquet: is not a sound file ('groups' is not there): scan again
    """
    try:
        yield
    except DataError:
        raise
    except _SIGNS as error:
        if isinstance(error, MemoryError):
            raise DataError(f"{os.fspath(name)}: cannot be read: {error}") from error
        if isinstance(error, OSError) and error.errno and error.errno not in _NO_SUCH_PLACE:
            raise DiskError(f"{os.fspath(name)}: cannot be read: {os.strerror(error.errno)}") from error
        lacks = isinstance(error, KeyError) and not isinstance(error, pa.ArrowException)
        reason = f"{error.args[0]!r} is not there" if lacks and error.args else str(error)
        raise DamagedError(f"{os.fspath(name)}: is not {what} ({reason}): {cure}") from error


def check_of(about: Mapping[str, Any]) -> str:
    """The digest of a description that is kept as JSON, under its key ``check``: is it what was written?"""
    rest = {name: value for name, value in about.items() if name != "check"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def with_check(about: Mapping[str, Any]) -> dict[str, Any]:
    """A description with its digest."""
    return {**about, "check": check_of(about)}


def checked(raw: bytes) -> dict[str, Any]:
    """A description as it was written; ValueError if it is another."""
    about: dict[str, Any] = json.loads(raw)
    if about.get("check") != check_of(about):
        raise ValueError("its description is damaged")
    return about
