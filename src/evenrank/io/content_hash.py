"""The SHA-256 of every byte of a file, computed while the file is read.

Workers read stretches of a file in any order, so the hash of a file is that of the hashes of its blocks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evenrank.files import regular_file

PIECE = 1 << 23  # bytes of a block


def joined_digests(digests: Iterable[bytes]) -> str:
    """The hash of a content, from the digests of its blocks in their order."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


class StreamHash:
    """The digests of what passes by, in blocks of a fixed size however it comes."""

    def __init__(self, block: int = PIECE) -> None:
        self._block = block
        self._digests: list[bytes] = []
        self._current = hashlib.sha256()
        self._held = 0  # bytes of the current block
        self.bytes = 0

    def add(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        self.bytes += len(view)
        while len(view):
            own = view[: self._block - self._held]
            self._current.update(own)
            self._held, view = self._held + len(own), view[len(own) :]
            if self._held == self._block:
                self.end_block()

    def end_block(self) -> None:
        """What comes next belongs to another block."""
        if self._held:
            self._digests.append(self._current.digest())
            self._current, self._held = hashlib.sha256(), 0

    def digests(self) -> list[bytes]:
        """Of all that has passed."""
        self.end_block()
        return self._digests


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
            found = hashlib.sha256()
            for data in pieces_of(read, column_ranges(metadata, group, columns)):
                found.update(data)
            return found.digest()

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
