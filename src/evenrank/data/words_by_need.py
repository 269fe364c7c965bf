"""Word counts that stay where they are stored: only the rows of documents that somebody asks for are read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Int64s, UInt64s
from evenrank.data.evidence_source import Gathered, Pairs, Sparse
from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import counted


class FoundRows(NamedTuple):
    """The rows that were asked for, and what had to be read to find them."""

    words: WordCounts
    rows_read: int
    bytes_read: int


class CountsStore(Protocol):
    """Where counts are kept. It finds rows by the hash of their id: one more than was meant does no harm."""

    name: str
    lexicon: Lexicon
    tokenizer: str
    source: str | None
    has_terms: bool
    rows: int
    bytes: int

    @property
    def fingerprint(self) -> str: ...

    def find(self, hashes: UInt64s) -> FoundRows:
        """The rows whose ids have these hashes, which are sorted and distinct."""
        ...

    def whole(self) -> WordCounts: ...

    def batches(self) -> Iterator[WordCounts]:
        """All rows, some at a time, and without terms unless the counts are made of them."""
        ...


class WordsByNeed(WordCounts):
    """What ``WordCounts`` is, of counts that are too many to load.

    ``gather`` reads the rows of the documents that it is asked about and keeps them; ``foresee`` reads those
    of several runs at once; ``leading_sizes`` reads all rows and keeps none. Whoever looks at all documents
    (``doc_ids``, ``counts``, a background that is the whole collection) loads them all.
    """

    def __init__(self, store: CountsStore) -> None:
        for name, value in {
            "lexicon": store.lexicon,
            "tokenizer": store.tokenizer,
            "source": store.source,
            "_store": store,
            "_asked": np.zeros(0, np.uint64),
            "_known": None,
            "_sizes": {},
            "_passes": 0,
            "_rows_read": 0,
            "_bytes_read": 0,
            "_lock": threading.RLock(),
        }.items():
            object.__setattr__(self, name, value)

    _store: CountsStore
    _asked: UInt64s  # hashes that were looked for, sorted
    _known: WordCounts | None  # the rows that were found for them
    _sizes: dict[int, Int64s]  # what ``leading_sizes`` found
    _passes: int
    _rows_read: int
    _bytes_read: int
    _lock: threading.RLock  # threads may ask at once, and for the same rows: one reads, the others wait

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    @property
    def doc_ids(self) -> pa.LargeStringArray:
        return self._whole.doc_ids

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return self._whole.lengths

    @property
    def counts(self) -> npt.NDArray[Any]:
        return self._whole.counts

    @property
    def tokens(self) -> npt.NDArray[np.int64]:
        return self._whole.tokens

    @property
    def terms(self) -> Sparse | None:
        return self._whole.terms if self._store.has_terms else None

    @property
    def has_terms(self) -> bool:
        return self._store.has_terms

    @cached_property
    def fingerprint(self) -> str:
        return self._store.fingerprint

    @cached_property
    def _whole(self) -> WordCounts:
        return self._store.whole()

    def __len__(self) -> int:
        return self._store.rows

    def __repr__(self) -> str:
        return (
            f"<WordCounts: {counted(len(self), 'document', 'documents')}, lexicon {self.lexicon.name!r}, "
            f"read from {self._store.name} by need>"
        )

    def _repr_html_(self) -> str:
        from evenrank.text import escape_html

        return f"<p>{escape_html(repr(self))}</p>"

    @property
    def reading(self) -> dict[str, int]:
        """In how many passes how many rows were read so far, each time that they were, of how many, and how
        many bytes, of how many."""
        return {
            "passes": self._passes,
            "rows read": self._rows_read,
            "rows": self._store.rows,
            "bytes read": self._bytes_read,
            "bytes": self._store.bytes,
        }

    def foresee(self, hashes: UInt64s) -> None:
        """Read the rows of all documents with these hashes of their ids, which may stand there many times."""
        wanted = distinct_hashes(hashes)
        with self._lock:
            if len(self._asked):
                places = np.minimum(np.searchsorted(self._asked, wanted), len(self._asked) - 1)
                wanted = wanted[self._asked[places] != wanted]
            if not len(wanted) and self._known is not None:
                return
            found = self._store.find(wanted)
            parts = [found.words] if self._known is None else [self._known, found.words]
            object.__setattr__(self, "_known", parts[0] if len(parts) == 1 else joined_counts(parts))
            object.__setattr__(self, "_asked", np.sort(np.concatenate([self._asked, wanted])))
            object.__setattr__(self, "_passes", self._passes + (found.rows_read > 0))
            object.__setattr__(self, "_rows_read", self._rows_read + found.rows_read)
            object.__setattr__(self, "_bytes_read", self._bytes_read + found.bytes_read)

    def gather(self, pairs: Pairs) -> Gathered:
        return self._rows_of(pairs.doc_hashes).gather(pairs)

    def leading_sizes(self, minimum: int) -> Int64s:
        """Of all documents, by one pass over their counts, which is made once."""
        with self._lock:
            if minimum not in self._sizes:
                parts = [batch.leading_sizes(minimum) for batch in self._store.batches()]
                nothing = np.zeros(len(self.lexicon.groups) + 1, np.int64)
                self._sizes[minimum] = np.sum([nothing, *parts], axis=0)
                object.__setattr__(self, "_passes", self._passes + 1)
                object.__setattr__(self, "_rows_read", self._rows_read + self._store.rows)
                object.__setattr__(self, "_bytes_read", self._bytes_read + self._store.bytes)
            return self._sizes[minimum]

    def among(self, hashes: UInt64s) -> WordCounts:
        """The counts of the documents with these hashes alone, as they were loaded."""
        return self._rows_of(hashes)

    def _rows_of(self, hashes: UInt64s) -> WordCounts:
        self.foresee(hashes)
        return self._store.find(hashes[:0]).words if self._known is None else self._known


def distinct_hashes(hashes: UInt64s) -> UInt64s:
    """Sorted, each once. (``np.unique`` builds a table of them, which takes ten times as long.)"""
    ordered = np.sort(hashes)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def joined_counts(parts: Sequence[WordCounts]) -> WordCounts:
    """The rows of several counts with the same lexicon, one after another."""
    first = parts[0]
    terms = None
    if first.terms is not None:
        own = [part.terms for part in parts if part.terms is not None]
        sizes = [len(one.places) for one in own]
        before = np.cumsum([0, *sizes[:-1]])
        offsets = [one.offsets[:-1] + begin for one, begin in zip(own, before, strict=True)]
        terms = Sparse(
            np.concatenate([*offsets, [sum(sizes)]]).astype(np.int64),
            np.concatenate([one.places for one in own]),
            np.concatenate([one.values for one in own]),
            first.terms.width,
        )
    return WordCounts(
        pa.concat_arrays([part.doc_ids for part in parts]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.counts for part in parts]),
        first.lexicon,
        first.tokenizer,
        terms,
        first.source,
        np.concatenate([part.tokens for part in parts]),
    )
