"""Folders that are either whole or not there."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenrank.errors import DataError
from evenrank.io.atomic import cannot_write, refuse_standard_output


@contextmanager
def whole_folder(path: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Path]:
    """A new folder that becomes ``path`` when the block ends, and vanishes if it raises.

    ``path`` must not be there, or be empty; of two processes that write it at once, one gets an error. With
    ``replace`` an earlier folder gives way, and the files in it that the new one does not have move over.
    What a process that was killed has left behind is cleaned up by the next one that writes the same folder.
    """
    refuse_standard_output(path)
    target = Path(os.path.realpath(path))
    new, old = _beside(target)
    try:
        was_there = _has_content(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = _claimed(new, path)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        _settle(target, old)
        yield new
        _settle(target, old)
        if replace and target.exists():
            target.rename(old)
        if was_there and not replace:
            check_new_folder(path)
        _renamed(new, target, path)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    finally:
        try:
            _settle(target, old)  # stopped between the two moves, the old one comes back
        finally:
            if lock is not None:
                os.close(lock)


def check_new_folder(path: str | os.PathLike[str]) -> None:
    """Raise where ``whole_folder`` would in the end: for who works long before there is anything to write."""
    try:
        found = _has_content(Path(os.path.realpath(path)))
    except OSError as error:
        raise cannot_write(path, error) from error
    if found:
        raise DataError(f"{path}: exists already and is kept: choose another name, or remove it first")


def _has_content(target: Path) -> bool:
    """Whether something is there that is not to be written over: a file, or a folder that is not empty."""
    return target.exists() and not (target.is_dir() and next(target.iterdir(), None) is None)


def recover_folder(path: str | os.PathLike[str]) -> None:
    """Bring back a folder that was about to give way to another when the process was killed."""
    target = Path(os.path.realpath(path))
    _settle(target, _beside(target)[1])


def _beside(target: Path) -> tuple[Path, Path]:
    """Where the new folder grows, and where the old one is while they change places."""
    new, old = (target.with_name(f".{target.name}.evenrank-{kind}") for kind in ("new", "old"))
    return new, old


def _claimed(new: Path, path: str | os.PathLike[str]) -> int | None:
    """Make the folder, or empty that of a process that was killed. The lock is None on Windows."""
    new.mkdir(exist_ok=True)
    lock = None if os.name == "nt" else _locked(new, path)
    for entry in new.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    return lock


def _locked(new: Path, path: str | os.PathLike[str]) -> int:
    import fcntl

    lock = os.open(new, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):  # a file system without locks
            os.close(lock)
            raise DataError(
                f"{path}: another process is writing it: wait for its end, or choose another name"
            ) from error
    return lock


def _renamed(new: Path, target: Path, path: str | os.PathLike[str]) -> None:
    try:
        if os.name == "nt" and target.is_dir():
            target.rmdir()
        new.rename(target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise DataError(
                f"{path}: another process wrote this folder in the meantime: choose another name"
            ) from error
        raise cannot_write(path, error) from error


def _settle(target: Path, old: Path) -> None:
    """End a change of places that was cut short: no file of the old folder is lost that has no new one."""
    if not old.is_dir() or old.is_symlink():
        return
    if not target.exists():
        old.rename(target)
        return
    for entry in old.iterdir():
        if not (target / entry.name).exists():
            entry.rename(target / entry.name)
    shutil.rmtree(old, ignore_errors=True)
