"""A file that grows by whole frames: what a process that was killed had written can be told from the rest.

A frame is a header and the content. The header holds a mark, the CRC of the header, that of the content, the
number of the frame, the size of its content, and a digest of what the content was made from. The header's CRC
begins with the ``key`` of the journal, so that frames of another journal are not taken for its own. Frames
are only added.
Nothing is forced to the disk: a process that is killed leaves all it wrote to the system, and after a loss
of power the CRC tells a frame that never reached the disk. Reading ends at the first frame that is not whole;
what stands behind it is cut off. A frame that was cut short is what a kill leaves; anything else is damage.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from evenrank.io.content_hash import DIGEST_BYTES

FRAME_MARK = b"evr2"
_BEGIN = struct.Struct("<4sI")
_ABOUT = struct.Struct(f"<QQQ{DIGEST_BYTES}s")  # the content's CRC, number, size, digest
_HEADER = _BEGIN.size + _ABOUT.size


class JournalEntry(NamedTuple):
    number: int
    offset: int  # of the content
    size: int
    digest: bytes


class Journal:
    """``frames`` are those that were there when it was opened, by their number. Threads may add at will.

    ``damaged`` says that something stood behind them which no kill leaves.
    """

    def __init__(self, path: Path, key: bytes = b"") -> None:
        self._lock = threading.Lock()
        self._key = zlib.crc32(key)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
        self._file: BinaryIO = os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0)
        found = list(whole_frames(self._file, key))
        self.frames = {frame.number: frame for frame in found}
        self._end = max((frame.offset + frame.size for frame in found), default=0)
        self.damaged = not _is_cut_frame(self._file, self._end, self._key)
        self._file.truncate(self._end)

    def add(self, number: int, content: pa.Buffer, digest: bytes = b"") -> None:
        about = _ABOUT.pack(zlib.crc32(content), number, content.size, digest)  # padded with zeros
        header = _BEGIN.pack(FRAME_MARK, zlib.crc32(about, self._key)) + about
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

    @property
    def is_empty(self) -> bool:
        return not self._end

    def read(self, number: int) -> pa.Buffer:
        frame = self.frames[number]
        with self._lock:
            self._file.seek(frame.offset)
            return pa.py_buffer(_read(self._file, frame.size))

    def clear(self) -> None:
        """Forget every frame."""
        self.frames = {}
        self._end = 0
        self._file.truncate(0)

    def close(self) -> None:
        self._file.close()


def whole_frames(file: BinaryIO, key: bytes = b"") -> Iterator[JournalEntry]:
    """All frames from the first on that are complete and have the right CRC."""
    begin, end = zlib.crc32(key), os.fstat(file.fileno()).st_size
    file.seek(0)
    while (about := _about(_read(file, _HEADER), begin)) is not None:
        value, number, size, digest = about
        offset = file.tell()
        if offset + size > end or zlib.crc32(_read(file, size)) != value:
            return
        yield JournalEntry(number, offset, size, digest)


def _about(header: bytes, key: int) -> tuple[int, int, int, bytes] | None:
    """What a header says; None if it is not whole and sound."""
    if len(header) < _HEADER:
        return None
    mark, value = _BEGIN.unpack_from(header)
    if mark != FRAME_MARK or zlib.crc32(header[_BEGIN.size :], key) != value:
        return None
    about: tuple[int, int, int, bytes] = _ABOUT.unpack_from(header, _BEGIN.size)
    return about


def _is_cut_frame(file: BinaryIO, end: int, key: int) -> bool:
    """Whether nothing stands behind ``end``, or the beginning of one frame."""
    length = os.fstat(file.fileno()).st_size - end
    file.seek(end)
    header = _read(file, _HEADER)
    if len(header) < _HEADER:
        return header[: len(FRAME_MARK)] == FRAME_MARK[: len(header)]
    about = _about(header, key)
    return about is not None and _HEADER + about[2] > length


def _read(file: BinaryIO, size: int) -> bytes:
    pieces = []
    while size and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
