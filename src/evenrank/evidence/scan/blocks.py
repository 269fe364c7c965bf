"""A file of lines in blocks that any thread can read on its own.

A line belongs to the block in which it begins. So blocks need nothing from each other, a scan can go on
at any of them, and a document may be longer than a block.
"""

from __future__ import annotations

import codecs
import os
import threading
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np

from evenrank.errors import DataError
from evenrank.evidence.scan.counter import PADDING, Bytes
from evenrank.io.content_hash import piece_digest

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

    def __init__(self, path: Path, name: str, size: int = BLOCK) -> None:
        self.name = name
        self.block_bytes = size
        self._file = path.open("rb")
        self._own = threading.local()
        self.bytes = os.fstat(self._file.fileno()).st_size
        self.starts_with_mark = os.pread(self._file.fileno(), 3, 0) == codecs.BOM_UTF8

    def __len__(self) -> int:
        return -(-self.bytes // self.block_bytes)

    def close(self) -> None:
        self._file.close()

    def read(self, index: int) -> Block:
        """The lines that begin in block ``index``."""
        first = index * self.block_bytes
        last = min(first + self.block_bytes, self.bytes)
        offset = max(first - 1, 0)  # the byte before says whether a line begins with the block
        buffer, size = self._buffer(last - offset), last - offset
        self._fill(buffer, 0, size, offset)
        own = last - first
        digest = piece_digest(memoryview(buffer)[first - offset : size])
        begin = 3 if index == 0 and self.starts_with_mark else 0
        if index > 0:
            begin = buffer.find(_NEWLINE, 0, size) + 1
            if not begin:  # one line from a block before covers it all
                return Block(np.frombuffer(buffer, np.uint8), 0, 0, offset, own, digest)
        end = size
        more = _MORE
        while buffer[end - 1 : end] != _NEWLINE and offset + end < self.bytes:
            step = min(more, self.bytes - offset - end)
            buffer = self._buffer(end + step, buffer)
            self._fill(buffer, end, step, offset + end)
            found = buffer.find(_NEWLINE, end, end + step)
            end = end + step if found < 0 else found + 1
            more *= 2
        return Block(np.frombuffer(buffer, np.uint8), begin, end, offset, own, digest)

    def first_line(self) -> bytes:
        """The first line that is not blank."""
        with os.fdopen(os.dup(self._file.fileno()), "rb") as file:
            file.seek(3 if self.starts_with_mark else 0)
            return next((line for line in file if line.strip()), b"")

    def blank_lines(self) -> int:
        """How many there are before the first line that is not blank."""
        with os.fdopen(os.dup(self._file.fileno()), "rb") as file:
            file.seek(3 if self.starts_with_mark else 0)
            return sum(1 for _ in takewhile(lambda line: not line.strip(), file))

    def lines_before(self, offset: int) -> int:
        """How many lines end before a byte. It reads the file up to there: it is for messages."""
        lines = 0
        with os.fdopen(os.dup(self._file.fileno()), "rb") as file:
            file.seek(0)
            while offset > 0 and (piece := file.read(min(offset, 1 << 22))):
                lines += piece.count(_NEWLINE)
                offset -= len(piece)
        return lines

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
        view = memoryview(buffer)
        while size:
            got = os.preadv(self._file.fileno(), [view[at : at + size]], offset)
            if not got:
                raise DataError(f"{self.name}: became shorter while it was read")
            at, size, offset = at + got, size - got, offset + got
