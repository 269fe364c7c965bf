"""Whole lines of a file or a stretch of it, some megabytes at a time, with their place for messages."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import NamedTuple

import numpy as np

from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.io.ranges import ByteRanges, ranges_of
from evenrank.io.reading import Bytes, Reading
from evenrank.io.source import warn_of_bom

READ = 1 << 21  # bytes at a time: they stay in the cache while they are taken apart
NEWLINE = 10

_LEAST, _MORE, _NEAR = 3, 1 << 9, 1 << 12

Fill = Callable[[Bytes, int], int]
"""Fills an array from a place of the file on; gives how many bytes came, less than there is room for at the
end of the file alone."""


class LineBlock(NamedTuple):
    """Whole lines: each is ended by a newline, but for the last one of a file, which may have none."""

    data: Bytes
    offset: int  # where they begin in the file
    before: int  # how many lines of the stretch stand before them
    reading: Reading
    bytes_read: int

    @property
    def line(self) -> int:
        """The number of the first line. The file may be read up to there: it is for messages."""
        return self.reading.first_line + self.before

    @property
    def mark(self) -> bytes:
        """The byte order mark before them, where they begin the file."""
        return codecs.BOM_UTF8 if self.before == 0 and self.offset == len(codecs.BOM_UTF8) else b""

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
    file = ranges_of(reading.source)
    if file is None:
        size = size or READ
        yield from _whole_lines(reading, _filling(reading.source.blocks(size)), None, size, size)
        return
    size = size or min(READ, reading.block)
    with closing(file):
        end = file.size if reading.end is None else min(reading.end, file.size)
        if end:
            yield from _whole_lines(reading, _filling_from(file, reading, end), end, size, file.along)


def _filling(pieces: Iterator[bytes]) -> Fill:
    """From what comes one after the other."""
    held = memoryview(b"")

    def fill(into: Bytes, place: int) -> int:
        nonlocal held
        filled = 0
        while filled < len(into):
            if not len(held) and not len(held := memoryview(next(pieces, b""))):
                break
            taken = held[: len(into) - filled]
            into[filled : filled + len(taken)] = taken
            filled, held = filled + len(taken), held[len(taken) :]
        return filled

    return fill


def _filling_from(file: ByteRanges, reading: Reading, end: int) -> Fill:
    """From any place of a file; what belongs to the stretch passes by for the hash."""

    def fill(into: Bytes, place: int) -> int:
        got = min(len(into), file.size - place)
        file.fill(into[:got].data, place)
        reading.passed.add(into[max(0, reading.begin - place) : max(0, min(got, end - place))].data)
        return got

    return fill


def _whole_lines(reading: Reading, fill: Fill, end: int | None, size: int, along: int) -> Iterator[LineBlock]:
    """``along`` is what is read behind the end for the last line, which may go on there."""
    end = sys.maxsize if end is None else end
    place = max(reading.begin - 1, 0)  # the byte before says whether a line begins with the stretch
    is_within = reading.begin > 0  # a line that began before
    kept, before = np.empty(0, np.uint8), 0  # the beginning of a line that goes on; lines that were given
    while True:
        room = max(size, _LEAST, len(kept))
        if place >= end:
            room = max(along, len(kept), _MORE)
        elif end - place <= room + 1:  # with the byte before the stretch
            room = end - place + along
        data = np.empty(len(kept) + room, np.uint8)
        data[: len(kept)] = kept
        got = fill(data[len(kept) :], place)
        data, start, place = data[: len(kept) + got], place - len(kept), place + got
        all_begun = got < room or place >= end  # all lines of the stretch
        if is_within:
            newline = _find(data[: end - 1 - start])
            if newline < 0 and all_begun:
                return  # one line from before covers it all
            data, start = (data[:0], place) if newline < 0 else (data[newline + 1 :], start + newline + 1)
            is_within, before = newline < 0, int(start > reading.begin)
        elif start == 0 and data[: len(codecs.BOM_UTF8)].tobytes() == codecs.BOM_UTF8:
            warn_of_bom(reading.name)
            data, start = data[len(codecs.BOM_UTF8) :], len(codecs.BOM_UTF8)
        if place < end:
            stop = len(data) if got < room else _rfind(data) + 1
        else:
            last = max(end - 1 - start, 0)
            newline = _find(data[last:])
            stop = last + newline + 1 if newline >= 0 else len(data) if got < room else 0
        if stop:
            yield LineBlock(data[:stop], start, before, reading, reading.taken())
            before += int(np.count_nonzero(data[:stop] == NEWLINE))
        if got < room or (all_begun and stop):
            return
        kept = data[stop:]


def _find(data: Bytes) -> int:
    """Where the first newline is, -1 if there is none."""
    return data.tobytes().find(b"\n")


def _rfind(data: Bytes) -> int:
    """Where the last newline is, -1 if there is none: as a rule near the end."""
    near = max(len(data) - _NEAR, 0)
    found = data[near:].tobytes().rfind(b"\n")
    return near + found if found >= 0 else data.tobytes().rfind(b"\n")


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
