"""A file that grows by whole frames: what a process that was killed had written can be told from the rest.

A frame is a header (what it is, its number, its size, the sum of its content) and the content. Frames are
only added. Nothing is forced to the disk: a process that is killed leaves all it wrote to the system, and
after a loss of power the sum tells a frame that never reached the disk. Reading ends at the first frame
that is not whole; what stands behind it is cut off.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

_MARK = b"part"
_HEADER = struct.Struct("<4sQQQ")


class Frame(NamedTuple):
    number: int
    offset: int  # of the content
    size: int


class Journal:
    """``frames`` are those that were there when it was opened, by their number. Threads may add at will."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        self._file: BinaryIO = os.fdopen(descriptor, "r+b", buffering=0)
        self.frames = {frame.number: frame for frame in whole_frames(self._file)}
        self._end = max((frame.offset + frame.size for frame in self.frames.values()), default=0)
        self._file.truncate(self._end)

    def add(self, number: int, content: pa.Buffer) -> None:
        header = _HEADER.pack(_MARK, number, content.size, _sum(number, content))
        with self._lock:
            try:
                self._file.seek(self._end)
                for piece in (memoryview(header), memoryview(content)):
                    while len(piece):  # a write may take less than it is given
                        piece = piece[self._file.write(piece) :]
            except BaseException:
                with suppress(OSError):
                    self._file.truncate(self._end)  # the disk is full: half a frame helps nobody
                raise
            self._end += len(header) + content.size

    def read(self, number: int) -> pa.Buffer:
        frame = self.frames[number]
        with self._lock:
            self._file.seek(frame.offset)
            return pa.py_buffer(_read(self._file, frame.size))

    def close(self) -> None:
        self._file.close()


def whole_frames(file: BinaryIO) -> Iterator[Frame]:
    """All frames from the first on that are complete and have the right sum."""
    file.seek(0)
    while len(header := _read(file, _HEADER.size)) == _HEADER.size:
        mark, number, size, total = _HEADER.unpack(header)
        offset = file.tell()
        if mark != _MARK or offset + size > os.fstat(file.fileno()).st_size:
            return
        if _sum(number, _read(file, size)) != total:
            return
        yield Frame(number, offset, size)


def _read(file: BinaryIO, size: int) -> bytes:
    pieces = []
    while size and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _sum(number: int, content: pa.Buffer | bytes) -> int:
    """Of the frame as 64-bit numbers. A block that is lost is zeros, which a sum does not miss."""
    whole = len(content) // 8 * 8
    numbers = np.frombuffer(content, "<u8", whole // 8)
    rest = int.from_bytes(bytes(memoryview(content)[whole:]), "little")
    return (number + len(content) + int(numbers.sum(dtype=np.uint64)) + rest) % (1 << 64)
