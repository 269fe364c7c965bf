"""Bytes from any place of a file, by any thread: of a file here, or of one in a store."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Protocol

from evenrank.errors import DataError
from evenrank.files import regular_file
from evenrank.io.remote import open_ranges
from evenrank.io.source import MAGIC_LENGTH, has_packed_name, is_compressed

_HEAD = 1 << 12  # bytes that are read first where it is not known how many will be needed
_MOST = 1 << 22


class ByteRanges(Protocol):
    """A file of ``size`` bytes. ``along`` is how many bytes it is worth to read along with others, because
    to ask for them later costs more than to fetch them in vain."""

    size: int
    along: int

    def fill(self, into: memoryview, offset: int) -> None:
        """Fill a buffer from a place of the file."""
        ...

    def opened_again(self) -> ByteRanges:
        """The same file for whoever comes late, when this may have been closed."""
        ...

    def close(self) -> None: ...


class FileRanges:
    """A file of this machine, or of one that it sees as its own."""

    along = 0

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._file = regular_file(path).open("rb")
        self.size = os.fstat(self._file.fileno()).st_size

    def fill(self, into: memoryview, offset: int) -> None:
        while len(into):
            got = os.preadv(self._file.fileno(), [into], offset)
            if not got:
                raise shorter(self._name)
            into, offset = into[got:], offset + got

    def opened_again(self) -> FileRanges:
        return FileRanges(self._path, self._name)

    def close(self) -> None:
        self._file.close()


class RemoteRanges:
    """A file of a store: each call is one request, but for its beginning, which is asked for once."""

    along = 1 << 14

    def __init__(self, address: str) -> None:
        self._name = address
        opened = open_ranges(address)
        self._read, self._close, self.size = opened.read, opened.close, opened.size

    def fill(self, into: memoryview, offset: int) -> None:
        end = offset + len(into)
        into[:] = self._head[offset:end] if end <= _HEAD else self._asked(offset, len(into))

    @cached_property
    def _head(self) -> bytes:
        return self._asked(0, min(_HEAD, self.size))

    def _asked(self, offset: int, length: int) -> bytes:
        found = self._read(offset, length)
        if len(found) != length:
            raise shorter(self._name)
        return found

    def opened_again(self) -> RemoteRanges:
        return RemoteRanges(self._name)

    def close(self) -> None:
        self._close()


class RangeFile(io.RawIOBase):
    """A file for Arrow, which reads it from any place, one thread at a time."""

    def __init__(self, file: ByteRanges) -> None:
        super().__init__()
        self.file = file
        self._place = 0

    def at(self, begin: int, length: int) -> memoryview:
        return memoryview(read_range(self.file, begin, max(0, min(length, self.file.size - begin))))

    def read(self, size: int = -1) -> bytes:
        found = bytes(self.at(self._place, self.file.size - self._place if size < 0 else size))
        self._place += len(found)
        return found

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.file.size}[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def stored_ranges(address: str) -> RemoteRanges | None:
    """A file of a store that can be read from any place; None if it is packed."""
    if has_packed_name(address):
        return None
    file = RemoteRanges(address)
    if is_compressed(bytes(read_range(file, 0, min(MAGIC_LENGTH, file.size)))):
        file.close()
        return None
    return file


def read_range(file: ByteRanges, begin: int, length: int) -> bytearray:
    """Some bytes of a file."""
    found = bytearray(length)
    file.fill(memoryview(found), begin)
    return found


def blocks_from(file: ByteRanges, offset: int, end: int | None = None) -> Iterator[bytearray]:
    """What follows a place, a little of it at first."""
    step, end = _HEAD, file.size if end is None else min(end, file.size)
    while offset < end:
        yield read_range(file, offset, min(step, end - offset))
        offset, step = offset + step, min(4 * step, _MOST)


def shorter(name: str) -> DataError:
    return DataError(f"{name}: became shorter while it was read")
