"""Objects of JSON in raw bytes, one on each line: where the id and the text begin and end.

Only what is plain is read here: objects without objects or lists in them. Anything else, and anything that
may be wrong, is left to a parser that knows all of JSON.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow; ``work.py`` is the typed door to it

from __future__ import annotations

import numpy as np

from evenrank.evidence.scan.utf8 import encode
from evenrank.evidence.scan.vectors import (
    NO_BITS,
    WINDOW,
    compiled,
    json_mask,
    lowest_bit,
    read_byte,
    read_integer,
    read_number,
    write_byte,
    write_number,
)

_QUOTE, _BACKSLASH, _NEWLINE, _BLANK, _U = b'"\\\n u'
_OPEN, _CLOSE, _COLON, _COMMA = b"{}:,"
_MINUS, _PLUS, _POINT, _ZERO = b"-+.0"
_E, _NULL, _TRUE, _FALS = ord("e"), *np.frombuffer(b"nulltruefals", np.int32)
_IS_BLANK = np.zeros(256, np.bool_)
_IS_BLANK[list(b" \t\r")] = True
_ESCAPED = np.zeros(256, np.uint8)  # what the letter behind a backslash stands for
_ESCAPED[list(b'"\\/bfnrtu')] = list(b'"\\/\b\f\n\r\tu')
ID, TEXT, TITLE = range(3)  # the names


@compiled(inline="always")
def _after_blanks(address):
    while _IS_BLANK[read_byte(address)]:
        address += 1
    return address


@compiled()
def _four_digits(address):
    """The number that four hexadecimal digits are; -1 if they are none."""
    number = np.int64(0)
    for place in range(4):
        digit = np.int64(read_byte(address + place))
        if 97 <= digit | 32 <= 102:
            digit = (digit | 32) - 97 + 10
        elif 48 <= digit <= 57:
            digit -= 48
        else:
            return np.int64(-1)
        number = number << 4 | digit
    return number


@compiled()
def _string_end(address, end):
    """Where the string ends that begins at ``address``, -1 if it does not; and whether it has escapes."""
    escapes = False
    while address < end:
        stops = json_mask(address)
        if stops == NO_BITS:
            address += WINDOW
            continue
        address += lowest_bit(stops)
        byte = read_byte(address)
        if byte == _QUOTE and address < end:
            return address, escapes
        letter = read_byte(address + 1)
        if byte != _BACKSLASH or not _ESCAPED[letter] or (letter == _U and _four_digits(address + 2) < 0):
            break
        escapes = True
        address += 2
    return np.int64(-1), False


@compiled()
def _unescape(begin, end):
    """Replace escapes by what they stand for, in place, and give the new end; -1 for half of a pair."""
    place = target = begin
    while place < end:
        run = place
        while run < end and read_byte(run) != _BACKSLASH:
            run += 1
        if place != target:
            while place + 8 <= run:
                write_number(target, read_number(place))
                place, target = place + 8, target + 8
            while place < run:
                write_byte(target, read_byte(place))
                place, target = place + 1, target + 1
        else:
            place = target = run
        if place >= end:
            break
        letter = read_byte(place + 1)
        place += 2
        if letter != _U:
            write_byte(target, _ESCAPED[letter])
            target += 1
            continue
        code = _four_digits(place)
        place += 4
        if 0xD800 <= code < 0xDC00 and read_byte(place) == _BACKSLASH and read_byte(place + 1) == _U:
            low = _four_digits(place + 2)
            code = 0x10000 + ((code - 0xD800) << 10 | low - 0xDC00) if 0xDC00 <= low < 0xE000 else -1
            place += 6
        if code < 0 or 0xD800 <= code < 0xE000 or place > end:
            return np.int64(-1)
        target = encode(code, target)
    return target


@compiled(inline="always")
def _after_digits(address):
    while 48 <= read_byte(address) <= 57:
        address += 1
    return address


@compiled()
def _number_end(address):
    """Where the number ends that begins at ``address``; -1 if none does."""
    begin = address + 1 if read_byte(address) == _MINUS else address
    end = _after_digits(begin)
    if end == begin or (read_byte(begin) == _ZERO and end > begin + 1):
        return np.int64(-1)
    if read_byte(end) == _POINT:
        begin, end = end + 1, _after_digits(end + 1)
        if end == begin:
            return np.int64(-1)
    if read_byte(end) | 32 == _E:
        begin = end + 2 if read_byte(end + 1) == _PLUS or read_byte(end + 1) == _MINUS else end + 1
        end = _after_digits(begin)
        if end == begin:
            return np.int64(-1)
    return end


@compiled()
def _after_other(address):
    """Behind a number, ``null``, ``true``, ``false`` or ``{}``; -1 for anything else that is no string."""
    letters = read_integer(address)
    if letters == _NULL or letters == _TRUE:  # noqa: SIM109 (numba knows no tuples of this kind)
        return address + 4
    if letters == _FALS and read_byte(address + 4) == _E:
        return address + 5
    if read_byte(address) == _OPEN and read_byte(address + 1) == _CLOSE:
        return address + 2
    return _number_end(address)


@compiled()
def _is_whole(begin, end):
    """Whether a number is a whole one, written as Python writes it."""
    for address in range(begin, end):
        if not 48 <= read_byte(address) <= 57:
            return False
    return end - begin == 1 or read_byte(begin) != 48


@compiled()
def _which(begin, end, names, name_ends):
    """Which of the names a key is; -1 for none."""
    first = 0
    for name in range(name_ends.size):
        if name_ends[name] - first == end - begin:
            same = True
            for at in range(end - begin):
                same &= read_byte(begin + at) == names[first + at]
            if same:
                return name
        first = name_ends[name]
    return -1


@compiled(boundscheck=False)
def read_objects(text, size, names, name_ends, rows):
    """The objects of the lines ``text[:size]``: begin and end of each id and text to a column of ``rows``.
    Their number; -1 if a line is anything but a plain object. ``names`` are the keys of id, text and title,
    one behind the other. Texts are changed in place: escapes are replaced, and a title is put before its
    text, with a blank. The text is sound UTF-8 and is followed by ``PADDING`` readable bytes.
    """
    base = np.int64(text.ctypes.data)
    place, end, found = base, base + size, 0
    while True:
        place = _after_blanks(place)
        if place >= end:
            return found
        if read_byte(place) == _NEWLINE:
            place += 1
            continue
        begins, ends = np.zeros(3, np.int64), np.zeros(3, np.int64)
        byte = read_byte(place)
        if byte != _OPEN:
            return -1
        while byte != _CLOSE:
            key = _after_blanks(place + 1) + 1
            key_end, escapes = _string_end(key, end)
            if read_byte(key - 1) != _QUOTE or key_end < 0 or escapes:
                return -1
            name = _which(key, key_end, names, name_ends)
            place = _after_blanks(key_end + 1)
            value = _after_blanks(place + 1) + 1
            if read_byte(place) != _COLON or value >= end:
                return -1
            if read_byte(value - 1) == _QUOTE:
                value_end, escapes = _string_end(value, end)
                if value_end < 0 or (escapes and name == ID):
                    return -1
                place = value_end + 1
                if escapes and name > ID:
                    value_end = _unescape(value, value_end)
                    if value_end < 0:
                        return -1
                if name >= 0:
                    begins[name], ends[name] = value, value_end
            else:
                place = _after_other(value - 1)
                if place < 0 or name == TEXT:
                    return -1
                if name == ID:
                    if not _is_whole(value - 1, place):
                        return -1
                    begins[ID], ends[ID] = value - 1, place
                elif name == TITLE:
                    if read_integer(value - 1) != _NULL:
                        return -1
                    begins[TITLE] = ends[TITLE] = 0  # also of an earlier title
            place = _after_blanks(place)
            byte = read_byte(place)
            if place >= end or (byte != _COMMA and byte != _CLOSE):
                return -1
        if begins[ID] == 0 or begins[TEXT] == 0:
            return -1
        if ends[TITLE] > begins[TITLE]:
            if begins[TITLE] > begins[TEXT] or begins[TITLE] < begins[ID] < begins[TEXT]:
                return -1  # the title moves over what stands between it and the text
            begins[TEXT] -= 1  # between them stand quotes, a comma and a key
            write_byte(begins[TEXT], np.uint8(_BLANK))
            for at in range(1, ends[TITLE] - begins[TITLE] + 1):
                write_byte(begins[TEXT] - at, read_byte(ends[TITLE] - at))
            begins[TEXT] -= ends[TITLE] - begins[TITLE]
        rows[0, found], rows[1, found] = begins[ID] - base, ends[ID] - base
        rows[2, found], rows[3, found] = begins[TEXT] - base, ends[TEXT] - base
        found += 1
        place = _after_blanks(place + 1)
        if place < end and read_byte(place) != _NEWLINE:
            return -1
