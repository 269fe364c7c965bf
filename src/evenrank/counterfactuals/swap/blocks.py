"""Many texts in one array of bytes, swapped at once: by the kernel of the scan, or in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Int64s
from evenrank.counterfactuals.swap.case import upper
from evenrank.counterfactuals.swap.changes import Swap
from evenrank.counterfactuals.swap.pairing import Pairing
from evenrank.counterfactuals.swap.resolve import Found, resolved
from evenrank.counterfactuals.swap.swapper import Swapper, changes_of
from evenrank.data.lexicon import Lexicon, lower
from evenrank.evidence.scan.counter import PADDING, Bytes, Texts, UnsoundText
from evenrank.evidence.scan.phrases import Phrases

Tally = Counter[tuple[str, str, str]]
"""How often which word became which, both in lower case, and of what kind."""

_LOWER, _TITLE, _UPPER, _OTHER = range(4)


class SwappedBlock(NamedTuple):
    """The bytes after the swap; document d is now ``data[starts[d]:ends[d]]``."""

    data: Bytes
    starts: Int64s
    ends: Int64s
    changed: int  # documents with a word swapped
    tally: Tally


class BlockSwapper(Protocol):
    fast: bool
    swapper: Swapper

    def __call__(self, texts: Texts, begin: int, end: int) -> SwappedBlock:
        """``texts.data[begin:end]``, with the documents that lie in it swapped and all else as it was."""
        ...


def make_block_swapper(swapper: Swapper) -> BlockSwapper:
    return SimpleBlocks(swapper) if find_spec("numba") is None else KernelBlocks(swapper)


def swap_strings(blocks: BlockSwapper, texts: list[str]) -> tuple[list[str], Tally]:
    """Strings in, strings out, and how often which word became which."""
    try:
        array = pa.array(texts, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError):  # half of a surrogate pair: bytes cannot hold it
        swapped = blocks.swapper.swap_all(texts)
        return [one.text for one in swapped], tally_of(change for one in swapped for change in one.changes)
    given = Texts.of(array)
    block = blocks(given, int(given.starts[0]) if texts else 0, int(given.ends[-1]) if texts else 0)
    data = block.data.tobytes()
    edges = zip(block.starts.tolist(), block.ends.tolist(), strict=True)
    return [data[start:end].decode() for start, end in edges], block.tally


def tally_of(changes: Iterable[Swap]) -> Tally:
    return Counter((lower(change.old), lower(change.new), change.kind) for change in changes)


class SimpleBlocks:
    fast = False

    def __init__(self, swapper: Swapper) -> None:
        self.swapper = swapper

    def __call__(self, texts: Texts, begin: int, end: int) -> SwappedBlock:
        data = texts.data.data
        olds, edges = [], list(zip(texts.starts.tolist(), texts.ends.tolist(), strict=True))
        for row, (start, stop) in enumerate(edges):
            try:
                olds.append(str(data[start:stop], "utf-8"))
            except UnicodeDecodeError as error:
                raise UnsoundText(row) from error
        pieces, starts, ends = [], [], []
        tally: Tally = Counter()
        done, at, changed = begin, 0, 0
        for (start, stop), swapped in zip(edges, self.swapper.swap_all(olds), strict=True):
            between, new = bytes(data[done:start]), swapped.text.encode()
            pieces += [between, new]
            starts.append(at + len(between))
            at += len(between) + len(new)
            ends.append(at)
            done = stop
            changed += bool(swapped.changes)
            tally.update(tally_of(swapped.changes))
        whole = b"".join([*pieces, bytes(data[done:end])])
        return SwappedBlock(
            np.frombuffer(whole, np.uint8),
            np.array(starts, np.int64),
            np.array(ends, np.int64),
            changed,
            tally,
        )


class _Terms(NamedTuple):
    """The terms of some documents, in the order of the text."""

    codes: npt.NDArray[np.int32]  # (M,): which entry of the pairing
    documents: npt.NDArray[np.int32]  # (M,)
    rows: npt.NDArray[np.int32]  # (M,): the first word of each
    sizes: npt.NDArray[np.int32]  # (M,): words
    words: npt.NDArray[np.int64]  # (W, 2): where each word starts and ends


class KernelBlocks:
    """Words that need no thought are replaced by compiled code; the rest as ``Swapper`` does it."""

    fast = True

    def __init__(self, swapper: Swapper) -> None:
        from evenrank.evidence.scan.tables import Tables

        self.swapper = swapper
        self._pairing = swapper.pairing
        self._entries = list(self._pairing.entries.items())
        self._tables = Tables.of(_phrases(self._pairing))
        self._plain = np.array(
            [len(old) == len(entry.new) == 1 and not entry.context for old, entry in self._entries], bool
        )
        self._spellings = [  # of each plain term in lower case, as a title, in upper case
            spelling.encode()
            for plain, (_, entry) in zip(self._plain, self._entries, strict=True)
            for spelling in (_written(entry.new[0]) if plain else ("", "", ""))
        ]

    def __call__(self, texts: Texts, begin: int, end: int) -> SwappedBlock:
        from evenrank.counterfactuals.swap.kernel import find_cases, patch

        texts, begin, end = _with_room(texts, begin, end)
        terms = self._terms(texts)
        starts, ends = terms.words[terms.rows, 0], terms.words[terms.rows + terms.sizes - 1, 1]
        cases = np.empty(len(starts), np.int64)
        find_cases(texts.data, starts, ends, cases)
        is_plain = self._plain[terms.codes] & (cases != _OTHER)
        tally: Tally = self._tally(terms.codes[is_plain])
        codes = 3 * terms.codes[is_plain].astype(np.int64) + cases[is_plain]
        documents = terms.documents[is_plain].astype(np.int64)
        spellings = list(self._spellings)
        starts, ends = starts[is_plain], ends[is_plain]
        if not is_plain.all():
            more = _Changes.of(self._thought_over(texts, terms, is_plain, tally), len(spellings))
            starts, ends = np.concatenate([starts, more.starts]), np.concatenate([ends, more.ends])
            order = np.argsort(starts, kind="stable")
            starts, ends = starts[order], ends[order]
            codes = np.concatenate([codes, more.codes])[order]
            documents = np.concatenate([documents, more.documents])[order]
            spellings += more.spellings
        offsets = np.concatenate([[0], np.cumsum([len(spelling) for spelling in spellings])]).astype(np.int64)
        longer = offsets[codes + 1] - offsets[codes] - (ends - starts)  # (changes,)
        out = np.empty(end - begin + int(longer.sum()), np.uint8)
        patch(
            texts.data, begin, end, starts, ends, codes, offsets,
            np.frombuffer(b"".join(spellings), np.uint8), out,
        )  # fmt: skip
        grown = np.bincount(documents, longer, len(texts.starts)).astype(np.int64)  # (D,)
        shifts = np.cumsum(grown)
        changed = len(np.unique(documents))
        return SwappedBlock(
            out, texts.starts - begin + shifts - grown, texts.ends - begin + shifts, changed, tally
        )

    def _terms(self, texts: Texts) -> _Terms:
        from evenrank.counterfactuals.swap.kernel import match_terms
        from evenrank.evidence.scan.kernel import find_words

        tables, rows = self._tables, len(texts.starts)
        most = (int(texts.ends[-1] - texts.starts[0]) + rows) // 2 + 1 if rows else 1
        words = np.empty((most, 5), np.int32)  # what is not written to is never given memory
        lengths = np.zeros(rows, np.int32)
        size = find_words(
            texts.data, texts.starts, texts.ends, None, tables.addresses, tables.shift, tables.head_shift,
            tables.longest_word, lengths, words,
        )  # fmt: skip
        if size < 0:
            raise UnsoundText(~int(size))
        words = words[:size]
        found = np.empty((size, 3), np.int32)
        found = found[: match_terms(words, tables.begins, tables.phrases, found)]
        places = np.empty((size, 2), np.int64)
        places[:, 0] = words[:, 3]
        places[:, 1] = places[:, 0] + words[:, 4]
        return _Terms(
            found[:, 0].copy(), words[found[:, 1], 0], found[:, 1].copy(), found[:, 2].copy(), places
        )

    def _tally(self, codes: npt.NDArray[np.int32]) -> Tally:
        tally: Tally = Counter()
        counts = np.bincount(codes, minlength=len(self._entries))
        for code in np.flatnonzero(counts).tolist():
            (old,), entry = self._entries[code]
            tally[old, entry.new[0], entry.kind] = int(counts[code])
        return tally

    def _thought_over(
        self, texts: Texts, terms: _Terms, is_plain: npt.NDArray[np.bool_], tally: Tally
    ) -> Iterator[tuple[int, int, int, bytes]]:
        """Document, start, end and new bytes of each change that the kernel leaves to Python."""
        wanted = np.unique(terms.documents[~is_plain])
        first = np.searchsorted(terms.documents, wanted)
        last = np.searchsorted(terms.documents, wanted, side="right")
        olds, found, numbers = [], [], []
        for document, low, high in zip(wanted.tolist(), first.tolist(), last.tolist(), strict=True):
            raw = bytes(texts.data[texts.starts[document] : texts.ends[document]])
            numbers.append(range(low, high))
            olds.append(raw.decode())
            found.append(list(self._found(raw, terms, low, high, int(texts.starts[document]))))
        news = resolved(olds, found, self.swapper.tagger)
        for document, own, text, places, becomes in zip(
            wanted.tolist(), numbers, olds, found, news, strict=True
        ):
            for number, term, new in zip(own, places, becomes, strict=True):
                if is_plain[number]:
                    continue
                row = int(terms.rows[number])
                edges = terms.words[row : row + int(terms.sizes[number])]
                for change, (start, end) in _placed(text, term, new, edges.tolist()):
                    tally[lower(change.old), lower(change.new), change.kind] += 1
                    yield document, start, end, change.new.encode()

    def _found(self, raw: bytes, terms: _Terms, low: int, high: int, base: int) -> Iterator[Found]:
        """The terms of one document with places in characters."""
        is_ascii = raw.isascii()
        byte = character = 0
        for number in range(low, high):
            row = int(terms.rows[number])
            spans = []
            for start, end in (terms.words[row : row + int(terms.sizes[number])] - base).tolist():
                if is_ascii:
                    spans.append((start, end))
                    continue
                begin = character + len(raw[byte:start].decode())
                character, byte = begin + len(raw[start:end].decode()), end
                spans.append((begin, character))
            yield Found(tuple(spans), self._entries[int(terms.codes[number])][1])


class _Changes(NamedTuple):
    documents: Int64s
    starts: Int64s
    ends: Int64s
    codes: Int64s
    spellings: list[bytes]

    @classmethod
    def of(cls, changes: Iterator[tuple[int, int, int, bytes]], first: int) -> _Changes:
        known: dict[bytes, int] = {}
        rows = [
            (document, start, end, known.setdefault(new, first + len(known)))
            for document, start, end, new in changes
        ]
        documents, starts, ends, codes = np.array(rows, np.int64).reshape(-1, 4).T.copy()
        return cls(documents, starts, ends, codes, list(known))


def _placed(
    text: str, term: Found, new: tuple[str, ...] | None, edges: list[list[int]]
) -> Iterator[tuple[Swap, tuple[int, int]]]:
    """The changes of one term, each with its place in bytes."""
    if new is None:
        return
    starts = {span[0]: edge[0] for span, edge in zip(term.spans, edges, strict=True)}
    ends = {span[1]: edge[1] for span, edge in zip(term.spans, edges, strict=True)}
    for change in changes_of(text, [term], [new]):
        yield change, (starts[change.start], ends[change.end])


def _written(word: str) -> tuple[str, str, str]:
    return word, upper(word[:1]) + word[1:], upper(word)


def _phrases(pairing: Pairing) -> Phrases:
    """The terms of a pairing as the kernel of the scan takes them. Their groups do not matter."""
    terms = {tokens: code for code, tokens in enumerate(pairing.entries)}
    names = tuple(" ".join(tokens) for tokens in terms)
    words = Lexicon(pairing.name, ("words",), names, (0,) * len(names), (1.0,))
    return Phrases(words, "word", terms, pairing.longest)


def _with_room(texts: Texts, begin: int, end: int) -> tuple[Texts, int, int]:
    """The kernel loads a few bytes beyond the end of a text: they must be there."""
    if not len(texts.ends) or int(texts.ends[-1]) + PADDING <= len(texts.data):
        return texts, begin, end
    data = np.concatenate([texts.data[begin:end], np.zeros(PADDING, np.uint8)])
    return Texts(data, texts.starts - begin, texts.ends - begin), 0, end - begin
