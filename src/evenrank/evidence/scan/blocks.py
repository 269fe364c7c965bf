"""A file of lines in blocks that any thread can read on its own.

A line belongs to the block in which it begins. So blocks need nothing from each other, a scan can go on
at any of them, and a document may be longer than a block.
"""

from __future__ import annotations

import codecs
import threading
from bisect import bisect_right
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenrank.evidence.scan.counter import PADDING, Bytes
from evenrank.io.content_hash import piece_digest
from evenrank.io.ranges import ByteRanges, blocks_from, read_range

BLOCK = 1 << 23

_MORE = 512  # a line that goes on behind its block is fetched in steps, each twice the last
_NEWLINE = b"\n"


@dataclass(frozen=True)
class Block:
    """Whole lines: ``data[begin:end]``, followed by at least ``PADDING`` bytes of anything."""

    data: Bytes
    begin: int
    end: int
    offset: int  # where data[0] stands in the file
    bytes_read: int  # of the block; what a line has behind it belongs to the next one
    digest: bytes  # of these


class LineFile:
    """Positioned reads into one buffer a thread: a block is valid until its thread reads the next."""

    def __init__(self, file: ByteRanges, size: int = BLOCK) -> None:
        self.block_bytes = size
        self._file = file
        self._own = threading.local()
        self._counting = threading.Lock()
        self._counted = [(0, 0)]  # places in their order, and how many lines end before each
        self.bytes = file.size
        head = read_range(file, 0, min(file.size, len(codecs.BOM_UTF8)))
        self.starts_with_mark = head == codecs.BOM_UTF8

    def __len__(self) -> int:
        return -(-self.bytes // self.block_bytes)

    def close(self) -> None:
        self._file.close()

    def read(self, index: int) -> Block:
        """The lines that begin in block ``index``."""
        first = index * self.block_bytes
        last = min(first + self.block_bytes, self.bytes)
        offset = max(first - 1, 0)  # the byte before says whether a line begins with the block
        size = last - offset
        filled = min(size + self._file.along, self.bytes - offset)
        buffer = self._buffer(filled)
        self._fill(buffer, 0, filled, offset)
        own = last - first
        digest = piece_digest(memoryview(buffer)[first - offset : size])
        begin = 3 if index == 0 and self.starts_with_mark else 0
        if index > 0:
            begin = buffer.find(_NEWLINE, 0, size) + 1
            if not begin:  # one line from a block before covers it all
                return Block(np.frombuffer(buffer, np.uint8), 0, 0, offset, own, digest)
        end = size
        more = max(_MORE, self._file.along)
        while buffer[end - 1 : end] != _NEWLINE and offset + end < self.bytes:
            if end == filled:
                filled += min(more, self.bytes - offset - end)
                buffer = self._buffer(filled, buffer)
                self._fill(buffer, end, filled - end, offset + end)
                more *= 2
            found = buffer.find(_NEWLINE, end, filled)
            end = filled if found < 0 else found + 1
        return Block(np.frombuffer(buffer, np.uint8), begin, end, offset, own, digest)

    def first_line(self) -> bytes:
        """The first line that is not blank."""
        return self._first[0]

    def blank_lines(self) -> int:
        """How many there are before the first line that is not blank."""
        return self._first[1]

    def first_place(self) -> int:
        """At which byte the first line begins that is not blank."""
        return self._first[2]

    @cached_property
    def _first(self) -> tuple[bytes, int, int]:
        pieces: list[bytes] = []  # of one line
        blank = 0
        place = 3 if self.starts_with_mark else 0
        for block in blocks_from(self._file, place):
            begin = 0
            while (end := block.find(_NEWLINE, begin) + 1) > 0:
                pieces.append(bytes(block[begin:end]))
                if (line := b"".join(pieces)).strip():
                    return line, blank, place
                pieces, begin, blank, place = [], end, blank + 1, place + len(line)
            pieces.append(bytes(block[begin:]))
        rest = b"".join(pieces)
        return (rest if rest.strip() else b""), blank, place

    def lines_before(self, offset: int) -> int:
        """How many lines end before a byte. It reads the file up to there, from a place up to which it was
        counted before: it is for messages."""
        with self._counting:
            at = bisect_right(self._counted, offset, key=lambda known: known[0])
            begin, lines = self._counted[at - 1]
            if begin < offset:
                with closing(self._file.opened_again()) as file:
                    lines += sum(block.count(_NEWLINE) for block in blocks_from(file, begin, offset))
                self._counted.insert(at, (offset, lines))
            return lines

    def again(self, begin: int, length: int) -> bytes:
        """Some bytes of the file, read anew: for messages."""
        with closing(self._file.opened_again()) as file:
            return bytes(read_range(file, begin, length))

    def _buffer(self, size: int, old: bytearray | None = None) -> bytearray:
        """This thread's buffer, made larger if need be; what was in it stays."""
        own: bytearray | None = getattr(self._own, "buffer", None)
        if own is None or len(own) < size + PADDING:
            room = max(size, self.block_bytes + 64 * _MORE if old is None else 2 * len(old))
            grown = bytearray(room + PADDING)
            if old is not None:
                grown[: len(old)] = old
            self._own.buffer = own = grown
        return own

    def _fill(self, buffer: bytearray, at: int, size: int, offset: int) -> None:
        self._file.fill(memoryview(buffer)[at : at + size], offset)
