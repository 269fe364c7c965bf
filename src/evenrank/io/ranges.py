"""Bytes from any place of a file, by any thread: of a file here, or of one in a store."""

from __future__ import annotations

import os
from pathlib import Path

from evenrank.errors import DataError
from evenrank.files import regular_file
from evenrank.io.remote import RemoteFile
from evenrank.io.source import MAGIC_LENGTH, Source, has_packed_name, is_compressed, is_packed


class LocalFile:
    """A file of this machine, or of one that it sees as its own."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._file = regular_file(path).open("rb", buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size

    def read_at(self, place: int, length: int) -> bytes:
        return os.pread(self._file.fileno(), length, place)

    def close(self) -> None:
        self._file.close()


AnyFile = LocalFile | RemoteFile


def ranges_of(source: Source, *, plain: bool = False) -> AnyFile | None:
    """A source that can be read from any place; None if it is packed, or no file. Of a file in a store that
    is not yet known to be ``plain`` the first bytes are asked for."""
    source.check()
    if source.path is not None:
        found = source.path.is_file() and not is_packed(source.path)
        return LocalFile(source.path, source.name) if found else None
    file = source.stream
    if not isinstance(file, RemoteFile) or has_packed_name(file.name):
        return None
    return file if plain or not is_compressed(file.read_at(0, MAGIC_LENGTH)) else None


def read_range(file: AnyFile, begin: int, length: int) -> bytes:
    """Some bytes of a file, all of which must be there."""
    found = file.read_at(begin, length)
    while len(found) < length:  # the system gives at most 2 GB at once
        more = file.read_at(begin + len(found), length - len(found))
        if not more:
            raise DataError(f"{file.name}: became shorter while it was read")
        found += more
    return found
