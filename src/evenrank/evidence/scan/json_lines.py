"""Objects of JSON in raw bytes, one on each line: where the id and the text begin and end.

Only what is plain is read here: an object whose values are all strings. Anything else, and anything that
may be wrong, is left to a parser that knows all of JSON: then the value is that there was something else.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return, call-arg, unreachable"
# what numba compiles has no types that a checker could follow; ``line_files.py`` is the typed door to it

from __future__ import annotations

import numpy as np

from evenrank.evidence.scan.utf8 import encode
from evenrank.evidence.scan.vectors import (
    BACKSLASH,
    BLANK,
    NO_BITS,
    QUOTE,
    RETURN,
    TAB,
    WINDOW,
    bits_below,
    compiled,
    json_mask,
    lowest_bit,
    read_byte,
    write_byte,
)

_ELSE = np.int64(-1)
_DELETE = 127
_OPEN, _CLOSE, _COLON, _COMMA, _U = ord("{"), ord("}"), ord(":"), ord(","), ord("u")

# \" \\ \/ \b \f \n \r \t: the letter behind the backslash, and what it stands for
_ESCAPED = np.zeros(256, np.uint8)
for _letter, _meaning in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    _ESCAPED[_letter] = _meaning


@compiled()
def _four_digits(address):
    """The number that four hexadecimal digits are; -1 if they are none."""
    number = np.int64(0)
    for place in range(4):
        digit = np.int64(read_byte(address + place))
        if 48 <= digit <= 57:
            digit = digit - 48
        elif 97 <= digit | 32 <= 102:
            digit = (digit | 32) - 87
        else:
            return _ELSE
        number = number << 4 | digit
    return number


@compiled()
def _escaped(address, end):
    """The character that an escape stands for and its bytes; (-1, 0) if it stands for none."""
    if address + 2 > end:
        return _ELSE, 0
    letter = read_byte(address + 1)
    if letter != _U:
        return (np.int64(_ESCAPED[letter]), 2) if _ESCAPED[letter] else (_ELSE, 0)
    if address + 6 > end:
        return _ELSE, 0
    code = _four_digits(address + 2)
    if code < 0 or not 0xD800 <= code < 0xE000:
        return code, 6
    if code >= 0xDC00 or address + 12 > end:
        return _ELSE, 0
    if read_byte(address + 6) != BACKSLASH or read_byte(address + 7) != _U:
        return _ELSE, 0
    low = _four_digits(address + 8)
    if not 0xDC00 <= low < 0xE000:
        return _ELSE, 0
    return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), 12


@compiled()
def _string_end(address, end):
    """Where the string ends that begins at ``address``, and whether it has escapes; (-1, ..) if not plain."""
    has_escapes = False
    while address < end:
        stops = json_mask(address) & bits_below(min(end - address, WINDOW))
        if stops == NO_BITS:
            address += WINDOW
            continue
        address += lowest_bit(stops)
        byte = read_byte(address)
        if byte == QUOTE:
            return address, has_escapes
        if byte != BACKSLASH:
            return _ELSE, False
        code, step = _escaped(address, end)
        if code < 0:
            return _ELSE, False
        has_escapes = True
        address += step
    return _ELSE, False


@compiled()
def _after_blanks(address, end):
    while address < end and (read_byte(address) == BLANK or read_byte(address) == TAB):
        address += 1
    return address


@compiled()
def _after(address, end, wanted):
    """Behind a byte that must come next, blanks apart; ``end + 1`` if it does not."""
    address = _after_blanks(address, end)
    return _after_blanks(address + 1, end) if address < end and read_byte(address) == wanted else end + 1


@compiled()
def _is(begin, end, name, size):
    if end - begin != size:
        return False
    for at in range(size):  # noqa: SIM110  numba has no generators inside of all()
        if read_byte(begin + at) != read_byte(name + at):
            return False
    return True


@compiled()
def _is_plain_id(begin, end):
    for address in range(begin, end):
        if read_byte(address) == _DELETE:
            return False
    return end > begin


@compiled(boundscheck=False)
def _read_object(begin, end, id_name, id_size, text_name, text_size, title_name, title_size, row):
    """Fill in begin and end of id and text in ``row``, and whether the text has escapes; False if it is
    anything but a plain object with both. Of two values of one key the last one counts, as in Python."""
    row[0] = row[2] = -1
    place = _after(begin, end, _OPEN)
    while place < end:
        if read_byte(place) != QUOTE:
            return False
        key = place + 1
        key_end, escapes = _string_end(key, end)
        if key_end < 0 or escapes:
            return False
        value = _after(key_end + 1, end, _COLON)
        if value >= end or read_byte(value) != QUOTE:
            return False
        value += 1
        value_end, escapes = _string_end(value, end)
        if value_end < 0:
            return False
        if _is(key, key_end, id_name, id_size):
            if escapes or not _is_plain_id(value, value_end):
                return False
            row[0], row[1] = value, value_end
        elif _is(key, key_end, text_name, text_size):
            row[2], row[3], row[4] = value, value_end, escapes
        elif _is(key, key_end, title_name, title_size) and value_end > value:
            return False  # it would have to be put before the text
        place = _after_blanks(value_end + 1, end)
        if place >= end:
            return False
        byte = read_byte(place)
        place = _after_blanks(place + 1, end)
        if byte == _CLOSE:
            return place == end and row[0] >= 0 and row[2] >= 0
        if byte != _COMMA:
            return False
    return False


@compiled(boundscheck=False)
def read_objects(text, begin, newlines, names, name_ends, rows):
    """The objects of the lines that end at ``newlines``, blank lines apart: for each, in ``rows``, begin and
    end of the id, begin and end of the text, and whether the text has escapes. Their number; -1 if a line
    is anything else. ``names`` are the keys of id, text and title, one after the other.
    """
    base, name = np.int64(text.ctypes.data), np.int64(names.ctypes.data)
    id_size, text_size, title_size = name_ends[0], name_ends[1] - name_ends[0], name_ends[2] - name_ends[1]
    row = np.zeros(5, np.int64)
    found = 0
    for line in range(newlines.size):
        stop = newlines[line]
        if stop > begin and read_byte(base + stop - 1) == RETURN:
            stop -= 1
        if stop > begin:
            plain = _read_object(
                base + begin, base + stop, name, id_size, name + name_ends[0], text_size,
                name + name_ends[1], title_size, row,
            )  # fmt: skip
            if not plain:
                return _ELSE
            for column in range(4):
                rows[column, found] = row[column] - base
            rows[4, found] = row[4]
            found += 1
        begin = newlines[line] + 1
    return found


@compiled(boundscheck=False)
def unescape(text, starts, ends, has_escapes):
    """Replace escapes by what they stand for, in place: it is shorter, so that ``ends`` move to the left."""
    base = np.int64(text.ctypes.data)
    for row in range(starts.size):
        if not has_escapes[row]:
            continue
        place = target = base + starts[row]
        end = base + ends[row]
        while place < end:
            byte = read_byte(place)
            if byte == BACKSLASH:
                code, step = _escaped(place, end)
                target = encode(code, target)
                place += step
            else:
                write_byte(target, byte)
                target += 1
                place += 1
        ends[row] = target - base
