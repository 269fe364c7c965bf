"""Counts that are opened, not loaded: rows are read when somebody asks for their documents."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Int64s, UInt64s
from evenrank.data.evidence_source import Gathered, Pairs, Sparse
from evenrank.data.words import WordCounts
from evenrank.errors import counted
from evenrank.io.content_hash import hash_of_file
from evenrank.io.counts import StoredCounts, counts_of_table, plain_columns, sound_counts
from evenrank.io.rows_by_need import RowsByNeed


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
        self.__dict__.update(  # the fields of a frozen class
            lexicon=about.lexicon,
            tokenizer=about.tokenizer,
            source=about.source,
            _stored=stored,
            _rows=RowsByNeed(stored.files, about.schema, about.rows, sound_counts),
            _sizes={},
        )
        self.__dict__["_built"] = self._counts(about.schema.empty_table())

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
        """Of the bytes of all files, which differs from that of loaded counts."""
        stored = self._stored
        files = [(len(self), hash_of_file(stored.path))] if stored.folder is None else [
            (part.rows, part.digest) for part in stored.folder.parts
        ]  # fmt: skip
        digest = hashlib.sha256(f"{self.lexicon.fingerprint} {self.tokenizer}".encode())
        digest.update("".join(f"{rows} {bytes_digest}\n" for rows, bytes_digest in files).encode())
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
        return self.among(pairs.doc_ids.hashes).gather(pairs)

    def among(self, hashes: UInt64s) -> WordCounts:
        """The counts of the documents that were asked for so far, those with these hashes among them."""
        return self._of(self._rows.known(hashes))

    def all_known(self) -> WordCounts:
        """The counts of all documents, those first that were asked for before."""
        return self._of(self._rows.all())

    def _of(self, known: pa.Table) -> WordCounts:
        built = self._built
        if len(known) != len(built):
            self.__dict__["_built"] = built = self._counts(known)
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
