"""Counts that lie in the order of their collection: rows are found by one pass over all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.arrays import UInt64s
from evenrank.data.words import WordCounts
from evenrank.data.words_by_need import FoundRows
from evenrank.ids import as_strings, offsets_of
from evenrank.io.counts import CountsAbout, counts_file, counts_of_table, plain_columns, sound_counts
from evenrank.io.counts_folder import CountsFolder
from evenrank.io.row_sieve import wanted_rows
from evenrank.io.unchanged import Unchanged


class StreamedCounts:
    """Files of counts, read a group of rows at a time by all cores; only rows that are wanted are kept."""

    def __init__(self, name: str, files: list[Path], about: CountsAbout, folder: CountsFolder | None) -> None:
        self.name = name
        self.lexicon, self.tokenizer, self.source = about.lexicon, about.tokenizer, about.source
        self.has_terms = about.has_terms
        self.bytes = sum(path.stat().st_size for path in files)
        self.rows = about.rows if folder is None else folder.rows
        self._files, self._folder, self._about = files, folder, about
        self._unchanged = Unchanged(files)

    @cached_property
    def fingerprint(self) -> str:
        """Of a folder that of its commit; of a file the same as when it is loaded."""
        if self._folder is not None:
            return commit_fingerprint(self._folder, self._about)
        digest = hashlib.sha256(f"{self.lexicon.fingerprint} {self.tokenizer}".encode())
        before = 0
        digest.update(np.zeros(1, np.int64).tobytes())
        for ids in self._columns(["id"]):
            offsets = offsets_of(as_strings(ids.column(0)))
            digest.update((offsets[1:] - offsets[0] + before).tobytes())
            before += int(offsets[-1] - offsets[0])
        for ids in self._columns(["id"]):
            strings = as_strings(ids.column(0))
            offsets, buffer = offsets_of(strings), strings.buffers()[2]
            if buffer is not None:
                digest.update(memoryview(buffer)[int(offsets[0]) : int(offsets[-1])])
        for table in self._columns(["length"]):
            digest.update(table.column(0).to_numpy().astype(np.int64).tobytes())
        for table in self._columns(None):
            digest.update(np.ascontiguousarray(self._counts(table).counts).tobytes())
        return digest.hexdigest()

    def find(self, hashes: UInt64s) -> FoundRows:
        empty = self._about.schema.empty_table()
        if not len(hashes):
            return FoundRows(self._counts(empty), 0, 0)
        kept = wanted_rows(self._files, hashes, self._about.schema.names, sound_counts)
        self._unchanged.check()
        return FoundRows(self._counts(pa.concat_tables([empty, *kept])), self.rows, self.bytes)

    def whole(self) -> WordCounts:
        return self._counts(pa.concat_tables(list(self._columns(None))))

    def batches(self) -> Iterator[WordCounts]:
        # weighted counts are made of terms
        for table in self._columns(plain_columns(self.lexicon) if self.lexicon.weights is None else None):
            yield self._counts(table)

    def _counts(self, table: pa.Table) -> WordCounts:
        with sound_counts(self.name):
            return counts_of_table(table, self.lexicon, self.tokenizer, self.source)

    def _columns(self, columns: list[str] | None) -> Iterator[pa.Table]:
        for path in self._files:
            with sound_counts(path), counts_file(path) as file:
                for group in range(file.num_row_groups):
                    yield file.read_row_group(group, columns=columns)
        self._unchanged.check()


def commit_fingerprint(folder: CountsFolder, about: CountsAbout) -> str:
    """Of counts in a folder: of the digests of all parts."""
    digest = hashlib.sha256(f"{about.lexicon.fingerprint} {about.tokenizer}".encode())
    for part in folder.parts:
        digest.update(f"{part.rows} {part.digest}\n".encode())
    return digest.hexdigest()
