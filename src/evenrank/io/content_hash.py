"""A hash of every byte of a file, cheap enough to be computed while the file is read.

A cryptographic hash reads a gigabyte a second, which would double the time of a scan. Here the bytes go in
chunks of 8 KiB through NH, the sum of products that UMAC is built on (Black et al., 1999, "UMAC: fast and
secure message authentication"): with a key of the chunk's length, two chunks that differ have equal sums with
a chance of at most 2**-32, and here there are two sums with different keys, so 2**-64. The sums of a piece of
a file go through BLAKE2b, and those of all pieces through SHA-256. It tells contents apart that differ by
accident or by an edit; it is no protection against somebody who knows the key and looks for a collision.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.files import regular_file
from evenrank.io.background import is_uncompiled

Words = npt.NDArray[np.uint64]

DIGEST_BYTES = 16
PIECE = 1 << 23  # of a file that is read as one stream

WORDS = 1024  # of 64 bits, a chunk
_CHUNK = 8 * WORDS
_LARGE = 1 << 22  # bytes that are worth a kernel
_KERNEL = "evenrank.io.content_hash_kernel"
SHIFT = 4  # of the second key, which is the first moved on: as UMAC has it
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def piece_digest(data: Any) -> bytes:
    """The digest of some bytes: anything with a buffer.

    >>> piece_digest(b"some text").hex() == piece_digest(bytearray(b"some text")).hex()
    True
    >>> piece_digest(b"ab" * 8) == piece_digest(b"ba" * 8)
    False
    """
    view = memoryview(data).cast("B")
    whole = len(view) // _CHUNK * _CHUNK
    digest = hashlib.blake2b(len(view).to_bytes(8, "little"), digest_size=DIGEST_BYTES)
    if whole:
        digest.update(_sums(view[:whole]).tobytes())
    if whole < len(view):
        digest.update(_sums(bytes(view[whole:]).ljust(_CHUNK, b"\0")).tobytes())
    return digest.digest()


def joined_digests(digests: Iterable[bytes]) -> str:
    """The hash of a content, from the digests of its pieces in their order."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


class StreamHash:
    """The digests of what passes by, in pieces of a fixed size however it comes."""

    def __init__(self, piece: int = PIECE) -> None:
        self._piece = piece
        self._held = bytearray()
        self._digests: list[bytes] = []
        self.bytes = 0

    def add(self, data: bytes) -> None:
        self.bytes += len(data)
        self._held += data
        while len(self._held) >= self._piece:
            self._digests.append(piece_digest(bytes(memoryview(self._held)[: self._piece])))
            del self._held[: self._piece]

    def digests(self) -> list[bytes]:
        return [*self._digests, *([piece_digest(bytes(self._held))] if self._held else [])]


def hash_of_file(path: Path, piece: int = PIECE) -> str:
    """The hash of a whole file that was read in pieces of so many bytes."""
    with regular_file(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        places = ((begin, min(piece, size - begin)) for begin in range(0, size, piece))
        return joined_digests(digest_of_range(file.fileno(), begin, length) for begin, length in places)


def hash_of_columns(path: Path, columns: Sequence[str]) -> str:
    """The hash of some columns of a Parquet file, as they lie in it, group of rows by group.

    Groups without rows do not count, since nothing of them is read.
    """
    import pyarrow.parquet

    with regular_file(path).open("rb") as raw, pyarrow.parquet.ParquetFile(raw) as file:
        return joined_digests(
            digest_of_ranges(
                partial(digest_of_range, raw.fileno()), column_ranges(file.metadata, group, columns)
            )
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


def digest_of_ranges(digest: Callable[[int, int], bytes], ranges: Iterable[tuple[int, int]]) -> bytes:
    """One digest of several stretches of a file; ``digest`` gives that of some bytes from a place on."""
    return hashlib.blake2b(
        b"".join(
            digest(start, min(PIECE, begin + length - start))
            for begin, length in ranges
            for start in range(begin, begin + length, PIECE)
        ),
        digest_size=DIGEST_BYTES,
    ).digest()


def digest_of_range(descriptor: int, begin: int, length: int) -> bytes:
    """The digest of a stretch of a file; of what there is of it where the file has become shorter."""
    buffer, filled = bytearray(length), 0
    while filled < length:
        got = os.preadv(descriptor, [memoryview(buffer)[filled:]], begin + filled)
        if not got:
            break
        filled += got
    return piece_digest(memoryview(buffer)[:filled])


@lru_cache(maxsize=1)
def _key() -> Words:
    return np.frombuffer(hashlib.shake_128(b"evenrank content").digest(8 * (WORDS + SHIFT)), "<u8")


@lru_cache(maxsize=1)
def _is_fast() -> bool:
    return find_spec("numba") is not None


def _use_kernel(size: int) -> bool:
    """Little is summed by numpy before a kernel could be loaded."""
    return (_KERNEL in sys.modules or (size >= _LARGE and _is_fast())) and not is_uncompiled()


def _sums(data: memoryview | bytes) -> Words:
    """(chunks, 2): for each key the sum of (low half + key) * (high half + key), modulo 2**64."""
    words: Words = np.frombuffer(data, "<u8").reshape(-1, WORDS)
    sums: Words = np.empty((len(words), 2), "<u8")
    if _use_kernel(words.nbytes):
        from evenrank.io.content_hash_kernel import chunk_sums

        flat = words.reshape(-1)
        flat.flags.writeable = False  # whatever it lies in, the type is the same: it is compiled once
        chunk_sums(flat, _key(), sums)
    else:
        simple_sums(words, _key(), sums)
    return sums


def simple_sums(words: Words, key: Words, sums: Words) -> None:
    """What the kernel must equal, and what runs where numba is absent."""
    for column, own in enumerate((key[:WORDS], key[SHIFT : SHIFT + WORDS])):
        for begin in range(0, len(words), 64):  # what is worked on stays in the cache
            chunk = words[begin : begin + 64]
            low = (chunk + own) & _LOW  # a carry into the high half is cut off
            high = ((chunk >> _HALF) + (own >> _HALF)) & _LOW
            sums[begin : begin + 64, column] = (low * high).sum(axis=1, dtype=np.uint64)
