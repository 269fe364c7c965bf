"""Lines of a TSV file in raw bytes: where each id and each text begins and ends."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow; ``line_files.py`` is the typed door to it

from __future__ import annotations

import numpy as np

from evenrank.evidence.scan.vectors import (
    BIT,
    NO_BITS,
    RETURN,
    WINDOW,
    bits_below,
    compiled,
    lowest_bit,
    newline_mask,
    read_byte,
    read_number,
    tab_mask,
    write_number,
)

_ALL_HIGH = np.uint64(0x8080808080808080)


@compiled(boundscheck=False)
def find_newlines(text, begin, end, newlines):
    """Write down where the newlines of ``text[begin:end]`` are; how many there are.

    If that is more than there is room for, the rest is only counted.
    """
    base = np.int64(text.ctypes.data)
    found, last = 0, newlines.size - 1
    position = begin
    while position < end:
        size = min(end - position, WINDOW)
        mask = newline_mask(base + position) & bits_below(size)
        # no branch on whether there is one: it could not be foretold
        newlines[min(found, last)] = position + lowest_bit(mask)
        found += mask != NO_BITS
        mask &= mask - BIT
        while mask != NO_BITS:
            newlines[min(found, last)] = position + lowest_bit(mask)
            found += 1
            mask &= mask - BIT
        position += size
    return found


@compiled(inline="always")
def _first_tab(begin, end):
    """The address of the first tab before ``end``; -1 if there is none."""
    while begin < end:
        tabs = tab_mask(begin) & bits_below(min(end - begin, WINDOW))
        if tabs != NO_BITS:
            return begin + lowest_bit(tabs)
        begin += WINDOW
    return -1


@compiled(boundscheck=False)
def cut_lines(text, begin, newlines, starts, tabs, ends):
    """Fill in start, first tab (-1: none) and end of each line that is not blank; their number.

    A return before the newline is part of the line's end. Each line ends at one of the newlines; where the
    last one has none, the end of the text stands in for it.
    """
    base = np.int64(text.ctypes.data)
    line = 0
    for row in range(newlines.size):
        stop = newlines[row]
        if stop > begin and read_byte(base + stop - 1) == RETURN:
            stop -= 1
        if stop > begin:
            tab = _first_tab(base + begin, base + stop)
            starts[line], tabs[line], ends[line] = begin, tab if tab < 0 else tab - base, stop
            line += 1
        begin = newlines[row] + 1
    return line


@compiled(boundscheck=False)
def gather(text, starts, ends, offsets, out):
    """Copy ``text[starts[i]:ends[i]]`` to ``out[offsets[i]:]``; whether all of it is ASCII.

    Eight bytes at a time: what is too much is overwritten by the next, and ``out`` has 8 bytes to spare.
    """
    base, target = np.int64(text.ctypes.data), np.int64(out.ctypes.data)
    seen = NO_BITS
    for row in range(starts.size):
        begin, size = base + starts[row], ends[row] - starts[row]
        place = target + offsets[row]
        for at in range(0, size, 8):
            number = read_number(begin + at)
            write_number(place + at, number)
            seen |= number & bits_below(8 * min(size - at, 8))
    return seen & _ALL_HIGH == NO_BITS
