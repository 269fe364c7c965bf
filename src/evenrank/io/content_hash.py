"""The SHA-256 of every byte of a file, computed while the file is read.

Workers read stretches of a file in any order, so the hash of a file is that of the hashes of its blocks.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

from evenrank.files import regular_file

PIECE = 1 << 23  # bytes of a block
_AHEAD = 2  # blocks of a stretch that wait for their digests


def joined_digests(digests: Iterable[bytes]) -> str:
    """The hash of a content, from the digests of its blocks in their order."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


class StreamHash:
    """The digests of what passes by, in blocks of a fixed size however it comes. Other threads compute them,
    while whoever reads goes on: what passes by must not be changed."""

    def __init__(self, block: int = PIECE) -> None:
        self._block = block
        self._digests: list[Future[bytes]] = []
        self._held: list[memoryview] = []  # of the block that is not whole
        self._room = block
        self.bytes = 0

    def add(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        self.bytes += len(view)
        while len(view):
            own, view = view[: self._room], view[self._room :]
            self._held.append(own)
            self._room -= len(own)
            if not self._room:
                self._end_block()

    def add_block(self, pieces: Iterable[Any], size: int) -> None:
        """What is a block of its own, of whatever size. ``pieces`` may be read by another thread."""
        self.bytes += size
        self._digests.append(_threads_of(os.getpid()).submit(digest_of, pieces))
        if len(self._digests) > _AHEAD:
            self._digests[-_AHEAD].result()  # no more are in memory

    def _end_block(self) -> None:
        self.add_block(self._held, 0)
        self._held, self._room = [], self._block

    def digests(self) -> list[bytes]:
        """Of all that has passed."""
        if self._held:
            self._end_block()
        return [digest.result() for digest in self._digests]


@cache
def _threads_of(process: int) -> ThreadPoolExecutor:
    """A process that was forked has none of the threads of the other."""
    return ThreadPoolExecutor(thread_name_prefix="digest")


def digest_of(pieces: Iterable[Any]) -> bytes:
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.digest()


def hash_of_file(path: Path, piece: int = PIECE) -> str:
    """The hash of a whole file in blocks of so many bytes."""
    with regular_file(path).open("rb") as file:
        blocks = iter(partial(file.read, piece), b"")
        return joined_digests(hashlib.sha256(block).digest() for block in blocks)


def hash_of_columns(path: Path, columns: Sequence[str]) -> str:
    """The hash of some columns of a Parquet file, as they lie in it, group of rows by group.

    Groups without rows do not count, since nothing of them is read.
    """
    import pyarrow.parquet

    with regular_file(path).open("rb") as raw, pyarrow.parquet.ParquetFile(raw) as file:
        metadata = file.metadata

        def read(begin: int, length: int) -> bytes:
            raw.seek(begin)
            return raw.read(length)

        def digest(group: int) -> bytes:
            return digest_of(pieces_of(read, column_ranges(metadata, group, columns)))

        groups = range(metadata.num_row_groups)
        return joined_digests(digest(group) for group in groups if metadata.row_group(group).num_rows)


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


def pieces_of(read: Callable[[int, int], Any], ranges: Iterable[tuple[int, int]]) -> Iterator[Any]:
    """Stretches of a file, some megabytes at a time; ``read`` gives some bytes from a place on."""
    for begin, length in ranges:
        for start in range(begin, begin + length, PIECE):
            yield read(start, min(PIECE, begin + length - start))
