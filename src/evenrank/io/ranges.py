"""Bytes from any place of a file, by any thread: of a file here, or of one in a store."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from pathlib import Path

from evenrank.errors import DataError
from evenrank.files import regular_file
from evenrank.io.remote import RemoteFile, open_ranges
from evenrank.io.source import MAGIC_LENGTH, Source, has_packed_name, is_compressed, is_packed

_HEAD = 1 << 12  # bytes of the beginning of a file in a store, which many ask for and few need more of


class FileRanges:
    """A file of this machine, or of one that it sees as its own."""

    along = 0  # bytes that it is worth to read along with others, since to ask for them later costs more

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        self._file = regular_file(path).open("rb")
        self.size = os.fstat(self._file.fileno()).st_size

    def fill(self, into: memoryview, offset: int) -> None:
        while len(into):
            got = os.preadv(self._file.fileno(), [into], offset)
            if not got:
                raise _shorter(self._name)
            into, offset = into[got:], offset + got

    def hold(self, ranges: Iterable[tuple[int, int]]) -> None:
        """The system holds them."""

    def close(self) -> None:
        self._file.close()


class StoreRanges:
    """A file of a store: each call is one request, but for stretches that are held."""

    along = 1 << 14

    def __init__(self, address: str) -> None:
        self._name = address
        opened = open_ranges(address)
        self._read, self._close, self.size = opened.read, opened.close, opened.size
        self._held: dict[int, bytes] = {}

    def fill(self, into: memoryview, offset: int) -> None:
        end = offset + len(into)
        if end <= min(_HEAD, self.size) and 0 not in self._held:
            self._held[0] = self._asked(0, min(_HEAD, self.size))
        for begin, held in self._held.items():
            if begin <= offset and end <= begin + len(held):
                into[:] = held[offset - begin : end - begin]
                return
        into[:] = self._asked(offset, len(into))

    def hold(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Fetch stretches that will be read, and no longer hold others; those that touch are one request."""
        joined: list[tuple[int, int]] = []
        for begin, length in sorted(ranges):
            if joined and sum(joined[-1]) == begin:
                begin, length = joined[-1][0], joined.pop()[1] + length
            joined.append((begin, length))
        self._held = {}
        self._held = {begin: self._asked(begin, length) for begin, length in joined}

    def _asked(self, offset: int, length: int) -> bytes:
        found = self._read(offset, length)
        if len(found) != length:
            raise _shorter(self._name)
        return found

    def close(self) -> None:
        self._close()


ByteRanges = FileRanges | StoreRanges


class RangeFile(io.RawIOBase):
    """A file for Arrow, which reads it from any place, one thread at a time."""

    def __init__(self, file: ByteRanges) -> None:
        super().__init__()
        self._file, self._place = file, 0

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._file.size - self._place)
        found = bytes(read_range(self._file, self._place, left if size < 0 else min(size, left)))
        self._place += len(found)
        return found

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + (0, self._place, self._file.size)[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def ranges_of(source: Source) -> ByteRanges | None:
    """A source that can be read from any place; None if it is packed, or no file."""
    source.check()
    if source.path is not None:
        plain = source.path.is_file() and not is_packed(source.path)
        return FileRanges(source.path, source.name) if plain else None
    if not isinstance(source.stream, RemoteFile) or has_packed_name(source.stream.name):
        return None
    file = StoreRanges(source.stream.name)
    if is_compressed(bytes(read_range(file, 0, min(MAGIC_LENGTH, file.size)))):
        file.close()
        return None
    return file


def read_range(file: ByteRanges, begin: int, length: int) -> bytearray:
    """Some bytes of a file."""
    found = bytearray(length)
    file.fill(memoryview(found), begin)
    return found


def _shorter(name: str) -> DataError:
    return DataError(f"{name}: became shorter while it was read")
