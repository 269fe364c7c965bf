"""A lexicon and Unicode as arrays: all that the kernel looks up."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.data.lexicon import lower
from evenrank.evidence.scan.phrases import Phrases

MULTIPLIER = 0x9E3779B97F4A7C15  # 2**64 / golden ratio, odd: its product spreads a key over the high bits
FOLD = 0x2020202020202020  # the bit that tells lower from upper case in ASCII, in each of eight bytes
KEY_BYTES = 8

# columns of ``entries``, one row a word
KEY, LENGTH, OFFSET, NEXT = range(4)
# columns of ``phrases``, one row a term; its words follow
TERM, GROUP, SIZE, FIRST = range(4)

# what a character is to a word: cut by it, not in any of the lexicon, or perhaps in one
BETWEEN, FOREIGN, POSSIBLE = range(3)

_CODE_POINTS = 0x110000
_ROOM = 64
_SMALLEST_FILTER = 15  # bits of a hash: 32,768 marks are 4 KiB, which stay in the first cache


@dataclass(frozen=True)
class Tables:
    """What the kernel needs to know, without objects.

    A word is one token of a term. Word 0 does not exist: it ends a chain, and means "none".
    """

    characters: npt.NDArray[
        np.int32
    ]  # (code points,): the lower case; as ~lower where it is no part of a word
    kinds: npt.NDArray[np.uint8]  # (code points,): BETWEEN, FOREIGN or POSSIBLE
    sketch: npt.NDArray[np.uint8]  # (4, 64): which beginnings there are, as ``sketch_places`` has it
    marks: npt.NDArray[np.uint8]  # bit h is set if some word has the hash h
    heads: npt.NDArray[np.int32]  # the first word for each beginning of a hash
    entries: npt.NDArray[np.uint64]  # (words, 4)
    spellings: npt.NDArray[np.uint8]  # the UTF-8 of all words
    begins: npt.NDArray[np.int32]  # (words + 1,): which rows of phrases begin with a word
    phrases: npt.NDArray[np.int32]  # (terms, 3 + longest), by first word, the longest first
    shift: int  # a hash is the product shifted right by this much
    head_shift: int  # and this much for ``heads``
    longest_word: int  # bytes

    @cached_property
    def addresses(self) -> npt.NDArray[np.int64]:
        """Where the tables are that the kernel asks for every token."""
        tables = (
            self.characters, self.kinds, self.sketch, self.marks, self.heads, self.entries, self.spellings
        )  # fmt: skip
        return np.array([table.ctypes.data for table in tables], np.int64)

    @classmethod
    def of(cls, phrases: Phrases) -> Tables:
        words = sorted({word for tokens in phrases.terms for word in tokens})
        codes = {word: code for code, word in enumerate(words, 1)}
        # one mark in 64 is set at most, so that nearly all other tokens are done with after one look
        bits = max(_SMALLEST_FILTER, (64 * len(words)).bit_length())
        head_bits = (4 * len(words)).bit_length()
        marks = np.zeros((1 << bits) // 8, np.uint8)
        heads = np.zeros(1 << head_bits, np.int32)
        entries = np.zeros((len(words) + 1, 4), np.uint64)
        spellings = bytearray()
        for word, code in codes.items():
            spelling = word.encode()
            key = word_key(spelling)
            place = word_hash(key, len(spelling), 64 - bits)
            head = place >> (bits - head_bits)
            entries[code] = key, len(spelling), len(spellings), heads[head]
            heads[head] = code
            marks[place >> 3] |= 1 << (place & 7)
            spellings += spelling
        rows = sorted(
            ((codes[tokens[0]], -len(tokens), term, tokens) for tokens, term in phrases.terms.items()),
        )
        table = np.zeros((len(rows), FIRST + phrases.longest), np.int32)
        for row, (_, _, term, tokens) in enumerate(rows):
            table[row, :FIRST] = term, phrases.lexicon.term_groups[term], len(tokens)
            table[row, FIRST : FIRST + len(tokens)] = [codes[token] for token in tokens]
        begins = np.searchsorted([row[0] for row in rows], np.arange(len(words) + 2)).astype(np.int32)
        return cls(
            _characters()[0],
            _kinds(words, phrases.tokenizer),
            _sketch(words),
            marks,
            heads,
            entries,
            np.frombuffer(bytes(spellings) + bytes(_ROOM), np.uint8),  # they are compared 64 bytes at a time
            begins,
            table,
            64 - bits,
            64 - head_bits,
            max(len(word.encode()) for word in words),
        )


def word_key(spelling: bytes) -> int:
    """The first eight bytes, in lower case as far as one bit can do it: equal words have equal keys."""
    key = int.from_bytes(spelling[:KEY_BYTES].ljust(KEY_BYTES, b"\0"), "little") | FOLD
    return key & ((1 << 8 * min(len(spelling), KEY_BYTES)) - 1)


def word_hash(key: int, length: int, shift: int) -> int:
    return ((key + length) * MULTIPLIER & (1 << 64) - 1) >> shift


def sketch_places(add: Any, first: Any, second: Any, third: Any, fourth: Any) -> tuple[Any, ...]:
    """Where the four rows of the sketch are looked up for a token that begins with these letters.

    Sums, since a processor adds 64 bytes at a time and multiplies none; which ones was found by trying
    what lets the fewest other tokens of English pass. Only the lowest six bits of a place are heeded.
    """
    doubled = add(second, add(fourth, fourth))
    return (
        first,
        add(third, add(doubled, doubled)),
        add(add(first, first), add(second, fourth)),
        add(add(first, third), add(fourth, fourth)),
    )


def _sketch(words: Iterable[str]) -> npt.NDArray[np.uint8]:
    """For each place the kinds of words that lead to it; a word is of one of eight, by its first letter."""
    sketch = np.zeros((4, 64), np.uint8)
    for word in words:
        letters = [letter | 0x20 for letter in word.encode()[:4]]
        places = sketch_places(int.__add__, *letters, *[0] * (4 - len(letters)))
        for row, place in enumerate(places):
            sketch[row, place & 63] |= 1 << (letters[0] & 7)
    return sketch


def _kinds(words: Iterable[str], tokenizer: str) -> npt.NDArray[np.uint8]:
    characters, changed = _characters()
    codes = np.unique([ord(character) for character in set().union(*words)])
    if tokenizer == "whitespace":
        kinds = np.full(_CODE_POINTS, FOREIGN, np.uint8)
    else:
        kinds = np.where(characters < 0, np.uint8(BETWEEN), np.uint8(FOREIGN))
    lowered = characters[changed]
    possible = np.concatenate([codes, changed[np.isin(np.where(lowered < 0, ~lowered, lowered), codes)]])
    kinds[possible[kinds[possible] == FOREIGN]] = POSSIBLE
    return kinds


@lru_cache(maxsize=1)
def _characters() -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Lower case and word characters of this Python's Unicode, and which are not lower case themselves."""
    table = np.arange(_CODE_POINTS, dtype=np.int32)
    codes = np.arange(_CODE_POINTS, dtype="<u4")
    codes[0xD800:0xE000] = ord(" ")  # half of a surrogate pair is no character; UTF-8 cannot hold it
    text = codes.tobytes().decode("utf-32-le")
    for begin in range(0, _CODE_POINTS, 256):
        block = text[begin : begin + 256]
        if block != block.lower():  # a few dozen blocks know case at all
            table[begin : begin + 256] = [ord(character) for character in lower(block)]
    changed = np.flatnonzero(table != np.arange(_CODE_POINTS))
    no_word = np.ones(_CODE_POINTS, bool)
    for run in re.finditer(r"\w+", text):
        no_word[run.start() : run.end()] = False
    table[no_word] = ~table[no_word]
    return table, changed
