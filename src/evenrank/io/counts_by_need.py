"""Counts that are opened, not loaded: rows are read when somebody asks for their documents."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Int64s, UInt64s
from evenrank.data.evidence_source import Gathered, Pairs, Sparse
from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import counted
from evenrank.ids import as_strings, offsets_of
from evenrank.io.counts import (
    StoredCounts,
    counts_of_table,
    plain_columns,
    read_counts,
    sound_counts,
    stored_counts,
)
from evenrank.io.rows_by_need import RowsByNeed

LOADED = 1 << 20  # rows: a file of so many takes less than a tenth of a second, and all of it is at hand


def open_counts(
    path: str | os.PathLike[str],
    lexicon: Lexicon | None = None,
    tokenizer: str | None = None,
    source: str | os.PathLike[str] | None = None,
) -> WordCounts:
    """Word counts from a file or a folder that ``scan`` wrote: small files are loaded, others read by need.

    With a ``lexicon``, a ``tokenizer`` or a ``source``, counts that were made with another are refused.
    """
    stored = stored_counts(path)
    if not stored.path.is_dir() and stored.about.rows <= LOADED:
        return read_counts(path, lexicon, tokenizer, source)
    stored.about.check(lexicon, tokenizer, source)
    return WordsByNeed(stored)


class WordsByNeed(WordCounts):
    """What ``WordCounts`` is, of counts that are too many to load.

    ``gather`` reads the rows of the documents that it is asked about and keeps them; ``foresee`` reads those
    of several runs at once; ``leading_sizes`` reads all rows and keeps none. Whoever looks at all documents
    (``doc_ids``, ``counts``, a background that is the whole collection) loads them all.
    """

    _stored: StoredCounts
    _rows: RowsByNeed
    _built: WordCounts  # of the rows that are known
    _sizes: dict[int, Int64s]

    def __init__(self, stored: StoredCounts) -> None:
        about = stored.about
        rows = RowsByNeed(stored.files, about.schema, about.rows, sound_counts)
        for name, value in {
            "lexicon": about.lexicon,
            "tokenizer": about.tokenizer,
            "source": about.source,
            "_stored": stored,
            "_rows": rows,
            "_sizes": {},
        }.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_built", self._counts(about.schema.empty_table()))

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
        return self._whole.terms if self.has_terms else None

    @property
    def has_terms(self) -> bool:
        return self._stored.about.has_terms

    @cached_property
    def fingerprint(self) -> str:
        """Of a folder that of its parts' digests; of a file the same as when it is loaded."""
        digest = hashlib.sha256(f"{self.lexicon.fingerprint} {self.tokenizer}".encode())
        if self._stored.folder is not None:
            for part in self._stored.folder.parts:
                digest.update(f"{part.rows} {part.digest}\n".encode())
            return digest.hexdigest()
        before = 0
        digest.update(np.zeros(1, np.int64).tobytes())
        for table in self._rows.pieces(["id"]):
            offsets = offsets_of(as_strings(table.column(0)))
            digest.update((offsets[1:] - offsets[0] + before).tobytes())
            before += int(offsets[-1] - offsets[0])
        for table in self._rows.pieces(["id"]):
            ids = as_strings(table.column(0))
            offsets, texts = offsets_of(ids), ids.buffers()[2]
            if texts is not None:
                digest.update(memoryview(texts)[int(offsets[0]) : int(offsets[-1])])
        for table in self._rows.pieces(["length"]):
            digest.update(table.column(0).to_numpy().astype(np.int64).tobytes())
        for table in self._rows.pieces():
            digest.update(np.ascontiguousarray(self._counts(table).counts).tobytes())
        return digest.hexdigest()

    def __len__(self) -> int:
        return self._rows.rows

    def __repr__(self) -> str:
        return (
            f"<WordCounts: {counted(len(self), 'document', 'documents')}, lexicon {self.lexicon.name!r}, "
            f"read from {self._stored.path} by need>"
        )

    def _repr_html_(self) -> str:
        from evenrank.text import escape_html

        return f"<p>{escape_html(repr(self))}</p>"

    @property
    def reading(self) -> dict[str, int]:
        """What was read so far."""
        return self._rows.reading

    def foresee(self, hashes: UInt64s) -> None:
        """Read the rows of all documents with these hashes of their ids, which may stand there many times."""
        self._rows.known(hashes)

    def gather(self, pairs: Pairs) -> Gathered:
        return self.among(pairs.doc_hashes).gather(pairs)

    def among(self, hashes: UInt64s) -> WordCounts:
        """The counts of the documents that were asked for so far, those with these hashes among them."""
        return self._of(self._rows.known(hashes))

    def all_known(self) -> WordCounts:
        """The counts of all documents, those first that were asked for before."""
        return self._of(self._rows.all())

    def _of(self, known: pa.Table) -> WordCounts:
        built = self._built
        if len(known) != len(built):
            built = self._counts(known)
            object.__setattr__(self, "_built", built)
        return built

    def leading_sizes(self, minimum: int) -> Int64s:
        """Of all documents, by one pass over their counts, which is made once."""
        if minimum not in self._sizes:
            # weighted counts are made of terms
            columns = plain_columns(self.lexicon) if self.lexicon.weights is None else None
            parts = [self._counts(table).leading_sizes(minimum) for table in self._rows.pieces(columns)]
            self._rows.passes += 1
            self._sizes[minimum] = np.sum([np.zeros(len(self.lexicon.groups) + 1, np.int64), *parts], axis=0)
        return self._sizes[minimum]

    @cached_property
    def _whole(self) -> WordCounts:
        return self._counts(pa.concat_tables(list(self._rows.pieces())))

    def _counts(self, table: pa.Table) -> WordCounts:
        with sound_counts(self._stored.path):
            return counts_of_table(table, self.lexicon, self.tokenizer, self.source)
