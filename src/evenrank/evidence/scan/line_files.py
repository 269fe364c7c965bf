"""Files of lines, and TSV: every thread reads and splits its own blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Int64s
from evenrank.errors import DataError
from evenrank.evidence.scan.blocks import Block, LineFile
from evenrank.evidence.scan.counter import Bytes, Texts
from evenrank.evidence.scan.documents import DocumentBatch, Fetch
from evenrank.io.cells import checked_ids
from evenrank.io.collections import Stretch
from evenrank.io.document_lines import LineBlock, bad_tsv_lines
from evenrank.io.ranges import ByteRanges
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import warn_of_bom

_NEWLINE = 10

Split = Callable[[Bytes, int, int], tuple[Int64s, Int64s, Int64s]]


class LineCollection:
    """A file of lines. ``_documents`` says what the lines of a block are."""

    def __init__(self, file: ByteRanges, name: str, block_bytes: int) -> None:
        self.name = name
        self._file = LineFile(file, block_bytes)

    @property
    def about_hash(self) -> Mapping[str, Any]:
        return {"block": self._file.block_bytes}

    def digests(self) -> list[bytes]:
        return []

    def pieces(self, first: int = 0, last: int | None = None) -> Iterator[Fetch]:
        for index in range(first, len(self._file) if last is None else last):
            yield partial(self._fetch, index)

    def stretches(self, size: int) -> list[Stretch]:
        step = max(1, size // self._file.block_bytes)
        edges = range(0, len(self._file), step)
        pieces = ((first, min(first + step, len(self._file))) for first in edges)
        block, end = self._file.block_bytes, self._file.bytes
        return [Stretch(first, last, min(last * block, end) - first * block) for first, last in pieces]

    def _fetch(self, index: int) -> DocumentBatch:
        return self._documents(self._block(index))

    def _block(self, index: int) -> Block:
        block = self._file.read(index)
        if block.offset == 0 and block.begin and self._file.starts_with_mark:
            warn_of_bom(self.name)
        return block

    def _documents(self, block: Block) -> DocumentBatch:
        raise NotImplementedError

    def close(self) -> None:
        self._file.close()

    def _line(self, block: Block, place: int) -> int:
        """The number of the line that holds a place of the block."""
        return self._file.lines_before(block.offset + place) + 1


class TsvCollection(LineCollection):
    """``id``, a tab, the text, which is the rest of the line. Nothing of the text is copied."""

    def __init__(self, file: ByteRanges, name: str, block_bytes: int, *, fast: bool) -> None:
        super().__init__(file, name, block_bytes)
        self._split: Split = _split_fast if fast else _split_simple
        self._gather = gather_fast if fast else _gather_simple

    def _documents(self, block: Block) -> DocumentBatch:
        starts, tabs, ends = self._split(block.data, block.begin, block.end)
        if np.any(tabs <= starts):  # -1 where there is no tab
            raise self._bad_lines(block)
        try:
            ids = self._gather(block.data, starts, tabs)
        except pa.ArrowInvalid as error:
            raise self._bad_lines(block) from error
        self._check_ids(ids, block, starts)
        texts = Texts(block.data, tabs + 1, ends)
        return DocumentBatch(
            ids, texts, block.bytes_read, lambda texts, rows: self._bad_lines(block), block.digest
        )

    def _check_ids(self, ids: pa.LargeStringArray, block: Block, starts: Int64s) -> None:
        report = RowProblems(self.name)
        checked_ids(ids, "id", report)
        if report.found:
            newlines = block.begin + np.flatnonzero(block.data[block.begin : block.end] == _NEWLINE)
            first = self._line(block, block.begin)
            report.lines = (first + np.searchsorted(newlines, starts)).tolist()
        report.check()

    def _bad_lines(self, block: Block) -> DataError:
        """All that is wrong with the lines of a block, whatever it is."""
        lines, place = bytes(block.data[block.begin : block.end]), block.offset + block.begin
        first = self._file.lines_before(place) + 1
        return DataError.listing(self.name, bad_tsv_lines(LineBlock(lines, first, place)))


def line_ends(data: Bytes, begin: int, end: int) -> Int64s:
    """Where the lines of ``data[begin:end]`` end: at a newline, or at the end if the last one has none."""
    from evenrank.evidence.scan.lines import find_newlines

    newlines = np.empty((end - begin) // 128 + 16, np.int64)
    found = find_newlines(data, begin, end, newlines)
    if found >= len(newlines):  # shorter lines than most have
        newlines = np.empty(found + 1, np.int64)
        find_newlines(data, begin, end, newlines)
    if end > begin and data[end - 1] != _NEWLINE:
        newlines[found] = end
        found += 1
    return newlines[:found]


def _split_fast(data: Bytes, begin: int, end: int) -> tuple[Int64s, Int64s, Int64s]:
    from evenrank.evidence.scan.lines import cut_lines

    newlines = line_ends(data, begin, end)
    starts, tabs, ends = (np.empty(len(newlines), np.int64) for _ in range(3))
    lines = cut_lines(data, begin, newlines, starts, tabs, ends)
    return starts[:lines], tabs[:lines], ends[:lines]


def _split_simple(data: Bytes, begin: int, end: int) -> tuple[Int64s, Int64s, Int64s]:
    rows = []
    start = begin
    for line in bytes(data[begin:end]).split(b"\n"):
        content = line.removesuffix(b"\r")
        if content:
            tab = content.find(b"\t")
            rows.append((start, start + tab if tab >= 0 else -1, start + len(content)))
        start += len(line) + 1
    edges = np.array(rows, np.int64).reshape(-1, 3)
    return edges[:, 0].copy(), edges[:, 1].copy(), edges[:, 2].copy()


def gather_fast(data: Bytes, starts: Int64s, ends: Int64s) -> pa.LargeStringArray:
    from evenrank.evidence.scan.lines import gather

    offsets = _offsets(starts, ends)
    out = np.empty(int(offsets[-1]) + 8, np.uint8)
    is_ascii = gather(data, starts, ends, offsets, out)
    ids = pa.LargeStringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(out))
    if not is_ascii:
        ids.validate(full=True)
    return ids


def _gather_simple(data: Bytes, starts: Int64s, ends: Int64s) -> pa.LargeStringArray:
    pieces = [bytes(data[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    ids = pa.LargeStringArray.from_buffers(
        len(starts), pa.py_buffer(_offsets(starts, ends)), pa.py_buffer(b"".join(pieces))
    )
    ids.validate(full=True)
    return ids


def _offsets(starts: Int64s, ends: Int64s) -> Int64s:
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    return offsets
