"""Rows of counts in blocks of 128, ordered by the hash of their id: a document is found by reading one block.

A block is a header (CRC of all that follows it, number of rows), records of one width (hash, tokens, tokens
of each group, where the id stands in the block and, if terms were counted, where those stand), then the ids,
then the terms with their counts. Blocks follow each other in the order of hashes; of each block the first
hash and its place in the file are kept apart, so that a look-up knows the block before it reads anything.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import UInt64s, ragged
from evenrank.errors import DataError
from evenrank.ids import offsets_of

ROWS = 128  # a block: of two groups about 5 KB, which a disk reads as fast as one byte
HEADER = np.dtype([("crc", "<u4"), ("rows", "<u4")])
PLACES = np.dtype([("hash", "<u8"), ("offset", "<u8")])

AGAIN = "make the index of the counts again (evenrank scan COUNTS)"

Records = npt.NDArray[np.void]


def record_dtype(groups: int, terms: bool) -> np.dtype[np.void]:
    fields: list[Any] = [("hash", "<u8"), ("length", "<i4"), ("groups", "<i4", (groups,))]
    fields += [("id_at", "<u4"), ("id_size", "<u4")]
    if terms:
        fields += [("terms_at", "<u4"), ("terms_size", "<u4")]
    return np.dtype(fields)


class TermLists(NamedTuple):
    """Row ``r`` has the entries from ``offsets[r]`` to ``offsets[r + 1]``."""

    offsets: npt.NDArray[np.int64]
    entries: npt.NDArray[np.int32]  # (entries, 2): place in the lexicon, count


def blocks_of(
    hashes: UInt64s,
    ids: pa.LargeStringArray,
    lengths: npt.NDArray[np.int32],
    groups: npt.NDArray[np.int32],
    terms: TermLists | None,
) -> Iterator[tuple[int, bytes]]:
    """The first hash of each block, and the block. The rows are in the order of their hashes."""
    dtype = record_dtype(groups.shape[1], terms is not None)
    records = np.zeros(len(hashes), dtype)
    offsets, buffer = offsets_of(ids), ids.buffers()[2]
    text = memoryview(buffer) if buffer is not None else memoryview(b"")
    firsts = np.arange(len(hashes)) // ROWS * ROWS  # of the block of each row
    sizes = np.minimum(firsts + ROWS, len(hashes)) - firsts
    begin = HEADER.itemsize + sizes * dtype.itemsize
    records["hash"], records["length"], records["groups"] = hashes, lengths, groups
    records["id_at"] = begin + offsets[:-1] - offsets[firsts]
    records["id_size"] = np.diff(offsets)
    if terms is not None:
        ends = np.minimum(firsts + ROWS, len(hashes))
        begin = begin + offsets[ends] - offsets[firsts]
        records["terms_at"] = begin + 8 * (terms.offsets[:-1] - terms.offsets[firsts])
        records["terms_size"] = np.diff(terms.offsets)
    for first in range(0, len(hashes), ROWS):
        last = min(first + ROWS, len(hashes))
        pieces: list[Any] = [records[first:last].tobytes(), text[int(offsets[first]) : int(offsets[last])]]
        if terms is not None:
            pieces.append(terms.entries[int(terms.offsets[first]) : int(terms.offsets[last])].tobytes())
        body = b"".join(pieces)
        yield (
            int(hashes[first]),
            np.array([(_crc(last - first, body), last - first)], HEADER).tobytes() + body,
        )


def _crc(rows: int, body: bytes | memoryview) -> int:
    return zlib.crc32(body, zlib.crc32(np.array(rows, "<u4").tobytes()))


class ReadBlocks:
    """Some blocks of one file, in their order, as they were read."""

    def __init__(self, name: str, groups: int, terms: bool) -> None:
        self._name, self._terms = name, terms
        self._dtype = record_dtype(groups, terms)
        self._blocks: list[memoryview] = []
        self._records: list[memoryview] = []
        self._sizes: list[int] = []  # rows of each block
        self.rows = 0

    def add(self, block: memoryview) -> None:
        if len(block) < HEADER.itemsize:
            raise self._damaged()
        header = np.frombuffer(block, HEADER, 1)[0]
        rows = int(header["rows"])
        body = block[HEADER.itemsize :]
        if _crc(rows, body) != int(header["crc"]) or rows * self._dtype.itemsize > len(body):
            raise self._damaged()
        self._blocks.append(block)
        self._records.append(body[: rows * self._dtype.itemsize])
        self._sizes.append(rows)
        self.rows += rows

    def table(self, hashes: UInt64s, schema: pa.Schema) -> pa.Table:
        """The rows whose hashes are among these, which are sorted, with the columns of a file of counts."""
        if not self._records:
            return schema.empty_table()
        records: Records = np.frombuffer(b"".join(self._records), self._dtype)
        own = np.ascontiguousarray(records["hash"])  # blocks are in their order, and so are their rows
        firsts = np.searchsorted(own, hashes, side="left")
        kept = ragged(firsts, np.searchsorted(own, hashes, side="right") - firsts)
        begins = np.cumsum([0, *(len(block) for block in self._blocks)])[:-1]
        owners = np.searchsorted(np.cumsum(self._sizes), kept, side="right")
        records = records[kept]
        content = np.frombuffer(b"".join(self._blocks), np.uint8)
        at = begins[owners] + records["id_at"]
        sizes = records["id_size"].astype(np.int64)
        columns = [
            pa.LargeStringArray.from_buffers(
                len(records),
                pa.py_buffer(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
                pa.py_buffer(content[ragged(at, sizes)].tobytes()),
            ),
            _integers(records["length"]),
            *(_integers(records["groups"][:, code]) for code in range(records["groups"].shape[1])),
        ]
        if self._terms:
            sizes = records["terms_size"].astype(np.int64)
            entries = content[ragged(begins[owners] + records["terms_at"], 8 * sizes)]
            pairs = np.frombuffer(entries.tobytes(), "<i4").reshape(-1, 2)
            edges = _integers(np.concatenate([[0], np.cumsum(sizes)]))
            columns += [pa.ListArray.from_arrays(edges, _integers(pairs[:, side])) for side in (0, 1)]
        return pa.table(columns, schema=schema)

    def _damaged(self) -> DataError:
        return DataError(f"{self._name}: is damaged: {AGAIN}")


def _integers(values: npt.NDArray[Any]) -> pa.Int32Array:
    numbers = np.ascontiguousarray(values, dtype=np.int32)
    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])
