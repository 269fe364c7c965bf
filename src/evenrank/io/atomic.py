"""Writing a file or a folder so that it is either whole or not there."""

from __future__ import annotations

import glob
import gzip
import os
import secrets
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from evenrank.errors import DataError, DiskError, InputTypeError, MissingExtraError, ParameterError

STANDARD_OUTPUT = "-"
TEMPORARY = r"\.{name}\.evenrank-[0-9a-f]+\.tmp"
"""What the temporary file of ``name`` is called, as a regular expression."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of ``path`` when the block ends, and vanishes if it raises.

    The bytes go to a temporary file in the same folder, are flushed to disk, and are then moved over
    ``path`` in one step. An existing file keeps its permissions, a new one gets those of the umask.
    Names that end in ``.gz`` or ``.zst`` are compressed. What is no regular file (``/dev/stdout``, a
    pipe) is written directly, since it cannot be replaced.
    """
    target = target_of(path)
    if target.exists() and not target.is_file():
        try:
            with target.open("wb") as direct, _compressed(direct, target.suffix) as file:
                yield file
        except BrokenPipeError:  # whoever read it has gone: that is no fault of the disk
            raise
        except OSError as error:
            raise cannot_write(path, error) from error
        return
    temporary = target.with_name(f".{target.name[:100]}.evenrank-{secrets.token_hex(6)}.tmp")
    try:
        descriptor = _created(temporary)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        with _flushed(descriptor, temporary) as raw, _compressed(raw, target.suffix) as file:
            yield file
        move_into_place(temporary, target)
    except OSError as error:
        if error.filename in (None, str(temporary)) and error.errno:  # it is about the file that was named
            raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error
        raise


@contextmanager
def growing_file(growing: Path) -> Iterator[BinaryIO]:
    """A file that is forced to the disk when the block ends, and removed if it raises."""
    with _flushed(_created(growing), growing) as file:
        yield file


def move_into_place(growing: Path, target: Path) -> None:
    """One step: an existing file keeps its permissions."""
    try:
        if target.exists():
            growing.chmod(stat.S_IMODE(target.stat().st_mode))
        growing.replace(target)
    except BaseException:
        growing.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(path: str | os.PathLike[str], *, replace: bool = False, keep: bool = True) -> Iterator[Path]:
    """A new folder that becomes ``path`` when the block ends, and vanishes if it raises.

    ``path`` must not be there, or be empty; of two processes that write it at once, the second gets an error.
    With ``replace`` an earlier folder gives way; the files in it that the new one lacks move over, unless
    ``keep`` is false.
    """
    refuse_standard_output(path)
    target = Path(os.path.realpath(path))
    new = target.with_name(f".{target.name}.evenrank-new-{secrets.token_hex(6)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if replace:  # then all that has this name is ours, also what a killed process left
            for left in target.parent.glob(glob.escape(new.name[:-12]) + "*"):
                shutil.rmtree(left, ignore_errors=True)
        new.mkdir()
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        yield new
        recover_folder(target, keep=keep)
        if replace and target.exists():
            target.rename(_old(target))
        elif os.name == "nt" and target.is_dir():
            target.rmdir()
        try:
            new.rename(target)
        except OSError as error:
            check_new_folder(path)
            raise cannot_write(path, error) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
        recover_folder(target, keep=keep)


def recover_folder(path: str | os.PathLike[str], *, keep: bool = True) -> None:
    """End a change of places that was cut short: a folder that was to give way comes back, or goes when the
    files in it that the new one lacks have moved over (``keep``)."""
    target = Path(os.path.realpath(path))
    old = _old(target)
    if not old.is_dir() or old.is_symlink():
        return
    if not target.exists():
        old.rename(target)
        return
    for entry in old.iterdir() if keep else ():
        if not (target / entry.name).exists():
            entry.rename(target / entry.name)
    shutil.rmtree(old, ignore_errors=True)


def check_new_folder(path: str | os.PathLike[str]) -> None:
    """Raise where ``whole_folder`` would in the end: for who works long before there is anything to write."""
    target = Path(os.path.realpath(path))
    try:
        found = target.exists() and not (target.is_dir() and not any(target.iterdir()))
    except OSError as error:
        raise cannot_write(path, error) from error
    if found:
        raise DataError(f"{path}: exists already and is kept: choose another name, or remove it first")


def target_of(output: str | os.PathLike[str]) -> Path:
    """The file to write. A link stays a link: what it points to is replaced."""
    if not isinstance(output, (str, os.PathLike)):
        raise InputTypeError(f"a path to write to is a str or a Path, got {type(output).__name__}")
    refuse_standard_output(output)
    target = Path(output)
    if target.is_dir():
        raise DataError(f"{output}: is a directory: give the name of a file")
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def check_not_read(target: Path, output: str | os.PathLike[str], value: Any) -> None:
    """What is read must not be what is written over, by whatever name, or through a pipe."""
    stream = sys.stdin if isinstance(value, str) and value == STANDARD_OUTPUT else value
    is_path = isinstance(stream, (str, os.PathLike))
    if is_path and not value:  # which is the folder that we are in
        return
    try:
        read = Path(value).stat() if is_path else os.fstat(stream.fileno())
        same = target.exists() and os.path.samestat(read, target.stat())
        inside = is_path and stat.S_ISDIR(read.st_mode) and Path(value).resolve() in target.resolve().parents
    except (OSError, ValueError, AttributeError, TypeError):  # it is not there, or no file of the system
        return
    if inside:
        raise ParameterError(
            f"{output}: lies in the folder that is read, and would be taken for one of its files: choose "
            "a name outside of it"
        )
    if same and not stat.S_ISDIR(read.st_mode):
        raise ParameterError(f"{output}: is also an input, and would be overwritten: choose another name")


def cannot_write(path: str | os.PathLike[str], error: OSError) -> DiskError:
    """What the system says, about the file that the user named and not one beside it."""
    if isinstance(error, FileNotFoundError):
        return no_folder(path)
    if isinstance(error, PermissionError):
        return DiskError(f"{path}: permission denied")
    return DiskError(f"{path}: cannot be written: {error.strerror}")


def no_folder(path: str | os.PathLike[str]) -> DiskError:
    """That the folder of a file is not there, with the command that makes it."""
    folder = str(Path(path).parent)
    return DiskError(f"{path}: no such folder: {folder} (make it: mkdir -p {shlex.quote(folder)})")


def refuse_standard_output(path: object) -> None:
    """``-`` reads standard input everywhere, so a file of that name could not be read again."""
    if path == STANDARD_OUTPUT:
        raise ParameterError("-: this cannot be written to standard output: give the name of a file")


def _created(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


@contextmanager
def _flushed(descriptor: int, path: Path) -> Iterator[BinaryIO]:
    """An open file whose bytes are on the disk when the block ends; it is removed if that raises."""
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _old(target: Path) -> Path:
    """Where a folder is while another takes its place."""
    return target.with_name(f".{target.name}.evenrank-old")


def _compressed(raw: BinaryIO, suffix: str) -> Any:
    if suffix == ".gz":
        # no name and no time inside, so that equal content gives equal bytes
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
    if suffix == ".zst":
        try:
            import zstandard
        except ImportError as error:
            raise MissingExtraError.for_job("writing .zst", "zstandard", "zstd") from error
        return zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
    return nullcontext(raw)
