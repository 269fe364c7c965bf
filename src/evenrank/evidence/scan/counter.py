"""The typed door to both ways of counting: the kernel where numba is there and it pays, else plain Python."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Int32s, Int64s
from evenrank.data.lexicon import Lexicon
from evenrank.errors import EvenrankWarning, installing
from evenrank.evidence.scan.phrases import Phrases, count
from evenrank.io.reading import Texts

LOGGER = logging.getLogger(__name__)
SMALL = 1 << 24  # bytes that are counted in plain Python before the kernel could be loaded
COMPILING = (
    "the code that counts words is being compiled, which takes about 10 seconds and happens once on a machine"
)
PADDING = 72  # bytes behind a text that the kernel may load, though it never heeds them

_NO_TEXTS = Texts(np.zeros(PADDING, np.uint8), np.zeros(1, np.int64), np.zeros(1, np.int64))


class TermCounts(NamedTuple):
    """The terms found in each document: those of document d at ``offsets[d]:offsets[d + 1]``, by term."""

    offsets: Int64s  # (D + 1,)
    terms: Int32s  # (M,)
    counts: Int32s  # (M,)


class Counts(NamedTuple):
    lengths: Int32s  # (D,)
    groups: Int32s  # (D, G)
    terms: TermCounts | None


class UnsoundText(Exception):
    """Document ``row`` is not UTF-8."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def make_counter(
    lexicon: Lexicon, tokenizer: str, *, terms: bool = False, size: int | None = None
) -> SimpleCounter | KernelCounter:
    """A function of texts that any number of threads may call. ``size`` is that of all texts, if known."""
    phrases = Phrases.of(lexicon, tokenizer)
    if size is not None and size <= SMALL and f"{__package__}.kernel" not in sys.modules:
        return SimpleCounter(phrases, terms)
    try:
        import numba  # noqa: F401
    except Exception as error:  # it is not there, or a numpy that it does not know, a library that is lacking
        warnings.warn(
            f"numba cannot be used ({error}): words are counted in plain Python, with the same result, "
            f"many times slower; {installing('scan')}",
            EvenrankWarning,
            stacklevel=3,
        )
        return SimpleCounter(phrases, terms)
    kernel = KernelCounter(phrases, terms)
    late = threading.Timer(2, LOGGER.info, [COMPILING])  # what is compiled already is there before
    late.start()
    kernel(_NO_TEXTS)
    late.cancel()
    return kernel


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same memory, seen by somebody who may not write to it."""
    seen = array.view()
    seen.flags.writeable = False
    return seen


class SimpleCounter:
    fast = False

    def __init__(self, phrases: Phrases, terms: bool = False) -> None:
        self._phrases = phrases
        self._terms = terms

    def __call__(self, texts: Texts) -> Counts:
        lengths = np.zeros(len(texts.starts), np.int32)
        groups = np.zeros((len(texts.starts), len(self._phrases.lexicon.groups)), np.int32)
        found: list[list[tuple[int, int]]] = []
        data = texts.data.data
        for row, (start, end) in enumerate(zip(texts.starts.tolist(), texts.ends.tolist(), strict=True)):
            try:
                text = str(data[start:end], "utf-8")
            except UnicodeDecodeError as error:
                raise UnsoundText(row) from error
            lengths[row], groups[row], terms = count(text, self._phrases)
            found.append(sorted(terms.items()))
        if not self._terms:
            return Counts(lengths, groups, None)
        pairs = np.array([pair for row in found for pair in row], np.int32).reshape(-1, 2)
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in found])]).astype(np.int64)
        return Counts(lengths, groups, TermCounts(offsets, pairs[:, 0].copy(), pairs[:, 1].copy()))


class KernelCounter:
    fast = True

    def __init__(self, phrases: Phrases, terms: bool = False) -> None:
        from evenrank.evidence.scan.tables import Tables

        self._phrases = phrases
        self._terms = terms
        self._tables = Tables.of(phrases)
        self._own = threading.local()

    def __call__(self, texts: Texts) -> Counts:
        rows = len(texts.starts)
        lengths = np.zeros(rows, np.int32)
        groups = np.zeros((len(self._phrases.lexicon.groups), rows), np.int32)  # as the output will have them
        size = len(texts.data)
        # documents too near to the end of the memory are copied to where there is room behind them
        safe = int(np.searchsorted(texts.ends, size - PADDING, side="right"))
        found = [self._run(texts.rows(0, safe), lengths[:safe], groups, 0)]
        if safe < rows:
            begin = int(texts.starts[safe])
            tail = np.concatenate([texts.data[begin:], np.zeros(PADDING, np.uint8)])
            rest = Texts(tail, texts.starts[safe:] - begin, texts.ends[safe:] - begin)
            found.append(self._run(rest, lengths[safe:], groups, safe))
        return Counts(lengths, groups.T, self._grouped(found, rows) if self._terms else None)

    def _run(self, texts: Texts, lengths: Int32s, groups: Int32s, first: int) -> tuple[Int32s, Int64s]:
        from evenrank.evidence.scan.kernel import count_terms, find_words

        tables, words = self._tables, self._room_for_words(texts)
        # whatever the texts lie in, the types are the same, so that it is compiled once
        size = find_words(
            read_only(texts.data), read_only(texts.starts), read_only(texts.ends),
            True if self._phrases.tokenizer == "whitespace" else None,
            tables.addresses, tables.shift, tables.head_shift, tables.longest_word, lengths, words,
        )  # fmt: skip
        if size < 0:
            raise UnsoundText(first + ~int(size))
        found = np.empty((size if self._terms else 0, 2), np.int32)
        found_ends = np.zeros(len(lengths), np.int64)
        count_terms(words[:size], tables.begins, tables.phrases, first, groups, found, found_ends)
        return found[:, 0], found_ends

    def _room_for_words(self, texts: Texts) -> Int32s:
        """One array a thread, for the most there can be: a word for every second byte of all documents.

        What is not written to is never given memory by the system.
        """
        rows = len(texts.starts)
        most = (int(texts.ends[-1] - texts.starts[0]) + rows) // 2 + 1 if rows else 1
        words: Int32s | None = getattr(self._own, "words", None)
        if words is None or len(words) < most:
            self._own.words = words = np.empty((most, 3), np.int32)
        return words

    def _grouped(self, found: list[tuple[Int32s, Int64s]], rows: int) -> TermCounts:
        """Terms in the order of the text as sorted terms with their numbers."""
        width = len(self._phrases.lexicon)
        keys = []
        first = 0
        for terms, ends in found:
            sizes = np.diff(ends, prepend=0)
            documents = np.repeat(np.arange(first, first + len(ends)), sizes)
            keys.append(documents * width + terms[: len(documents)])
            first += len(ends)
        distinct, counts = np.unique(np.concatenate(keys), return_counts=True)
        offsets = np.searchsorted(distinct, np.arange(rows + 1) * width).astype(np.int64)
        return TermCounts(offsets, (distinct % width).astype(np.int32), counts.astype(np.int32))
