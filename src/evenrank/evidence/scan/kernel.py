"""The fast search: words of a lexicon in raw UTF-8, 64 bytes at a time.

It gives what ``phrases.count`` gives, many times faster. How:

1. Sixty-four bytes are loaded at once and compared with ranges of bytes; the answers are the bits of one
   number: bit ``i`` says that byte ``i`` is part of a token (``inside``). A token starts where a bit is set
   and the one before is not.
2. Bytes from 0x80 are decoded, and only they: a character that is no part of a word loses its bits, and a
   token with a character that no word has is no candidate.
3. A sketch of the words asks for the first four letters of all 64 beginnings at once; one token in ten
   passes. Then a hash of the first eight letters and of the length asks one bit of a table that fits the
   first cache. Of all tokens about one in a hundred is left.
4. Windows with such tokens wait, so that the loop over windows has no branch that cannot be foretold; then
   the tokens are compared with the words of their hash, letter by letter. Filters cost time, never truth.

A window ends where its last token starts, if that token may go on behind it; the next window begins there.
So a token is always seen whole, except when it is longer than a window: that one is walked byte by byte.

The text must be followed by ``PADDING`` readable bytes. None of it holds the interpreter's lock. Helpers
get addresses, not arrays: passing an array counts a reference, which is slow if done for each window.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return, call-arg, unreachable"
# what numba compiles has no types that a checker could follow; ``counter.py`` is the typed door to it

from __future__ import annotations

import numpy as np

from evenrank.evidence.scan.tables import (
    BETWEEN,
    FIRST,
    FOLD,
    FOREIGN,
    GROUP,
    KEY,
    LENGTH,
    MULTIPLIER,
    NEXT,
    OFFSET,
    SIZE,
    TERM,
)
from evenrank.evidence.scan.utf8 import decode, fold
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
    may_begin,
    read_byte,
    read_integer,
    read_number,
    same_mask,
    word_mask,
)

_FOLD, _MULTIPLIER = np.uint64(FOLD), np.uint64(MULTIPLIER)
_WAITING = 256  # windows

# columns of ``windows``; LONG is the bytes of a token that is longer than its window, else 0
_DOCUMENT, _BEGIN, _INSIDE, _STARTS, _CANDIDATES, _TOKENS, _LONG = range(7)


@compiled()
def _token_end(begin, end, blanks, kinds):
    """Where the token ends that goes on at ``begin``; -1 if it is not sound UTF-8."""
    while begin < end:
        code, step = decode(begin, end)
        if code < 0:
            return -1
        if (read_byte(kinds + code) == BETWEEN) if blanks is None else (code == BLANK):
            return begin
        begin += step
    return end


@compiled(inline="always")
def _hash(key, length, shift):
    return np.int64(((key + np.uint64(length)) * _MULTIPLIER) >> shift)


@compiled(inline="always")
def _key(address, length):
    """The first eight bytes of a token, in lower case as far as one bit can do it."""
    return (read_number(address) | _FOLD) & bits_below(8 * min(length, 8))


@compiled(inline="always")
def _first_if_marked(begin, starts, inside, marks, shift):
    """The lowest of the starts if the hash of its token is marked, else nothing. No branch."""
    place = lowest_bit(starts) & (WINDOW - 1)  # any, where there is no start
    length = lowest_bit(~(inside >> np.uint64(place)))
    hashed = _hash(_key(begin + place, length), length, shift)
    mark = np.uint64(read_byte(marks + (hashed >> 3))) >> np.uint64(hashed & 7)
    return starts & (~starts + BIT) & (NO_BITS - (mark & BIT))


@compiled(inline="always")
def _marked(begin, starts, inside, marks, shift):
    """The starts of those tokens whose hash is marked."""
    # most windows have two starts or fewer: for them no branch has to be foretold
    marked = _first_if_marked(begin, starts, inside, marks, shift)
    starts &= starts - BIT
    marked |= _first_if_marked(begin, starts, inside, marks, shift)
    starts &= starts - BIT
    while starts != NO_BITS:
        marked |= _first_if_marked(begin, starts, inside, marks, shift)
        starts &= starts - BIT
    return marked


@compiled(inline="always")
def _back_to_start(bits, inside):
    """The bits, and all of ``inside`` before them that lead to one without a gap."""
    for step in (1, 2, 4, 8, 16, 32):
        bits |= inside & (bits >> np.uint64(step))
        inside &= inside >> np.uint64(step)
    return bits


@compiled()
def _find_word(begin, length, head_shift, heads, entries, spellings):
    """The word that a token is, letter by letter; 0 for none."""
    key = _key(begin, length)
    word = np.int64(read_integer(heads + 4 * _hash(key, length, head_shift)))
    while word != 0:
        entry = entries + 32 * word
        if read_number(entry + 8 * KEY) == key and read_number(entry + 8 * LENGTH) == np.uint64(length):
            spelling = spellings + np.int64(read_number(entry + 8 * OFFSET))
            same = True
            for at in range(0, length, WINDOW):
                wanted = bits_below(min(length - at, WINDOW))
                same &= same_mask(begin + at, spelling + at) & wanted == wanted
            if same:
                return word
        word = np.int64(read_number(entry + 8 * NEXT))
    return np.int64(0)


@compiled(boundscheck=False)
def _check(
    base, windows, waiting, characters, folded, longest_word, head_shift, heads, entries, spellings, words,
    found,
):  # fmt: skip
    """Look the candidates of some windows up; how many words are found now."""
    for row in range(waiting):
        begin = np.int64(windows[row, _BEGIN])
        inside, candidates = windows[row, _INSIDE], windows[row, _CANDIDATES]
        high = high_mask(begin)
        while candidates != NO_BITS:
            place = lowest_bit(candidates)
            candidates &= candidates - BIT
            address = begin + place
            length = np.int64(windows[row, _LONG])
            is_long = length > 0
            if not is_long:
                length = lowest_bit(~(inside >> np.uint64(place)))
            size = length
            if is_long or (high >> np.uint64(place)) & bits_below(length) != NO_BITS:
                length = fold(address, address + length, characters, folded, longest_word)
                if length == 0:
                    continue
                address = folded
            word = _find_word(address, length, head_shift, heads, entries, spellings)
            if word != 0:
                before = bits_set(windows[row, _STARTS] & (bits_below(place + 1) >> BIT))
                words[found, 0] = windows[row, _DOCUMENT]
                words[found, 1] = windows[row, _TOKENS] + np.uint64(before)
                words[found, 2] = word
                if words.shape[1] > 3:  # who replaces words wants to know where they are
                    words[found, 3] = begin + place - base
                    words[found, 4] = size
                found += 1
    return found


@compiled(boundscheck=False)
def find_words(text, starts, ends, blanks, addresses, shift, head_shift, longest_word, lengths, words):
    """Search the documents ``text[starts[d]:ends[d]]``: their tokens to ``lengths`` (D,), the number of words
    found, and in each row of ``words`` one of them: document, place among the tokens, word; and, if there are
    columns for it, its first byte in ``text`` and its bytes.

    ``blanks`` is None if tokens are words; if it is not, they are what stands between blanks. (That is known
    when this is compiled, which makes it faster by an eighth.) ``addresses`` are those of the tables, see
    ``Tables.addresses``. A row of ``words`` for every second byte is enough. If a document is not sound
    UTF-8, the value is ``~document``.
    """
    base = np.int64(text.ctypes.data)
    shift, head_shift = np.uint64(shift), np.uint64(head_shift)
    characters, kinds, sketch, marks = addresses[0], addresses[1], addresses[2], addresses[3]
    heads, entries, spellings = addresses[4], addresses[5], addresses[6]
    room = np.zeros(longest_word + PADDING, np.uint8)
    folded = np.int64(room.ctypes.data)
    windows = np.zeros((_WAITING, 8), np.uint64)
    waiting, found = np.int64(0), np.int64(0)  # a literal 0 would be a type of its own, and compiled too
    for document in range(starts.size):
        begin, end = base + starts[document], base + ends[document]
        tokens = 0
        while begin < end:
            size = min(end - begin, WINDOW)
            inside = word_mask(begin) if blanks is None else filled_mask(begin)
            undecoded = high_mask(begin) & bits_below(size)
            possible, foreign = NO_BITS, NO_BITS
            while undecoded != NO_BITS:
                place = lowest_bit(undecoded)
                code, step = decode(begin + place, end)
                if code < 0:
                    return ~document
                if place + step > size:  # cut by the end of the window: the next one begins with it
                    size = place
                    break
                taken = bits_below(step) << np.uint64(place)
                undecoded &= ~taken
                kind = read_byte(kinds + code)
                if kind == BETWEEN:
                    inside &= ~taken
                elif kind == FOREIGN:
                    foreign |= taken
                else:
                    possible |= taken
            inside &= bits_below(size)
            token_starts = inside & ~(inside << BIT)
            # a token that may go on behind the window is left to the next one
            cut = (inside >> np.uint64(size - 1)) & (BIT if begin + size < end else NO_BITS)
            place = (WINDOW - 1 - empty_bits_above(token_starts)) & (WINDOW - 1)
            step = place if cut != NO_BITS else size
            token_starts &= ~(cut << np.uint64(place))
            candidates = may_begin(begin, inside, sketch) & token_starts
            folding = NO_BITS
            if possible | foreign != NO_BITS:
                hopeless = _back_to_start(foreign, inside)
                folding = token_starts & _back_to_start(possible, inside) & ~hopeless
                candidates &= ~(folding | hopeless)
            candidates = _marked(begin, candidates, inside, marks, shift) | folding
            is_long = step == 0
            if is_long:
                candidates = token_starts = BIT
                step = _token_end(begin + size, end, blanks, kinds) - begin
                if step < 0:
                    return ~document
            windows[waiting, _DOCUMENT] = document
            windows[waiting, _BEGIN] = begin
            windows[waiting, _INSIDE] = inside
            windows[waiting, _STARTS] = token_starts
            windows[waiting, _CANDIDATES] = candidates
            windows[waiting, _TOKENS] = tokens
            windows[waiting, _LONG] = step if is_long else 0
            waiting += candidates != NO_BITS
            if waiting == _WAITING:
                found = _check(
                    base, windows, waiting, characters, folded, longest_word, head_shift, heads, entries,
                    spellings, words, found,
                )  # fmt: skip
                waiting = np.int64(0)
            tokens += bits_set(token_starts)
            begin += step
        lengths[document] = tokens
    return _check(
        base, windows, waiting, characters, folded, longest_word, head_shift, heads, entries, spellings,
        words, found,
    )  # fmt: skip


@compiled(inline="always")
def _follows(words, at, step, word):
    """Whether ``step`` tokens behind the word in row ``at``, in the same document, stands ``word``."""
    then = at + step
    return words[then, 2] == word and words[then, 1] == words[at, 1] + step and words[then, 0] == words[at, 0]


@compiled(boundscheck=False)
def count_terms(words, begins, phrases, first, counts, found, found_ends):
    """Count the terms that the ``words`` of ``find_words`` make up, into ``counts`` (G, D), where document 0
    is that of column ``first``.

    If ``found`` has room for as many, it gets the terms in their order and the row of the first word of each,
    those of document ``d`` from ``found_ends[d - 1]`` to ``found_ends[d]``.
    """
    at, finds = 0, 0
    while at < len(words):
        document, word = words[at, 0], words[at, 2]
        used = 1
        for row in range(begins[word], begins[word + 1]):  # the longest first
            size = phrases[row, SIZE]
            same = at + size <= len(words)
            step = 1
            while same and step < size:
                same = _follows(words, at, step, phrases[row, FIRST + step])
                step += 1
            if same:
                used = size
                counts[phrases[row, GROUP], first + document] += 1
                if found.size:
                    found[finds, 0] = phrases[row, TERM]
                    found[finds, 1] = at
                    finds += 1
                    found_ends[document] = finds
                break
        at += used
    if found.size:
        for document in range(1, len(found_ends)):
            found_ends[document] = max(found_ends[document], found_ends[document - 1])
