"""Counts that are opened, not loaded: rows are read when somebody asks for their documents.

A pass reads the ids of all rows, a group of rows at a time and several files at once, and the other columns
only of groups that hold a document that somebody asked for.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Bools, UInt64s
from evenrank.data.evidence_source import Gathered, Pairs
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.errors import counted
from evenrank.ids import as_strings, hash_strings
from evenrank.io.content_hash import hash_of_file
from evenrank.io.counts import ID, StoredCounts, counts_file

_WORKERS = 4  # at most
_LARGEST_SIEVE = 26  # bits of a hash: 64 MB
_reading = threading.Lock()  # one thread reads and the others wait: they may want the same rows


class WordsByNeed(WordCounts):
    """What ``WordCounts`` is, of counts that are too many to load.

    ``gather`` reads the rows of the documents that it is asked about and keeps them. Whoever looks at all
    documents (``doc_ids``, ``counts``, a background that is the whole collection) loads them all.
    """

    _stored: StoredCounts
    _asked: UInt64s  # hashes of the ids that were looked for, sorted
    _rows: pa.Table  # with these hashes
    _known: WordCounts  # the same

    def __init__(self, stored: StoredCounts) -> None:
        self.__dict__.update(  # the fields of a frozen class
            lexicon=stored.lexicon,
            tokenizer=stored.tokenizer,
            source=stored.source,
            _stored=stored,
            _asked=np.zeros(0, np.uint64),
            _rows=stored.schema.empty_table(),
        )
        self.__dict__["_known"] = stored.counts_of(self._rows)

    def __getattr__(self, name: str) -> Any:
        """The fields that are not there until somebody looks at all documents, which load in their order."""
        if name not in ("doc_ids", "lengths", "counts", "terms", "tokens"):
            raise AttributeError(name)
        self.__dict__.update(vars(self._stored.load()))
        return self.__dict__[name]

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
        return self._stored.rows

    def __repr__(self) -> str:
        return (
            f"<WordCounts: {counted(len(self), 'document', 'documents')}, lexicon {self.lexicon.name!r}, "
            f"read from {self._stored.path} by need>"
        )

    @property
    def has_terms(self) -> bool:
        return self._stored.has_terms

    def read(self, runs: Iterable[Run]) -> None:
        """Read by one pass the rows of all documents that these runs list."""
        self._of(np.concatenate([run.doc_hashes for run in runs]))

    def gather(self, pairs: Pairs) -> Gathered:
        if "doc_ids" in vars(self):  # all are loaded
            return super().gather(pairs)
        return self._of(pairs.doc_ids.hashes).gather(pairs)

    def _of(self, hashes: UInt64s) -> WordCounts:
        """The documents that have been asked for, these among them.

        Ids are asked for by their hashes: one row more than was meant does no harm.
        """
        wanted = np.sort(hashes)  # ``np.unique`` takes ten times as long
        wanted = wanted[np.diff(wanted, prepend=wanted[:1] - np.uint64(1)) != 0]
        with _reading:
            new = wanted[~_among(wanted, self._asked)]
            if len(new):
                rows = pa.concat_tables([self._rows, *self._find(new)])
                asked = np.sort(np.concatenate([self._asked, new]))
                self.__dict__.update(_asked=asked, _rows=rows, _known=self._stored.counts_of(rows))
            return self._known

    def _find(self, hashes: UInt64s) -> Iterator[pa.Table]:
        """The rows with these hashes, which are sorted and distinct."""
        # most rows that nobody wants do not pass the sieve, and need not be looked for
        bits = min(_LARGEST_SIEVE, max(10, (8 * len(hashes)).bit_length()))
        shift = np.uint64(64 - bits)
        sieve = np.zeros(1 << bits, dtype=bool)
        sieve[hashes >> shift] = True
        schema = self._stored.schema

        def find(path: Path) -> list[pa.Table]:
            found = []
            with counts_file(path) as file:
                for group in range(file.num_row_groups):
                    ids = file.read_row_group(group, [ID], use_threads=False).column(0)
                    own = hash_strings(as_strings(ids))
                    rows = np.flatnonzero(sieve[own >> shift])
                    rows = rows[_among(own[rows], hashes)]
                    if len(rows):
                        whole = file.read_row_group(group, schema.names, use_threads=False)
                        found.append(whole.take(pa.array(rows)).combine_chunks().cast(schema))
            return found

        with ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1), thread_name_prefix="rows") as pool:
            for tables in pool.map(find, self._stored.files):
                yield from tables


def _among(hashes: UInt64s, known: UInt64s) -> Bools:
    """Which of the hashes are among those known, which are sorted."""
    if not len(known):
        return np.zeros(len(hashes), dtype=bool)
    found: Bools = known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes
    return found
