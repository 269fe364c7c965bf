"""Writing a file so that it is either whole or not there."""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from evenrank.errors import DataError, DiskError, InputTypeError, MissingExtraError, ParameterError

STANDARD_OUTPUT = "-"
TEMPORARY = r"\.{name}\.evenrank-[0-9a-f]+\.tmp"
"""What the temporary file of ``name`` is called, as a regular expression."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of ``path`` when the block ends, and vanishes if it raises.

    The bytes go to a temporary file in the same folder, are flushed to disk, and are then moved over
    ``path`` in one step. An existing file keeps its permissions, a new one gets those of the umask.
    Names that end in ``.gz`` or ``.zst`` are compressed. What is no regular file (``/dev/stdout``, a
    pipe) is written directly, since it cannot be replaced. The temporary file of a process that was killed
    serves the next one that writes the same file.
    """
    target = _target(path)
    compress = target.suffix if target.suffix in (".gz", ".zst") else None
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and stat.S_ISDIR(mode):
        raise DataError(f"{path}: is a directory: give the name of a file")
    try:
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as direct, _compressed(direct, compress) as file:
                yield file
            return
        temporary, descriptor = _temporary(target)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise cannot_write(path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as raw:
            with _compressed(raw, compress) as file:
                yield file
            raw.flush()
            os.fsync(raw.fileno())
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            if os.name == "nt":  # where an open file cannot be moved; elsewhere its lock is held till then
                raw.close()
            temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary)) and error.errno:
            raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error
        raise


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


def _temporary(target: Path) -> tuple[Path, int]:
    """A new file beside the target, or one that a dead process has left there, locked and empty."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return _fresh(target)
    for number in range(100):  # others may be writing the same file
        path = _named(target, f"{number:x}")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError:
            if not os.path.lexists(path):
                raise
            continue  # somebody else's, or a link
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and _is_at(descriptor, path):
                os.ftruncate(descriptor, 0)
                return path, descriptor
        except OSError as error:
            if error.errno in _NO_LOCKS:
                os.close(descriptor)
                break
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # in use, or moved to its place just now
    return _fresh(target)


def _fresh(target: Path) -> tuple[Path, int]:
    path = _named(target, secrets.token_hex(6))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return path, os.open(path, flags, 0o666)


def _named(target: Path, mark: str) -> Path:
    return target.with_name(f".{target.name[:100]}.evenrank-{mark}.tmp")


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _target(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"a path to write to is a str or a Path, got {type(path).__name__}")
    refuse_standard_output(path)
    # a link stays a link: what it points to is replaced
    return Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)


@contextmanager
def _compressed(raw: BinaryIO, suffix: str | None) -> Iterator[BinaryIO]:
    if suffix is None:
        yield raw
    elif suffix == ".gz":
        # no name and no time inside, so that equal content gives equal bytes
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast(BinaryIO, packed)
    else:
        try:
            import zstandard
        except ImportError as error:
            raise MissingExtraError.for_job("writing .zst", "zstandard", "zstd") from error
        with zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as packed:
            yield packed
