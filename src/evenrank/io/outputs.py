"""Where the result of long work goes: checked before it begins, in its place when it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.io.atomic import refuse_standard_output
from evenrank.io.source import as_source


def workers_of(threads: int | None) -> int:
    """As many as there are cores, unless said otherwise."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ParameterError(f"threads must be an integer >= 1, got {threads!r}")
    return threads


def target_of(output: str | os.PathLike[str]) -> Path:
    """The file to write."""
    if not isinstance(output, (str, os.PathLike)):
        raise InputTypeError(f"output is a str or a Path, got {type(output).__name__}")
    refuse_standard_output(output)
    target = Path(output)
    if target.is_dir():
        raise DataError(f"{output}: is a directory: give the name of a file")
    # a link stays a link: what it points to is replaced
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def check_not_read(target: Path, output: str | os.PathLike[str], value: object) -> None:
    """What is read must not be what is written over, by whatever name, or through a pipe."""
    if isinstance(value, (str, os.PathLike)) and value and Path(value).is_dir():
        if Path(value).resolve() in target.resolve().parents:
            raise ParameterError(
                f"{output}: lies in the folder that is read, and would be taken for one of its files: choose "
                "a name outside of it"
            )
        return
    file = None if isinstance(value, str) and not value else as_source(value)
    if file is None or not target.exists():
        return
    try:
        read = os.fstat(file.stream.fileno()) if file.path is None else file.path.stat()
    except (OSError, ValueError, AttributeError):  # it is not there, or no file of the system
        return
    if os.path.samestat(read, target.stat()):
        raise ParameterError(f"{output}: is also an input, and would be overwritten: choose another name")


@contextmanager
def growing_file(growing: Path) -> Iterator[BinaryIO]:
    """A file that is forced to the disk when the block ends, and removed if it raises."""
    try:
        with growing.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            growing.unlink()
        raise


def move_into_place(growing: Path, target: Path) -> None:
    """One step: an existing file keeps its permissions."""
    if target.exists():
        growing.chmod(target.stat().st_mode & 0o7777)
    growing.replace(target)
