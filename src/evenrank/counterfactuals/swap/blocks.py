"""Many texts in one array of bytes, swapped at once: by the kernel of the scan, or in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Bools, Int32s, Int64s
from evenrank.counterfactuals.swap.case import upper
from evenrank.counterfactuals.swap.resolve import Found, resolved
from evenrank.counterfactuals.swap.swapper import Swap, Swapper, changes_of
from evenrank.data.lexicon import Lexicon, lower
from evenrank.evidence.scan.counter import PADDING, Bytes, Texts, UnsoundText
from evenrank.evidence.scan.phrases import Phrases

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


def make_block_swapper(swapper: Swapper) -> BlockSwapper:
    return BlockSwapper(swapper) if find_spec("numba") is None else KernelBlocks(swapper)


def swap_strings(blocks: BlockSwapper, texts: list[str]) -> tuple[list[str], Tally]:
    """Strings in, strings out, and how often which word became which."""
    try:
        given = Texts.of(pa.array(texts, pa.large_string()))
    except (pa.ArrowException, UnicodeEncodeError):  # half of a surrogate pair: bytes cannot hold it
        swapped = blocks.swapper.swap_all(texts)
        return [one.text for one in swapped], tally_of(change for one in swapped for change in one.changes)
    block = blocks.swap_all(given)
    return block.texts(), block.tally


def tally_of(changes: Iterable[Swap]) -> Tally:
    return Counter((lower(change.old), lower(change.new), change.kind) for change in changes)


class BlockSwapper:
    """In plain Python, where numba is not installed."""

    def __init__(self, swapper: Swapper) -> None:
        self.swapper = swapper

    def swap_all(self, texts: Texts) -> SwappedBlock:
        """The documents alone, from the first to the last."""
        return self(texts, *((int(texts.starts[0]), int(texts.ends[-1])) if len(texts.starts) else (0, 0)))

    def __call__(self, texts: Texts, begin: int, end: int) -> SwappedBlock:
        """``texts.data[begin:end]``, with the documents that lie in it swapped and all else as it was."""
        data = texts.data.data
        olds, edges = [], list(zip(texts.starts.tolist(), texts.ends.tolist(), strict=True))
        for row, (start, stop) in enumerate(edges):
            try:
                olds.append(str(data[start:stop], "utf-8"))
            except UnicodeDecodeError as error:
                raise UnsoundText(row) from error
        whole, starts, ends = bytearray(), [], []
        tally: Tally = Counter()
        done, changed = begin, 0
        for (start, stop), swapped in zip(edges, self.swapper.swap_all(olds), strict=True):
            whole += data[done:start]
            starts.append(len(whole))
            whole += swapped.text.encode()
            ends.append(len(whole))
            done = stop
            changed += bool(swapped.changes)
            tally.update(tally_of(swapped.changes))
        whole += data[done:end]
        return SwappedBlock(
            np.frombuffer(whole, np.uint8),
            np.array(starts, np.int64),
            np.array(ends, np.int64),
            changed,
            tally,
        )


class KernelBlocks(BlockSwapper):
    """Words that need no thought are replaced by compiled code; the rest as ``Swapper`` does it."""

    def __init__(self, swapper: Swapper) -> None:
        from evenrank.evidence.scan.tables import Tables

        super().__init__(swapper)
        pairing = swapper.pairing
        self._entries = list(pairing.entries.items())
        # the kernel looks for the terms of a lexicon, whose groups do not matter here
        terms = {tokens: code for code, tokens in enumerate(pairing.entries)}
        names = tuple(map(" ".join, terms))
        lexicon = Lexicon(pairing.name, ("words",), names, (0,) * len(names), (1.0,))
        self._tables = Tables.of(Phrases(lexicon, "word", terms, pairing.longest))
        # one word for one, whatever is around it: written in lower case, as a title, in upper case
        self._plain = np.array(
            [len(old) == len(entry.new) == 1 and not entry.context for old, entry in self._entries], bool
        )
        self._spellings = [
            spelling.encode()
            for plain, (_, entry) in zip(self._plain, self._entries, strict=True)
            for word in (entry.new[0] if plain else "",)
            for spelling in (word, upper(word[:1]) + word[1:], upper(word))
        ]

    def __call__(self, texts: Texts, begin: int, end: int) -> SwappedBlock:
        from evenrank.counterfactuals.swap.kernel import OTHER, find_cases, patch

        texts, begin, end = _with_room(texts, begin, end)
        terms = self._terms(texts)
        starts, ends = terms.words[terms.rows, 0], terms.words[terms.rows + terms.sizes - 1, 1]
        cases = np.empty(len(starts), np.int64)
        find_cases(texts.data, starts, ends, cases)
        plain = self._plain[terms.codes] & (cases != OTHER)
        changes = np.stack([terms.documents, starts, ends, 3 * terms.codes.astype(np.int64) + cases])
        changes = changes.compress(plain, axis=1)  # (4, changes)
        counts = np.bincount(terms.codes[plain], minlength=len(self._entries))
        tally: Tally = Counter()
        for code in np.flatnonzero(counts).tolist():
            (old,), entry = self._entries[code]
            tally[old, entry.new[0], entry.kind] = int(counts[code])
        spellings = dict[bytes, int]()
        if not plain.all():
            rows = []
            for document, start, stop, change in self._thought_over(texts, terms, plain):
                tally[lower(change.old), lower(change.new), change.kind] += 1
                code = spellings.setdefault(change.new.encode(), len(self._spellings) + len(spellings))
                rows.append((document, start, stop, code))
            changes = np.concatenate([changes, np.array(rows, np.int64).reshape(-1, 4).T], axis=1)
            changes = changes.take(np.argsort(changes[1], kind="stable"), axis=1)
        documents, starts, ends, codes = changes
        written = [*self._spellings, *spellings]
        offsets = np.concatenate([[0], np.cumsum(list(map(len, written)))]).astype(np.int64)
        longer = offsets[codes + 1] - offsets[codes] - (ends - starts)  # (changes,)
        out = np.empty(end - begin + int(longer.sum()), np.uint8)
        patch(
            texts.data, begin, end, starts, ends, codes, offsets,
            np.frombuffer(b"".join(written), np.uint8), out,
        )  # fmt: skip
        grown = np.bincount(documents, longer, len(texts.starts)).astype(np.int64)  # (D,)
        shifts = np.cumsum(grown) - begin
        changed = len(np.unique(documents))
        return SwappedBlock(out, texts.starts + shifts - grown, texts.ends + shifts, changed, tally)

    def _terms(self, texts: Texts) -> _Terms:
        from evenrank.counterfactuals.swap.kernel import match_terms
        from evenrank.evidence.scan.kernel import find_words

        tables, rows = self._tables, len(texts.starts)
        most = (int(texts.ends[-1] - texts.starts[0]) + rows) // 2 + 1 if rows else 1
        words = np.empty((most, 5), np.int32)  # what is not written to is never given memory
        size = find_words(
            texts.data, texts.starts, texts.ends, None, tables.addresses, tables.shift, tables.head_shift,
            tables.longest_word, np.zeros(rows, np.int32), words,
        )  # fmt: skip
        if size < 0:
            raise UnsoundText(~int(size))
        words = words[:size]
        found = np.empty((size, 3), np.int32)
        found = found[: match_terms(words, tables.begins, tables.phrases, found)]
        codes, first, sizes = found.T.copy()
        places = np.empty((size, 2), np.int64)
        places[:, 0] = words[:, 3]
        places[:, 1] = places[:, 0] + words[:, 4]
        return _Terms(codes, words[first, 0], first, sizes, places)

    def _thought_over(
        self, texts: Texts, terms: _Terms, plain: Bools
    ) -> Iterator[tuple[int, int, int, Swap]]:
        """Document, start and end of each change that the kernel leaves to Python, and the change."""
        documents = np.unique(terms.documents[~plain])
        firsts = np.searchsorted(terms.documents, documents).tolist()
        lasts = np.searchsorted(terms.documents, documents, side="right").tolist()
        olds, found = [], []
        places: list[range | Int64s] = []  # of each text, where each character is in its bytes
        for document, first, last in zip(documents.tolist(), firsts, lasts, strict=True):
            start = int(texts.starts[document])
            raw = bytes(texts.data[start : texts.ends[document]])
            olds.append(raw.decode())
            places.append(range(len(raw) + 1) if raw.isascii() else _character_places(raw))
            found.append(self._found(terms, first, last, start, places[-1]))
        news = resolved(olds, found, self.swapper.tagger)
        for document, first, old, own, there, becomes in zip(
            documents.tolist(), firsts, olds, places, found, news, strict=True
        ):
            start = int(texts.starts[document])
            for number, (term, new) in enumerate(zip(there, becomes, strict=True), first):
                if not plain[number]:
                    for change in changes_of(old, [term], [new]):
                        yield document, start + own[change.start], start + own[change.end], change

    def _found(self, terms: _Terms, first: int, last: int, start: int, places: range | Int64s) -> list[Found]:
        """The terms of the document that begins at ``start``, with places in characters."""
        codes, rows, sizes = (own[first:last].tolist() for own in (terms.codes, terms.rows, terms.sizes))
        edges = terms.words[rows[0] : rows[-1] + sizes[-1]] - start
        if not isinstance(places, range):
            edges = places.searchsorted(edges)
        spans = list(map(tuple, edges.tolist()))
        return [
            Found(tuple(spans[row - rows[0] : row - rows[0] + size]), self._entries[code][1])
            for code, row, size in zip(codes, rows, sizes, strict=True)
        ]


class _Terms(NamedTuple):
    """The terms of some documents, in the order of the text."""

    codes: Int32s  # (M,): which entry of the pairing
    documents: Int32s  # (M,)
    rows: Int32s  # (M,): the first word of each
    sizes: Int32s  # (M,): words
    words: npt.NDArray[np.int64]  # (W, 2): where each word starts and ends


def _character_places(raw: bytes) -> Int64s:
    """Where each character of a text in UTF-8 begins, and where the last one ends."""
    begins = (np.frombuffer(raw, np.uint8) & 0xC0) != 0x80
    return np.append(np.flatnonzero(begins), len(raw))


def _with_room(texts: Texts, begin: int, end: int) -> tuple[Texts, int, int]:
    """The kernel loads a few bytes beyond the end of a text: they must be there."""
    if not len(texts.ends) or int(texts.ends[-1]) + PADDING <= len(texts.data):
        return texts, begin, end
    data = np.concatenate([texts.data[begin:end], np.zeros(PADDING, np.uint8)])
    return Texts(data, texts.starts - begin, texts.ends - begin), 0, end - begin
