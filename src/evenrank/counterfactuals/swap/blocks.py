"""Many texts in one array of bytes, swapped at once.

A word that becomes one word whatever is around it is replaced by compiled code, where numba is installed.
Other terms go by the rules of ``Swapper``; without numba, or with spaCy, whole documents are left to it.
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
from evenrank.counterfactuals.swap.pairing import Entry, upper
from evenrank.counterfactuals.swap.swapper import Found, Swap, Swapper, changes_of
from evenrank.evidence.scan.counter import PADDING, UnsoundText, read_only
from evenrank.evidence.scan.tables import Tables
from evenrank.io.reading import Bytes, Texts

_REACH = 1 << 10  # bytes to each side of a word that the rules may look at: they look at 80 characters

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
        # spaCy reads whole sentences, and takes so long that nothing else matters
        fast = swapper.tagger == "rules" and find_spec("numba") is not None
        self._tables = Tables.of(swapper.pairing.phrases) if fast else None
        self._sizes = np.array([len(old) for old, _ in self._entries])
        self._plain = np.array([
            len(old) == len(entry.new) == 1 and not entry.before_noun and not entry.before_name
            for old, entry in self._entries
        ])  # fmt: skip
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
        if self._tables is None or not len(texts.starts):
            return self._by_python(texts, begin, end)
        if int(texts.ends[-1]) + PADDING > len(texts.data):
            # the kernel loads a few bytes beyond the end of a text: they must be there
            data = np.concatenate([texts.data[begin:end], np.zeros(PADDING, np.uint8)])
            texts, begin, end = Texts(data, texts.starts - begin, texts.ends - begin), 0, end - begin
        return self._by_kernel(texts, begin, end, self._tables)

    def _by_python(self, texts: Texts, begin: int, end: int) -> SwappedBlock:
        olds = []
        edges = list(zip(texts.starts.tolist(), texts.ends.tolist(), strict=True))
        for document, (start, stop) in enumerate(edges):
            try:
                olds.append(bytes(texts.data[start:stop]).decode())
            except UnicodeDecodeError as error:
                raise UnsoundText(document) from error
        swapped = self.swapper.swap_all(olds)
        news = [one.text.encode() for one in swapped]
        pieces, done = [], begin
        for (start, stop), new in zip(edges, news, strict=True):
            pieces += [texts.data[done:start].tobytes(), new]
            done = stop
        out = np.frombuffer(b"".join([*pieces, texts.data[done:end].tobytes()]), np.uint8)
        sizes = np.fromiter(map(len, news), np.int64, len(news))
        ends = texts.ends - begin + np.cumsum(sizes - (texts.ends - texts.starts))
        tally = Tally(change.pair for one in swapped for change in one.changes)
        return SwappedBlock(out, ends - sizes, ends, sum(bool(one.changes) for one in swapped), tally)

    def _by_kernel(self, texts: Texts, begin: int, end: int, tables: Tables) -> SwappedBlock:
        """Plain words by the kernel, and others each by the text around it."""
        from evenrank.counterfactuals.swap.kernel import OTHER, find_cases, patch

        data = read_only(texts.data)
        codes, documents, first, edges = self._terms(texts, tables)
        starts, ends = edges[first, 0], edges[first + self._sizes[codes] - 1, 1]  # (M,)
        cases = np.empty(len(starts), np.int64)
        find_cases(data, starts, ends, cases)
        plain = self._plain[codes] & (cases != OTHER)
        tally = Tally()
        for code, count in enumerate(np.bincount(codes[plain], minlength=len(self._entries)).tolist()):
            if count:
                (old,), entry = self._entries[code]
                tally[old, entry.new[0], entry.kind] = count
        changes = np.stack([documents, starts, ends, 3 * codes + cases]).compress(plain, axis=1)  # (4, C)
        written, spelled, rows = list(self._spellings), dict[str, int](), []
        for row in np.flatnonzero(~plain).tolist():
            old, entry = self._entries[codes[row]]
            document, words = int(documents[row]), edges[first[row] : first[row] + len(old)].tolist()
            low = max(int(texts.starts[document]), words[0][0] - _REACH)
            high = min(int(texts.ends[document]), words[-1][1] + _REACH)
            for change, start in self._changes(texts.data[low:high].tobytes(), low, words, entry):
                tally[change.pair] += 1
                if change.new not in spelled:
                    spelled[change.new] = len(written)
                    written.append(change.new.encode())
                rows.append((document, start, start + len(change.old.encode()), spelled[change.new]))
        if rows:
            changes = np.concatenate([changes, np.array(rows, np.int64).T], axis=1)
            changes = changes.take(np.argsort(changes[1], kind="stable"), axis=1)
        documents, starts, ends, codes = changes
        offsets = np.fromiter(accumulate(map(len, written), initial=0), np.int64)
        longer = offsets[codes + 1] - offsets[codes] - (ends - starts)  # (C,)
        out = np.empty(end - begin + int(longer.sum()), np.uint8)
        patch(data, begin, end, starts, ends, codes, offsets, np.frombuffer(b"".join(written), np.uint8), out)
        grown = np.bincount(documents, longer, len(texts.starts)).astype(np.int64)  # (D,)
        shifts = np.cumsum(grown) - begin
        changed = len(np.unique(documents))
        return SwappedBlock(out, texts.starts + shifts - grown, texts.ends + shifts, changed, tally)

    def _changes(
        self, raw: bytes, low: int, words: list[list[int]], entry: Entry
    ) -> Iterator[tuple[Swap, int]]:
        """What becomes of a term whose words stand at these bytes of a block, and where each change starts;
        ``raw`` is what stands around it, from the byte ``low`` on."""
        begin = words[0][0]
        # characters that are cut at the edges are left out
        before, text = (part.decode(errors="ignore") for part in (raw[: begin - low], raw[begin - low :]))
        spans = tuple(
            (len(before) + len(raw[begin - low : start - low].decode()),
             len(before) + len(raw[begin - low : stop - low].decode()))
            for start, stop in words
        )  # fmt: skip
        for change in changes_of(before + text, Found(spans, entry)):
            yield change, begin + len(text[: change.start - len(before)].encode())

    def _terms(self, texts: Texts, tables: Tables) -> tuple[Int64s, Int64s, Int64s, Int64s]:
        """(M,): which entry of the pairing each term is, its document and its first word; (W, 2): where each
        word starts and ends."""
        from evenrank.evidence.scan.kernel import count_terms, find_words

        rows = len(texts.starts)
        most = (int(texts.ends[-1] - texts.starts[0]) + rows) // 2 + 1
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
        codes, first = found[: int(last[-1])].T.astype(np.int64)
        edges = np.stack([words[:, 3], words[:, 3] + words[:, 4]], axis=1).astype(np.int64)
        return codes, words[first, 0].astype(np.int64), first, edges
