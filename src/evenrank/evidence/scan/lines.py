"""Lines of a TSV file in raw bytes: where each id and each text begins and ends."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow; ``tsv.py`` is the typed door to it

from __future__ import annotations

import numpy as np

from evenrank.evidence.scan.vectors import (
    BIT,
    NO_BITS,
    RETURN,
    WINDOW,
    bits_below,
    bits_set,
    compiled,
    lowest_bit,
    newline_mask,
    read_byte,
    tab_mask,
)


@compiled(boundscheck=False)
def count_newlines(text, begin, end):
    """How many newlines ``text[begin:end]`` holds; behind it stand ``PADDING`` readable bytes."""
    base = np.int64(text.ctypes.data)
    lines = 0
    for address in range(base + begin, base + end, WINDOW):
        lines += bits_set(newline_mask(address) & bits_below(min(base + end - address, WINDOW)))
    return lines


@compiled(boundscheck=False)
def split_lines(text, begin, end, starts, tabs, ends):
    """Fill in start, first tab (-1: none) and end of each line that is not blank; their number.

    A return before the newline is part of the line's end. The last line needs no newline.
    """
    base = np.int64(text.ctypes.data)
    line, start, tab = 0, begin, -1
    position = begin
    while position < end:
        size = min(end - position, WINDOW)
        newlines = newline_mask(base + position) & bits_below(size)
        stops = newlines | (tab_mask(base + position) & bits_below(size))
        while stops != NO_BITS:
            place = lowest_bit(stops)
            stops &= stops - BIT
            at = position + place
            if (newlines >> np.uint64(place)) & BIT == NO_BITS:
                if tab < 0:
                    tab = at
                continue
            stop = at - 1 if at > start and read_byte(base + at - 1) == RETURN else at
            if stop > start:
                starts[line], tabs[line], ends[line] = start, tab, stop
                line += 1
            start, tab = at + 1, -1
        position += size
    if start < end:
        stop = end - 1 if read_byte(base + end - 1) == RETURN else end
        if stop > start:
            starts[line], tabs[line], ends[line] = start, tab, stop
            line += 1
    return line


@compiled(boundscheck=False)
def repeated_hashes(hashes, table, repeated):
    """Write each hash that was there before to ``repeated``; how many. ``table`` is zero, its size a power of
    two and larger than their number. It is three times as fast as sorting them."""
    mask = np.uint64(table.size - 1)
    count = 0
    for row in range(hashes.size):
        value = hashes[row] | BIT  # zero means an empty place; one bit less finds a few more suspects
        place = (value >> np.uint64(20)) & mask
        while table[place] != 0 and table[place] != value:
            place = (place + BIT) & mask
        if table[place] == value:
            repeated[count] = hashes[row]
            count += 1
        table[place] = value
    return count


@compiled(boundscheck=False)
def gather(text, starts, ends, offsets, out):
    """Copy ``text[starts[i]:ends[i]]`` to ``out[offsets[i]:]``."""
    for row in range(starts.size):
        target = offsets[row]
        for at in range(starts[row], ends[row]):
            out[target] = text[at]
            target += 1
