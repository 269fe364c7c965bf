"""The SHA-256 of every byte of a file, computed while the file is read.

Threads read blocks of a file in any order, so the hash of a file is that of the hashes of its blocks.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evenrank.files import regular_file

PIECE = 1 << 23  # of a file that is read as one stream


def piece_digest(data: Any) -> bytes:
    """The digest of some bytes: anything with a buffer."""
    return hashlib.sha256(data).digest()


def joined_digests(digests: Iterable[bytes]) -> str:
    """The hash of a content, from the digests of its pieces in their order."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


class StreamHash:
    """The digests of what passes by, in pieces of a fixed size however it comes."""

    def __init__(self) -> None:
        self._digests: list[bytes] = []
        self._current = hashlib.sha256()
        self.bytes = 0

    def add(self, data: bytes) -> None:
        view = memoryview(data)
        while len(view):
            own = view[: PIECE - self.bytes % PIECE]
            self._current.update(own)
            self.bytes += len(own)
            view = view[len(own) :]
            if not self.bytes % PIECE:
                self._digests.append(self._current.digest())
                self._current = hashlib.sha256()

    def digests(self) -> list[bytes]:
        """Of all that has passed so far."""
        return [*self._digests, *([self._current.digest()] if self.bytes % PIECE else [])]


def hash_of_file(path: Path, piece: int = PIECE) -> str:
    """The hash of a whole file that was read in pieces of so many bytes."""
    with regular_file(path).open("rb") as file:
        return joined_digests(map(piece_digest, iter(partial(file.read, piece), b"")))


def hash_of_columns(path: Path, columns: Sequence[str]) -> str:
    """The hash of some columns of a Parquet file, as they lie in it, group of rows by group.

    Groups without rows do not count, since nothing of them is read.
    """
    import pyarrow.parquet

    with regular_file(path).open("rb") as raw, pyarrow.parquet.ParquetFile(raw) as file:
        read = reader_of(raw.fileno())
        return joined_digests(
            digest_of_ranges(read, column_ranges(file.metadata, group, columns))
            for group in range(file.metadata.num_row_groups)
            if file.metadata.row_group(group).num_rows
        )


def column_ranges(metadata: Any, group: int, columns: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the columns of a group of rows lie in a Parquet file: (begin, length).

    A column of a group without rows may lie nowhere.
    """
    about = metadata.row_group(group)
    for place in range(about.num_columns):
        column = about.column(place)
        if column.path_in_schema.partition(".")[0] in columns:
            starts = [start for start in (column.data_page_offset, column.dictionary_page_offset) if start]
            if starts:
                yield min(starts), column.total_compressed_size


def reader_of(descriptor: int) -> Callable[[int, int], bytes]:
    """A function of a place and a length that gives the bytes of an open file there."""
    return lambda begin, length: os.pread(descriptor, length, begin)


def digest_of_ranges(read: Callable[[int, int], Any], ranges: Iterable[tuple[int, int]]) -> bytes:
    """One digest of several stretches of a file; ``read`` gives some bytes from a place on."""
    digest = hashlib.sha256()
    for begin, length in ranges:
        for start in range(begin, begin + length, PIECE):
            digest.update(read(start, min(PIECE, begin + length - start)))
    return digest.digest()
