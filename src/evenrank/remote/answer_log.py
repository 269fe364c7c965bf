"""What servers answered, on disk as it came: a file that loses nothing when the process is killed.

The file is JSON lines in Zstandard, which ``zstd -dc`` and any other tool reads. Each record is a Zstandard
frame of its own, behind a skippable frame that holds its length and its CRC. So a record is whole or it is
cut off when the file is opened again, and frames that are whole are never written again. Nothing is forced
to the disk: a process that is killed leaves all that it wrote to the system, and after a loss of power the
CRC tells.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from evenrank.errors import DataError
from evenrank.remote.json_text import writable, written
from evenrank.remote.secrets import Secrets

# an empty frame, so that the file begins as other Zstandard files do, and differs from them
BEGIN = b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"
_SKIPPABLE = struct.Struct("<II4sIII")  # magic, size of the rest, mark, packed length, plain length, CRC
_MAGIC, _MARK = 0x184D2A5E, b"evr1"
_LONGEST = 1 << 31  # bytes of one record


class AnswerLog:
    """Records in the order in which they were added. ``records`` reads those that were there when it was
    opened.

    Only one process at a time has a log open. Threads may add at will. ``secrets`` are those of whoever
    answers: no value of them is ever written.
    """

    def __init__(self, path: Path, secrets: Secrets) -> None:
        self.path, self._secrets = path, secrets
        self._codec = pa.Codec("zstd", 3)
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
            self._file: BinaryIO = os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0)
        except OSError as error:
            raise DataError(f"{path}: the log of answers cannot be opened: {error.strerror}") from error
        try:
            self._take()
            self._end = self._whole()
        except BaseException:
            self._file.close()
            raise

    def records(self) -> Iterator[dict[str, Any]]:
        """What was there when the log was opened. A record that is no text in UTF-8 is left out."""
        place, end = len(BEGIN), self._end
        while place < end:
            packed, plain, _, offset = self._header(place)  # type: ignore[misc]
            place = offset + packed
            try:
                text = self._unpacked(offset, packed, plain).decode()
                record = writable(json.loads(text), text)
            except (ValueError, RecursionError):
                continue
            yield record

    def add(self, record: dict[str, Any]) -> None:
        """Write a record; when this returns, a kill does not lose it. What no file can hold is a ValueError,
        and nothing is written then."""
        text = written(record, "raw")
        clean = self._secrets.redact_json(record, text)
        plain = ((text if clean is record else written(clean, "raw")) + "\n").encode()
        packed = self._codec.compress(plain, asbytes=True)
        about = struct.pack("<III", len(packed), len(plain), zlib.crc32(packed))
        frame = struct.pack("<II", _MAGIC, len(_MARK) + len(about)) + _MARK + about + packed
        with self._lock:
            try:
                self._file.seek(self._end)
                piece = memoryview(frame)
                while len(piece):
                    piece = piece[self._file.write(piece) :]
            except (
                OSError
            ) as error:  # the disk is full: half a record is cut off when the log is opened again
                raise OSError(error.errno, os.strerror(error.errno or 0), str(self.path)) from error
            self._end += len(frame)

    def close(self) -> None:
        self._file.close()

    def _take(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOTSUP):  # a file system that knows no locks
                return
            raise DataError(
                f"{self.path}: another process is asking and writes its answers there: wait for its end, "
                "or choose another folder"
            ) from error

    def _whole(self) -> int:
        """The end of the last whole record; what stands behind it is cut off."""
        self._file.seek(0)
        begin = _read(self._file, len(BEGIN))
        if begin != BEGIN:
            if begin != BEGIN[: len(begin)]:
                raise DataError(
                    f"{self.path}: is not a log of answers: move it away, or choose another folder"
                )
            self._file.seek(0)
            self._file.write(BEGIN)
            return len(BEGIN)
        place, size = len(BEGIN), os.fstat(self._file.fileno()).st_size
        while (found := self._header(place)) is not None:
            packed, _, value, offset = found
            self._file.seek(offset)
            content = _read(self._file, packed)
            if len(content) < packed or zlib.crc32(content) != value:
                break
            place = offset + packed
        self._check_cut(place, size)
        self._file.truncate(place)
        return place

    def _check_cut(self, place: int, size: int) -> None:
        """A kill leaves the beginning of one record, a loss of power perhaps zeros; whatever else is
        damage, and nothing of it is thrown away."""
        found = self._header(place)
        if found is not None:
            cut = found[3] + found[0] >= size
        else:
            self._file.seek(place)
            rest = _read(self._file, 1 << 16)
            cut = size - place < _SKIPPABLE.size or not rest.strip(b"\0")
        if not cut:
            raise DataError(
                f"{self.path}: is damaged at byte {place:,}, and {size - place:,} bytes follow: restore "
                "the file, or move it away to ask every query again"
            )

    def _header(self, place: int) -> tuple[int, int, int, int] | None:
        """Packed length, plain length, CRC, and where the frame begins; None where there is no whole
        header."""
        self._file.seek(place)
        header = _read(self._file, _SKIPPABLE.size)
        if len(header) < _SKIPPABLE.size:
            return None
        magic, size, mark, packed, plain, value = _SKIPPABLE.unpack(header)
        if (magic, size, mark) != (_MAGIC, _SKIPPABLE.size - 8, _MARK) or plain > _LONGEST:
            return None
        return packed, plain, value, place + _SKIPPABLE.size

    def _unpacked(self, offset: int, packed: int, plain: int) -> bytes:
        self._file.seek(offset)
        unpacked: bytes = self._codec.decompress(_read(self._file, packed), plain, asbytes=True)
        return unpacked


def _read(file: BinaryIO, size: int) -> bytes:
    pieces = []
    while size and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
