"""A lexicon and Unicode as arrays: all that the kernel looks up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

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

_CODE_POINTS = 0x110000
_SMALLEST_FILTER = 15  # bits of a hash: 32,768 marks are 4 KiB, which stay in the first cache


@dataclass(frozen=True)
class Tables:
    """What the kernel needs to know, without objects.

    A word is one token of a term. Word 0 does not exist: it ends a chain, and means "none".
    """

    characters: npt.NDArray[
        np.int32
    ]  # (code points,): the lower case; as ~lower where it is no part of a word
    marks: npt.NDArray[np.uint64]  # bit h is set if some word has the hash h
    heads: npt.NDArray[np.int32]  # (hashes,): the first word of each hash
    entries: npt.NDArray[np.uint64]  # (words, 4)
    spellings: npt.NDArray[np.uint8]  # the UTF-8 of all words
    begins: npt.NDArray[np.int32]  # (words + 1,): which rows of phrases begin with a word
    phrases: npt.NDArray[np.int32]  # (terms, 3 + longest), by first word, the longest first
    shift: int  # a hash is the product shifted right by this much
    longest_word: int  # bytes
    longest_phrase: int  # words

    @classmethod
    def of(cls, phrases: Phrases) -> Tables:
        words = sorted({word for tokens in phrases.terms for word in tokens})
        codes = {word: code for code, word in enumerate(words, 1)}
        # one mark in 64 is set at most, so that nearly all other tokens are done with after one look
        bits = max(_SMALLEST_FILTER, (64 * len(words)).bit_length())
        marks = np.zeros((1 << bits) // 64, np.uint64)
        heads = np.zeros(1 << bits, np.int32)
        entries = np.zeros((len(words) + 1, 4), np.uint64)
        spellings = bytearray()
        for word, code in codes.items():
            spelling = word.encode()
            key = word_key(spelling)
            place = word_hash(key, len(spelling), 64 - bits)
            entries[code] = key, len(spelling), len(spellings), heads[place]
            heads[place] = code
            marks[place >> 6] |= np.uint64(1 << (place & 63))
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
            _characters(),
            marks,
            heads,
            entries,
            np.frombuffer(bytes(spellings), np.uint8),
            begins,
            table,
            64 - bits,
            max(len(word.encode()) for word in words),
            phrases.longest,
        )


def word_key(spelling: bytes) -> int:
    """The first eight bytes, in lower case as far as one bit can do it: equal words have equal keys."""
    key = int.from_bytes(spelling[:KEY_BYTES].ljust(KEY_BYTES, b"\0"), "little") | FOLD
    return key & ((1 << 8 * min(len(spelling), KEY_BYTES)) - 1)


def word_hash(key: int, length: int, shift: int) -> int:
    return ((key + length) * MULTIPLIER & (1 << 64) - 1) >> shift


@lru_cache(maxsize=1)
def _characters() -> npt.NDArray[np.int32]:
    """Lower case and word characters of this Python's Unicode, for every code point."""
    table = np.arange(_CODE_POINTS, dtype=np.int32)
    codes = np.arange(_CODE_POINTS, dtype="<u4")
    codes[0xD800:0xE000] = ord(" ")  # half of a surrogate pair is no character; UTF-8 cannot hold it
    text = codes.tobytes().decode("utf-32-le")
    for begin in range(0, _CODE_POINTS, 256):
        block = text[begin : begin + 256]
        if block != block.lower():  # a few dozen blocks know case at all
            table[begin : begin + 256] = [ord(character) for character in lower(block)]
    no_word = np.ones(_CODE_POINTS, bool)
    for run in re.finditer(r"\w+", text):
        no_word[run.start() : run.end()] = False
    table[no_word] = ~table[no_word]
    return table
