"""Many texts in one array of bytes, swapped at once.

A word that becomes one word whatever is around it is replaced by compiled code, where numba is installed.
Other terms, and all of them without numba, are left to ``Swapper``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from evenrank.arrays import Int64s
from evenrank.counterfactuals.swap.pairing import upper
from evenrank.counterfactuals.swap.swapper import Found, Swap, Swapper
from evenrank.evidence.scan.counter import PADDING, UnsoundText, read_only
from evenrank.evidence.scan.tables import Tables
from evenrank.io.reading import Bytes, Texts

Tally = Counter[tuple[str, str, str]]
"""How often which word became which, both in lower case, and of what kind."""


class SwappedBlock(NamedTuple):
    """The bytes after the swap; document d is now ``data[starts[d]:ends[d]]``."""

    data: Bytes
    starts: Int64s
    ends: Int64s
    changed: int  # documents with a word swapped
    tally: Tally

    def texts(self) -> list[str]:
        data = self.data.tobytes()
        edges = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [data[start:end].decode() for start, end in edges]


class _Terms(NamedTuple):
    """Terms in a block of texts, as the kernel finds them."""

    codes: Int64s  # (M,): which entry of the pairing
    documents: Int64s  # (M,)
    first: Int64s  # (M,): the first word
    edges: Int64s  # (W, 2): where each word starts and ends


class BlockSwapper:
    """Its tables take a moment to make, so one of them swaps any number of blocks."""

    def __init__(self, swapper: Swapper) -> None:
        self.swapper = swapper
        self._entries = list(swapper.pairing.entries.items())
        self._tables = Tables.of(swapper.pairing.phrases) if find_spec("numba") is not None else None
        self._sizes = np.array([len(old) for old, _ in self._entries])
        self._plain = np.array(
            [
                len(old) == len(entry.new) == 1 and not entry.before_noun and not entry.before_name
                for old, entry in self._entries
            ]
        )
        # of each entry in lower case, as a title, and in upper case: what the kernel writes
        words = [entry.new[0] for _, entry in self._entries]
        self._spellings = [
            spelling.encode()
            for word in words
            for spelling in (word, upper(word[:1]) + word[1:], upper(word))
        ]

    def swap_strings(self, texts: list[str]) -> tuple[list[str], Tally]:
        """Strings in, strings out, and how often which word became which."""
        try:
            given = Texts.of(pa.array(texts, pa.large_string()))
        except (pa.ArrowException, UnicodeEncodeError):  # half of a surrogate pair: bytes cannot hold it
            swapped = self.swapper.swap_all(texts)
            return [one.text for one in swapped], Tally(c.pair for one in swapped for c in one.changes)
        block = self.swap_all(given)
        return block.texts(), block.tally

    def swap_all(self, texts: Texts) -> SwappedBlock:
        """The documents alone, from the first to the last."""
        return self(texts, *((int(texts.starts[0]), int(texts.ends[-1])) if len(texts.starts) else (0, 0)))

    def __call__(self, texts: Texts, begin: int, end: int) -> SwappedBlock:
        """``texts.data[begin:end]``, with the documents that lie in it swapped and all else as it was."""
        if len(texts.ends) and int(texts.ends[-1]) + PADDING > len(texts.data):
            # the kernel loads a few bytes beyond the end of a text: they must be there
            data = np.concatenate([texts.data[begin:end], np.zeros(PADDING, np.uint8)])
            texts, begin, end = Texts(data, texts.starts - begin, texts.ends - begin), 0, end - begin
        changes, tally, left = np.empty((4, 0), np.int64), Tally(), None
        if self._tables is not None:
            changes, tally, left = self._plain_changes(texts, self._tables)
        written, codes, rows = list(self._spellings), dict[str, int](), []
        for change, document, start, stop in self._other_changes(texts, left):
            tally[change.pair] += 1
            if change.new not in codes:
                codes[change.new] = len(written)
                written.append(change.new.encode())
            rows.append((document, start, stop, codes[change.new]))
        if rows:
            changes = np.concatenate([changes, np.array(rows, np.int64).T], axis=1)
            changes = changes.take(np.argsort(changes[1], kind="stable"), axis=1)
        return self._patched(texts, begin, end, changes, written, tally)

    def _patched(
        self, texts: Texts, begin: int, end: int, changes: Int64s, written: list[bytes], tally: Tally
    ) -> SwappedBlock:
        """``changes`` (4, C), in their order: document, start, end, and which of the words is ``written``."""
        documents, starts, ends, codes = changes
        offsets = np.fromiter(accumulate(map(len, written), initial=0), np.int64)
        longer = offsets[codes + 1] - offsets[codes] - (ends - starts)  # (C,)
        if self._tables is None:
            pieces, done = [], begin
            for start, stop, code in changes[1:].T.tolist():
                pieces += [texts.data[done:start].data, written[code]]
                done = stop
            out = np.frombuffer(b"".join([*pieces, texts.data[done:end].data]), np.uint8)
        else:
            from evenrank.counterfactuals.swap.kernel import patch

            out = np.empty(end - begin + int(longer.sum()), np.uint8)
            spelled = np.frombuffer(b"".join(written), np.uint8)
            patch(read_only(texts.data), begin, end, starts, ends, codes, offsets, spelled, out)
        grown = np.bincount(documents, longer, len(texts.starts)).astype(np.int64)  # (D,)
        shifts = np.cumsum(grown) - begin
        changed = len(np.unique(documents))
        return SwappedBlock(out, texts.starts + shifts - grown, texts.ends + shifts, changed, tally)

    def _terms(self, texts: Texts, tables: Tables) -> _Terms:
        from evenrank.evidence.scan.kernel import count_terms, find_words

        rows = len(texts.starts)
        most = (int(texts.ends[-1] - texts.starts[0]) + rows) // 2 + 1 if rows else 1
        words = np.empty((most, 5), np.int32)  # what is not written to is never given memory
        size = find_words(
            read_only(texts.data), read_only(texts.starts), read_only(texts.ends), None, tables.addresses,
            tables.shift, tables.head_shift, tables.longest_word, np.zeros(rows, np.int32), words,
        )  # fmt: skip
        if size < 0:
            raise UnsoundText(~int(size))
        words = words[:size]
        found, last = np.empty((size, 2), np.int32), np.zeros(rows, np.int64)
        count_terms(words, tables.begins, tables.phrases, 0, np.zeros((1, rows), np.int32), found, last)
        codes, first = found[: int(last[-1]) if rows else 0].T.astype(np.int64)
        edges = np.stack([words[:, 3], words[:, 3] + words[:, 4]], axis=1).astype(np.int64)
        return _Terms(codes, words[first, 0].astype(np.int64), first, edges)

    def _plain_changes(self, texts: Texts, tables: Tables) -> tuple[Int64s, Tally, _Terms]:
        """(4, C): the changes that need no thought, as ``_patched`` takes them; and the other terms."""
        from evenrank.counterfactuals.swap.kernel import OTHER, find_cases

        terms = self._terms(texts, tables)
        codes, documents, first, edges = terms
        starts, ends = edges[first, 0], edges[first + self._sizes[codes] - 1, 1]
        cases = np.empty(len(starts), np.int64)
        find_cases(read_only(texts.data), starts, ends, cases)
        left = ~self._plain[codes] | (cases == OTHER)
        if self.swapper.tagger == "spacy":  # it reads whole sentences, so all terms of them must be known
            left = np.isin(documents, documents[left])
        counts = np.bincount(codes[~left], minlength=len(self._entries))
        tally = Tally()
        for code in np.flatnonzero(counts).tolist():
            (old,), entry = self._entries[code]
            tally[old, entry.new[0], entry.kind] = int(counts[code])
        changes = np.stack([documents, starts, ends, 3 * codes + cases]).compress(~left, axis=1)
        return changes, tally, _Terms(codes[left], documents[left], first[left], edges)

    def _other_changes(self, texts: Texts, left: _Terms | None) -> Iterator[tuple[Swap, int, int, int]]:
        """What Python makes of the terms that are left, or of all there are: each change with its document
        and where it starts and ends in the block."""
        documents = range(len(texts.starts)) if left is None else np.unique(left.documents).tolist()
        olds, found = list[str](), {document: list[Found]() for document in documents}
        places: dict[int, Int64s] = {}  # of each document, where its characters begin in the block
        for document in documents:
            start = int(texts.starts[document])
            raw = bytes(texts.data[start : texts.ends[document]])
            try:
                olds.append(raw.decode())
            except UnicodeDecodeError as error:
                raise UnsoundText(document) from error
            begins = np.flatnonzero((np.frombuffer(raw, np.uint8) & 0xC0) != 0x80)
            places[document] = np.append(begins, len(raw)) + start
        if left is not None:
            for code, document, row in np.stack(left[:3], axis=1).tolist():
                old, entry = self._entries[code]
                spans = places[document].searchsorted(left.edges[row : row + len(old)]).tolist()
                found[document].append(Found(tuple(map(tuple, spans)), entry))
        swapped = self.swapper.swap_all(olds, None if left is None else [*found.values()])
        for document, one in zip(documents, swapped, strict=True):
            for change in one.changes:
                yield change, document, *places[document][[change.start, change.end]].tolist()
