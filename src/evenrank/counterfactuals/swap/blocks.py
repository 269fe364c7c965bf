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
from evenrank.counterfactuals.swap.resolve import Found
from evenrank.counterfactuals.swap.swapper import Swapper
from evenrank.data.lexicon import lower
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


class BlockSwapper:
    """Its tables take a moment to make, so one of them swaps any number of blocks."""

    def __init__(self, swapper: Swapper) -> None:
        self.swapper = swapper
        self._entries = list(swapper.pairing.entries.items())
        self._tables = Tables.of(swapper.pairing.phrases) if find_spec("numba") is not None else None
        self._sizes = np.array([len(old) for old, _ in self._entries])
        self._plain = np.array(
            [len(old) == len(entry.new) == 1 and not entry.context for old, entry in self._entries]
        )
        # of each entry in lower case, as a title, and in upper case: what the kernel writes
        self._spellings = [
            spelling.encode()
            for _, entry in self._entries
            for word in entry.new[:1]
            for spelling in (word, upper(word[:1]) + word[1:], upper(word))
        ]

    def swap_strings(self, texts: list[str]) -> tuple[list[str], Tally]:
        """Strings in, strings out, and how often which word became which."""
        try:
            given = Texts.of(pa.array(texts, pa.large_string()))
        except (pa.ArrowException, UnicodeEncodeError):  # half of a surrogate pair: bytes cannot hold it
            swapped = self.swapper.swap_all(texts)
            changes = (change for one in swapped for change in one.changes)
            tally = Counter((lower(change.old), lower(change.new), change.kind) for change in changes)
            return [one.text for one in swapped], tally
        block = self.swap_all(given)
        return block.texts(), block.tally

    def swap_all(self, texts: Texts) -> SwappedBlock:
        """The documents alone, from the first to the last."""
        return self(texts, *((int(texts.starts[0]), int(texts.ends[-1])) if len(texts.starts) else (0, 0)))

    def __call__(self, texts: Texts, begin: int, end: int) -> SwappedBlock:
        """``texts.data[begin:end]``, with the documents that lie in it swapped and all else as it was."""
        texts, begin, end = _with_room(texts, begin, end)
        changes, tally, others = np.empty((4, 0), np.int64), Tally(), None
        if self._tables is not None:
            changes, tally, others = self._plain_changes(texts, self._tables)
        spellings = dict[bytes, int]()
        if others is None or len(others.terms):
            rows = []
            for document, start, stop, new in self._other_changes(texts, others, tally):
                code = spellings.setdefault(new, len(self._spellings) + len(spellings))
                rows.append((document, start, stop, code))
            changes = np.concatenate([changes, np.array(rows, np.int64).reshape(-1, 4).T], axis=1)
            changes = changes.take(np.argsort(changes[1], kind="stable"), axis=1)
        documents, starts, ends, codes = changes
        written = [*self._spellings, *spellings]
        offsets = np.fromiter(accumulate(map(len, written), initial=0), np.int64)
        longer = offsets[codes + 1] - offsets[codes] - (ends - starts)  # (changes,)
        out = np.empty(end - begin + int(longer.sum()), np.uint8)
        if self._tables is not None:
            from evenrank.counterfactuals.swap.kernel import patch

            spelled = np.frombuffer(b"".join(written), np.uint8)
            patch(read_only(texts.data), begin, end, starts, ends, codes, offsets, spelled, out)
        else:
            pieces, done = [], begin
            for start, stop, code in changes[1:].T.tolist():
                pieces += [texts.data[done:start].data, written[code]]
                done = stop
            out[:] = np.frombuffer(b"".join([*pieces, texts.data[done:end].data]), np.uint8)
        grown = np.bincount(documents, longer, len(texts.starts)).astype(np.int64)  # (D,)
        shifts = np.cumsum(grown) - begin
        changed = len(np.unique(documents))
        return SwappedBlock(out, texts.starts + shifts - grown, texts.ends + shifts, changed, tally)

    def _plain_changes(self, texts: Texts, tables: Tables) -> tuple[Int64s, Tally, _Others]:
        """Document, start, end and spelling of each change that needs no thought; and the other terms."""
        from evenrank.counterfactuals.swap.kernel import OTHER, find_cases
        from evenrank.evidence.scan.kernel import count_terms, find_words

        data, rows = read_only(texts.data), len(texts.starts)
        most = (int(texts.ends[-1] - texts.starts[0]) + rows) // 2 + 1 if rows else 1
        words = np.empty((most, 5), np.int32)  # what is not written to is never given memory
        size = find_words(
            data, read_only(texts.starts), read_only(texts.ends), None, tables.addresses, tables.shift,
            tables.head_shift, tables.longest_word, np.zeros(rows, np.int32), words,
        )  # fmt: skip
        if size < 0:
            raise UnsoundText(~int(size))
        words = words[:size]
        found, last = np.empty((size, 2), np.int32), np.zeros(rows, np.int64)
        count_terms(words, tables.begins, tables.phrases, 0, np.zeros((1, rows), np.int32), found, last)
        codes, first = found[: int(last[-1]) if rows else 0].T.astype(np.int64)
        documents, sizes = words[first, 0].astype(np.int64), self._sizes[codes]
        edges = np.stack([words[:, 3], words[:, 3] + words[:, 4]], axis=1).astype(np.int64)
        starts, ends = edges[first, 0], edges[first + sizes - 1, 1]
        cases = np.empty(len(starts), np.int64)
        find_cases(data, starts, ends, cases)
        left = ~self._plain[codes] | (cases == OTHER)
        if self.swapper.tagger == "spacy":  # it reads whole sentences, so all terms of them must be known
            left = np.isin(documents, documents[left])
        counts = np.bincount(codes[~left], minlength=len(self._entries))
        tally = Tally()
        for code in np.flatnonzero(counts).tolist():
            (old,), entry = self._entries[code]
            tally[old, entry.new[0], entry.kind] = int(counts[code])
        changes = np.stack([documents, starts, ends, 3 * codes + cases]).compress(~left, axis=1)
        return changes, tally, _Others(np.stack([codes, documents, first, sizes], axis=1)[left], edges)

    def _other_changes(
        self, texts: Texts, others: _Others | None, tally: Tally
    ) -> Iterator[tuple[int, int, int, bytes]]:
        """Document, start, end and new bytes of what Python makes of the other terms, or of all there are;
        they are added to ``tally``."""
        documents = range(len(texts.starts)) if others is None else np.unique(others.terms[:, 1]).tolist()
        olds: dict[int, str] = {}
        characters: dict[int, Int64s] = {}  # of each text, where each character begins in the block
        for document in documents:
            start = int(texts.starts[document])
            raw = bytes(texts.data[start : texts.ends[document]])
            try:
                olds[document] = raw.decode()
            except UnicodeDecodeError as error:
                raise UnsoundText(document) from error
            begins = np.flatnonzero((np.frombuffer(raw, np.uint8) & 0xC0) != 0x80)
            characters[document] = np.append(begins, len(raw)) + start
        found: dict[int, list[Found]] | None = None
        if others is not None:
            found = {document: [] for document in documents}
            for code, document, row, size in others.terms.tolist():
                spans = characters[document].searchsorted(others.edges[row : row + size]).tolist()
                found[document].append(Found(tuple(map(tuple, spans)), self._entries[code][1]))
        swapped = self.swapper.swap_all([*olds.values()], None if found is None else [*found.values()])
        for document, one in zip(documents, swapped, strict=True):
            for change in one.changes:
                tally[lower(change.old), lower(change.new), change.kind] += 1
                start, end = characters[document][[change.start, change.end]].tolist()
                yield document, start, end, change.new.encode()


class _Others(NamedTuple):
    """What the kernel found and leaves to Python."""

    terms: Int64s  # (M, 4): which entry of the pairing, document, first word, words
    edges: Int64s  # (W, 2): where each word starts and ends


def _with_room(texts: Texts, begin: int, end: int) -> tuple[Texts, int, int]:
    """The kernel loads a few bytes beyond the end of a text: they must be there."""
    if not len(texts.ends) or int(texts.ends[-1]) + PADDING <= len(texts.data):
        return texts, begin, end
    data = np.concatenate([texts.data[begin:end], np.zeros(PADDING, np.uint8)])
    return Texts(data, texts.starts - begin, texts.ends - begin), 0, end - begin
