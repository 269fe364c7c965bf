"""Writing a file so that it is either whole or not there."""

from __future__ import annotations

import gzip
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from evenrank.errors import DataError, InputTypeError, MissingExtraError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of ``path`` when the block ends, and vanishes if it raises.

    The bytes go to a temporary file in the same folder, are flushed to disk, and are then moved over
    ``path`` in one step. An existing file keeps its permissions, a new one gets those of the umask.
    Names that end in ``.gz`` or ``.zst`` are compressed. What is no regular file (``/dev/stdout``, a
    pipe) is written directly, since it cannot be replaced.
    """
    target = _target(path)
    compress = target.suffix if target.suffix in (".gz", ".zst") else None
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and stat.S_ISDIR(mode):
        raise DataError(f"{path}: is a directory, give a file name")
    try:
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as direct, _compressed(direct, compress) as file:
                yield file
            return
        temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
        )
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such folder: {target.parent}") from error
    except PermissionError as error:
        raise DataError(f"{path}: permission denied") from error
    try:
        with os.fdopen(descriptor, "wb") as raw:
            with _compressed(raw, compress) as file:
                yield file
            raw.flush()
            os.fsync(raw.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _target(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"a path to write to is a str or a Path, got {type(path).__name__}")
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
