"""Ids in raw bytes: whether each is larger than the one before, and which hashes occur twice."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return, call-arg"
# what numba compiles has no types that a checker could follow; ``duplicates.py`` is the typed door to it

from __future__ import annotations

import numpy as np

from evenrank.evidence.scan.vectors import BIT, bits_below, compiled, read_byte, read_number, reversed_bytes


@compiled(inline="always")
def _eight(address, size):
    """The first eight bytes as a number that compares as they do; fewer, if there are no more."""
    return reversed_bytes(read_number(address) & bits_below(8 * min(size, 8)))


@compiled(inline="always")
def _is_smaller(left, right, size):
    """Whether ``size`` bytes at one address come before those at another, in the order of bytes."""
    at = 0
    while at < size and read_byte(left + at) == read_byte(right + at):
        at += 1
    return at < size and read_byte(left + at) < read_byte(right + at)


@compiled(boundscheck=False)
def are_ascending(text, offsets):
    """Whether each id is longer than the one before, or as long and later in the order of its bytes."""
    base = np.int64(text.ctypes.data)
    readable = text.size - 8
    for row in range(1, offsets.size - 1):
        left, right = offsets[row - 1], offsets[row]
        size, longer = right - left, offsets[row + 1] - right
        if longer > size:
            continue
        if longer < size or size == 0:
            return False
        if right <= readable:
            first, second = _eight(base + left, size), _eight(base + right, size)
            if first < second:
                continue
            if first > second or size <= 8:
                return False
        if not _is_smaller(base + left, base + right, size):
            return False
    return True


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
