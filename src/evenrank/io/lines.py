"""Whole lines of a file or a stretch of it, some megabytes at a time, with their place for messages."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, nullcontext
from itertools import islice
from typing import NamedTuple

import numpy as np

from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.io.ranges import AnyFile, ranges_of, read_range
from evenrank.io.reading import Bytes, Reading
from evenrank.io.source import warn_of_bom

READ = 1 << 21  # bytes at a time: they stay in the cache while they are taken apart
NEWLINE = 10

_ALONG = 1 << 14  # bytes that are read behind a stretch for its last line, which may go on there


class LineBlock(NamedTuple):
    """Whole lines: each is ended by a newline, but for the last one of a file, which may have none."""

    data: Bytes
    offset: int  # where they begin in the file
    reading: Reading
    bytes_read: int
    mark: bytes = b""  # the byte order mark before them
    counted: int | None = None  # the number of the first line, of what cannot be read again

    @property
    def line(self) -> int:
        """The number of the first line. The file may be read up to there: it is for messages."""
        return self.reading.line_at(self.offset) if self.counted is None else self.counted

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Each line with its place among them, and the byte of the file where it begins."""
        place = self.offset
        for row, line in enumerate(self.data.tobytes().split(b"\n")):
            yield row, place, line
            place += len(line) + 1

    def error(self, problems: Iterable[tuple[int, str]]) -> DataError:
        """What is wrong with which of the lines."""
        first = self.line
        return DataError.listing(self.reading.name, [Problem(first + row, what) for row, what in problems])


def line_blocks(reading: Reading, size: int = 0) -> Generator[LineBlock]:
    """The lines that begin in a stretch of a file, or of a packed file or stream all; a line that is longer
    than ``size`` makes a block grow. What is read passes by for the hash."""
    file = ranges_of(reading.source, plain=reading.end is not None)
    if file is None:
        blocks = _of_stream(reading, size or READ)
    else:
        blocks = _of_file(reading, file, size or min(READ, reading.block))
    with nullcontext() if file is None else closing(file):
        yield from (block for block in blocks if len(block.data))


def _of_stream(reading: Reading, size: int) -> Iterator[LineBlock]:
    held, wanted, place, line = [b""], size, 0, 1
    for piece in reading.source.blocks(size):
        held.append(piece)
        if sum(map(len, held)) < wanted:
            continue
        data = b"".join(held)
        stop = data.rfind(b"\n") + 1
        if stop:
            yield _block(reading, data, 0, stop, place, line)
            place, line = place + stop, line + data.count(b"\n", 0, stop)
        held = [data[stop:]]
        wanted = max(size, 2 * len(held[0]))  # a long line is not looked at again with each piece
    data = b"".join(held)
    if data:
        yield _block(reading, data, 0, len(data), place, line)


def _of_file(reading: Reading, file: AnyFile, size: int) -> Iterator[LineBlock]:
    """What a block has of a line that is not whole is read again with the next."""
    end = file.size if reading.end is None else min(reading.end, file.size)
    place, passed = max(reading.begin - 1, 0), reading.begin
    within = reading.begin > 0  # a line that began before the stretch; the byte before it says so
    longer = 0
    while place < end:
        edge = reading.begin + (max(place - reading.begin, 0) // size + (1 << longer)) * size
        length = min(edge if edge < end else end + (_ALONG << longer), file.size) - place
        data = read_range(file, place, length)
        reading.passed.add(memoryview(data)[max(passed - place, 0) : max(end - place, 0)])
        passed = max(passed, place + length)
        start, last = 0, end - 1 - place
        if within:
            start = data.find(b"\n", 0, max(last, 0)) + 1
            if not start:
                place += length
                continue
        stop = (data.find(b"\n", max(last, start)) if last < length else data.rfind(b"\n", start)) + 1
        if not stop and place + length == file.size:
            stop = length
        if stop:
            yield _block(reading, data, start, stop, place + start)
            place, within, longer = place + stop, False, 0
        elif start:  # the first line of the stretch is not whole
            place, within = place + start, False
        else:
            longer += 1


def _block(
    reading: Reading, data: bytes, start: int, stop: int, place: int, line: int | None = None
) -> LineBlock:
    mark = b""
    if place == 0 and data.startswith(codecs.BOM_UTF8):
        warn_of_bom(reading.name)
        mark = codecs.BOM_UTF8
        start, place = len(mark), len(mark)
    lines = np.frombuffer(data, np.uint8)[start:stop]
    return LineBlock(lines, place, reading, reading.taken(), mark, line)


def check_unicode(block: LineBlock) -> None:
    """Raise an error that lists every line that is not UTF-8, up to twenty."""
    raw = block.data.tobytes()
    try:
        if raw.isascii() or raw.decode():
            return
    except UnicodeDecodeError:
        problems = (problem for problem in map(_unsound, block.lines()) if problem is not None)
        raise block.error(islice(problems, PROBLEMS_SHOWN + 1)) from None


def _unsound(line: tuple[int, int, bytes]) -> tuple[int, str] | None:
    row, place, raw = line
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return row, unsound(place + error.start)
    return None


def unsound(place: int) -> str:
    return f"invalid UTF-8 at byte {place} of the file"
