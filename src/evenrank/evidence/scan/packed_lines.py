"""Lines that can only be read from the beginning: of a compressed file, or of a file in a store.

One thread unpacks; where a block ends depends on the content alone, so that any thread can parse it, and a
scan that goes on finds the same blocks.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evenrank.evidence.scan.blocks import Block
from evenrank.evidence.scan.counter import PADDING
from evenrank.io.content_hash import StreamHash
from evenrank.io.source import Source

_NEWLINE = b"\n"


class PackedLines:
    """Blocks of whole lines, each at least ``size`` bytes long but for the last."""

    def __init__(self, source: Source, size: int) -> None:
        self.name = source.name
        self.block_bytes = size
        self.bytes = 0  # not known before the end
        self.hash = StreamHash()  # of what was read, as it lies in the file
        self._source = replace(source, watch=self.hash.add)
        self._pieces = self._source.blocks()
        self._held = bytearray()
        self._ended = False
        self._lines: dict[int, int] = {}  # how many lines end before a block, by its offset
        while len(self._held) < len(codecs.BOM_UTF8) and self._more():
            pass
        self.starts_with_mark = self._held.startswith(codecs.BOM_UTF8)

    def __len__(self) -> int:
        return 0

    def first_line(self) -> bytes:
        """The first line that is not blank."""
        begin = len(codecs.BOM_UTF8) if self.starts_with_mark else 0
        while True:
            end = self._held.find(_NEWLINE, begin)
            while end < 0:
                if not self._more():
                    return bytes(self._held[begin:])
                end = self._held.find(_NEWLINE, begin)
            line = bytes(self._held[begin : end + 1])
            if line.strip():
                return line
            begin = end + 1

    def blank_lines(self) -> int:
        """How many there are before the first line that is not blank."""
        return self._held.count(_NEWLINE, 0, self.first_place())

    def first_place(self) -> int:
        """At which byte the first line begins that is not blank."""
        first = self.first_line()
        return self._held.find(first) if first else len(self._held)

    def blocks(self) -> Iterator[Block]:
        """All blocks in their order. Each has a buffer of its own."""
        offset = lines = passed = 0
        while True:
            while len(self._held) < self.block_bytes and self._more():
                pass
            end = self._line_end(min(len(self._held), self.block_bytes) - 1)
            if not end:
                return
            data = np.frombuffer(self._held[:end] + bytes(PADDING), np.uint8)  # it may be written to
            del self._held[:end]
            begin = len(codecs.BOM_UTF8) if self.starts_with_mark and not offset else 0
            self._lines[offset + begin] = lines
            lines += int(np.count_nonzero(data[:end] == _NEWLINE[0]))
            yield Block(data, begin, end, offset, self.hash.bytes - passed, b"")
            passed = self.hash.bytes
            offset += end

    def lines_before(self, offset: int) -> int:
        """How many lines end before a block."""
        return self._lines[offset]

    def close(self) -> None:
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()
        if self._source.path is None and hasattr(self._source.stream, "close"):
            self._source.stream.close()

    def _line_end(self, begin: int) -> int:
        """Behind the first newline from a place on, or behind everything."""
        found = self._held.find(_NEWLINE, max(0, begin))
        while found < 0:
            searched = len(self._held)
            if not self._more():
                return len(self._held)
            found = self._held.find(_NEWLINE, searched)
        return found + 1

    def _more(self) -> bool:
        if self._ended:
            return False
        piece = next(self._pieces, None)
        if piece is None:
            self._ended = True
            return False
        self._held += piece
        return True
