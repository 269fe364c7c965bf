"""Characters in raw UTF-8, one at a time: for bytes from 0x80 on, which the kernel cannot judge by itself.

An address is that of the first byte, as a number. ``characters`` is the address of that table.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow

from __future__ import annotations

import numpy as np

from evenrank.evidence.scan.vectors import compiled, read_byte, read_integer, write_byte


@compiled()
def decode(address, end):
    """The character at an address and its bytes; (-1, 1) where there is no sound one before ``end``."""
    first = np.int64(read_byte(address))
    if first < 0x80:
        return first, 1
    if 0xC2 <= first < 0xE0:
        size, code, smallest = 2, first & 0x1F, 0x80
    elif 0xE0 <= first < 0xF0:
        size, code, smallest = 3, first & 0x0F, 0x800
    elif 0xF0 <= first < 0xF5:
        size, code, smallest = 4, first & 0x07, 0x10000
    else:
        return -1, 1
    if address + size > end:
        return -1, 1
    for place in range(1, size):
        byte = np.int64(read_byte(address + place))
        if byte & 0xC0 != 0x80:
            return -1, 1
        code = code << 6 | byte & 0x3F
    if code < smallest or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return -1, 1
    return code, size


@compiled()
def encode(code, address):
    """Write a character as UTF-8; the address behind it."""
    if code < 0x80:
        write_byte(address, np.uint8(code))
        return address + 1
    if code < 0x800:
        write_byte(address, np.uint8(0xC0 | code >> 6))
    else:
        if code < 0x10000:
            write_byte(address, np.uint8(0xE0 | code >> 12))
        else:
            write_byte(address, np.uint8(0xF0 | code >> 18))
            address += 1
            write_byte(address, np.uint8(0x80 | code >> 12 & 0x3F))
        address += 1
        write_byte(address, np.uint8(0x80 | code >> 6 & 0x3F))
    write_byte(address + 1, np.uint8(0x80 | code & 0x3F))
    return address + 2


@compiled()
def fold(begin, end, characters, folded, longest):
    """A token in lower case to the address ``folded``; its bytes, or 0 if no word has that many."""
    place = folded
    while begin < end:
        code, step = decode(begin, end)
        small = np.int64(read_integer(characters + 4 * code))
        place = encode(small if small >= 0 else ~small, place)
        if place - folded > longest:
            return 0
        begin += step
    return place - folded
