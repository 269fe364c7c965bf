"""The fast count: words of a lexicon in raw UTF-8, 64 bytes at a time.

It gives what ``simple.count`` gives, many times faster. How:

1. Sixty-four bytes are loaded at once and compared with ranges of bytes; the answers are the bits of one
   number: bit ``i`` says that byte ``i`` is part of a token (``inside``). A token starts where a bit is set
   and the one before is not, and ends the other way round: two shifts find all starts and ends.
2. Bytes from 0x80 are decoded, and only they: a character that is no part of a word loses its bits.
3. For each token the first eight bytes are loaded as one number, the case bit is set, and a hash of it and
   of the length asks one bit of a table that fits the first cache. Of all tokens a few in a hundred pass.
4. What passes is compared byte by byte with the words of that hash. So the hash costs time, never truth.
5. Words found wait in a short queue until it is certain which term is the longest that begins there.

A window ends where its last token starts, if that token may go on behind it; the next window begins there.
So a token is always seen whole, except when it is longer than a window: that one is walked byte by byte.

The text must be followed by ``PADDING`` readable bytes. None of it holds the interpreter's lock.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow; ``counter.py`` is the typed door to it

from __future__ import annotations

import numpy as np

from evenrank.evidence.scan.tables import (
    FIRST,
    FOLD,
    GROUP,
    KEY,
    LENGTH,
    MULTIPLIER,
    NEXT,
    OFFSET,
    SIZE,
    TERM,
)
from evenrank.evidence.scan.vectors import (
    BIT,
    BLANK,
    NO_BITS,
    PADDING,
    WINDOW,
    bits_below,
    bits_set,
    compiled,
    empty_bits_above,
    filled_mask,
    high_mask,
    lowest_bit,
    read_byte,
    read_number,
    word_mask,
)

_FOLD, _MULTIPLIER = np.uint64(FOLD), np.uint64(MULTIPLIER)


@compiled()
def _decode(address, end):
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
def _encode(code, folded, size):
    """Write a character as UTF-8 into ``folded`` at ``size``; the new size."""
    if code < 0x80:
        folded[size] = code
        return size + 1
    if code < 0x800:
        folded[size] = 0xC0 | code >> 6
    else:
        if code < 0x10000:
            folded[size] = 0xE0 | code >> 12
        else:
            folded[size] = 0xF0 | code >> 18
            size += 1
            folded[size] = 0x80 | code >> 12 & 0x3F
        size += 1
        folded[size] = 0x80 | code >> 6 & 0x3F
    folded[size + 1] = 0x80 | code & 0x3F
    return size + 2


@compiled()
def _fold(begin, end, characters, folded, longest):
    """A token in lower case into ``folded``; its bytes, or 0 if they are more than any word has."""
    size = 0
    while begin < end:
        code, step = _decode(begin, end)
        small = np.int64(characters[code])
        size = _encode(small if small >= 0 else ~small, folded, size)
        if size > longest:
            return 0
        begin += step
    return size


@compiled()
def _token_end(begin, end, whitespace, characters):
    """Where the token ends that goes on at ``begin``; -1 if it is not sound UTF-8."""
    while begin < end:
        code, step = _decode(begin, end)
        if code < 0:
            return -1
        if (code == BLANK) if whitespace else (characters[code] < 0):
            return begin
        begin += step
    return end


@compiled(inline="always")
def _hash(key, length, shift):
    return ((key + np.uint64(length)) * _MULTIPLIER) >> shift


@compiled(inline="always")
def _key(address, length):
    """The first eight bytes of a token, in lower case as far as one bit can do it."""
    return (read_number(address) | _FOLD) & bits_below(8 * min(length, 8))


@compiled(inline="always")
def _marked(begin, token_starts, token_ends, marks, shift):
    """The starts of those tokens whose hash is marked. All tokens come by here: no branch but the loop."""
    marked = NO_BITS
    while token_starts != NO_BITS:
        place = lowest_bit(token_starts)
        length = lowest_bit(token_ends) - place
        token_starts &= token_starts - BIT
        token_ends &= token_ends - BIT
        place_of_mark = _hash(_key(begin + place, length), length, shift)
        mark = marks[place_of_mark >> np.uint64(6)] >> (place_of_mark & np.uint64(63))
        marked |= (mark & BIT) << np.uint64(place)
    return marked


@compiled()
def _find_word(begin, length, shift, heads, entries, spellings):
    """The word that a token is, letter by letter; 0 for none. Rarely called: array arguments are slow."""
    key = _key(begin, length)
    word = np.int64(heads[_hash(key, length, shift)])
    while word != 0:
        if entries[word, KEY] == key and entries[word, LENGTH] == np.uint64(length):
            offset = np.int64(entries[word, OFFSET])
            same = True
            for at in range(length):
                byte = read_byte(begin + at)
                if np.uint8(65) <= byte <= np.uint8(90):
                    byte = byte + np.uint8(32)
                if byte != spellings[offset + at]:
                    same = False
                    break
            if same:
                return word
        word = np.int64(entries[word, NEXT])
    return np.int64(0)


@compiled()
def _longest_phrase(queue, waiting, begins, phrases):
    """The row of the longest term that the queue begins with; -1 for none."""
    for row in range(begins[queue[0]], begins[queue[0] + 1]):
        size = phrases[row, SIZE]
        if size <= waiting:
            same = True
            for at in range(1, size):
                if phrases[row, FIRST + at] != queue[at]:
                    same = False
                    break
            if same:
                return row
    return -1


@compiled()
def _settle(queue, waiting, keep, begins, phrases, counts, found, finds):
    """Count terms at the head of the queue until at most ``keep`` words wait: (waiting, finds)."""
    while waiting > keep:
        row = _longest_phrase(queue, waiting, begins, phrases)
        used = 1
        if row >= 0:
            used = phrases[row, SIZE]
            counts[phrases[row, GROUP]] += 1
            if found.size:
                found[finds] = phrases[row, TERM]
                finds += 1
        waiting -= used
        for at in range(waiting):
            queue[at] = queue[at + used]
    return waiting, finds


@compiled(boundscheck=False)
def count_words(
    text, starts, ends, whitespace, characters, marks, heads, entries, spellings, begins, phrases, shift,
    longest_word, longest_phrase, lengths, counts, found, found_ends,
):  # fmt: skip
    """Count in the documents ``text[starts[d]:ends[d]]``, into ``lengths`` (D,) and ``counts`` (D, G).

    If ``found`` has room (a place for every second byte is enough), it gets the terms in their order,
    those of document ``d`` up to ``found_ends[d]``. The value is the first document that is not sound
    UTF-8, where the count stopped; -1 if all are.
    """
    base = np.int64(text.ctypes.data)
    shift = np.uint64(shift)
    folded = np.zeros(longest_word + PADDING, np.uint8)
    folded_address = np.int64(folded.ctypes.data)
    queue = np.zeros(longest_phrase + 1, np.int64)
    finds = 0
    for document in range(starts.size):
        begin, end = base + starts[document], base + ends[document]
        tokens, waiting, last = 0, 0, -1
        while begin < end:
            size = min(end - begin, WINDOW)
            inside = filled_mask(begin) if whitespace else word_mask(begin)
            high = high_mask(begin) & bits_below(size)
            undecoded = high
            while undecoded != NO_BITS:
                place = lowest_bit(undecoded)
                code, step = _decode(begin + place, end)
                if code < 0:
                    return document
                if place + step > size:  # cut by the end of the window: the next one begins with it
                    size = place
                    break
                taken = bits_below(step) << np.uint64(place)
                if not whitespace and characters[code] < 0:
                    inside &= ~taken
                undecoded &= ~taken
            inside &= bits_below(size)
            token_starts = inside & ~(inside << BIT)
            token_ends = ~inside & (inside << BIT)
            step = size
            is_long = False
            if begin + size < end and (inside >> np.uint64(size - 1)) & BIT:
                place = WINDOW - 1 - empty_bits_above(token_starts)
                if place == 0:
                    is_long = True
                    step = _token_end(begin + size, end, whitespace, characters) - begin
                    if step < 0:
                        return document
                else:
                    token_starts &= ~(BIT << np.uint64(place))
                    step = place
            candidates = token_starts
            if high == NO_BITS and not is_long:
                candidates = _marked(begin, token_starts, token_ends, marks, shift)
            while candidates != NO_BITS:
                place = lowest_bit(candidates)
                candidates &= candidates - BIT
                address = begin + place
                length = step if is_long else min(lowest_bit(~inside >> np.uint64(place)), size - place)
                if is_long or (high >> np.uint64(place)) & bits_below(length) != NO_BITS:
                    length = _fold(address, address + length, characters, folded, longest_word)
                    if length == 0:
                        continue
                    address = folded_address
                word = _find_word(address, length, shift, heads, entries, spellings)
                if word == 0:
                    continue
                token = tokens + bits_set(token_starts & (bits_below(place + 1) >> BIT))
                if waiting and token != last + 1:
                    waiting, finds = _settle(
                        queue, waiting, 0, begins, phrases, counts[document], found, finds
                    )
                queue[waiting] = word
                waiting += 1
                last = token
                waiting, finds = _settle(
                    queue, waiting, longest_phrase - 1, begins, phrases, counts[document], found, finds
                )
            tokens += bits_set(token_starts)
            begin += step
        if waiting:
            waiting, finds = _settle(queue, waiting, 0, begins, phrases, counts[document], found, finds)
        lengths[document] = tokens
        if found.size:
            found_ends[document] = finds
    return -1
