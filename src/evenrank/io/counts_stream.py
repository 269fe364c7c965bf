"""Counts that lie in the order of their collection: rows are found by one pass over all of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.arrays import UInt64s
from evenrank.data.words import WordCounts
from evenrank.data.words_by_need import FoundRows
from evenrank.errors import DataError
from evenrank.ids import as_strings, hash_strings, offsets_of
from evenrank.io.counts import CountsAbout, counts_of_table
from evenrank.io.counts_folder import CountsFolder
from evenrank.io.source import parquet_file

_LARGEST_SIEVE = 26  # bits of a hash: 64 MB


class StreamedCounts:
    """Files of counts, read a group of rows at a time by all cores; only rows that are wanted are kept."""

    def __init__(self, name: str, files: list[Path], about: CountsAbout, folder: CountsFolder | None) -> None:
        self.name = name
        self.lexicon, self.tokenizer, self.source = about.lexicon, about.tokenizer, about.source
        self.has_terms = about.has_terms
        self.bytes = sum(path.stat().st_size for path in files)
        self.rows = about.rows if folder is None else folder.rows
        self._files, self._folder, self._about = files, folder, about

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
        if not len(hashes):
            return FoundRows(self._counts(self._about.schema.empty_table()), 0, 0)
        # most rows that nobody wants do not pass the sieve, and need not be looked for
        bits = min(_LARGEST_SIEVE, max(10, (8 * len(hashes)).bit_length()))
        sieve = np.zeros(1 << bits, dtype=bool)
        shift = np.uint64(64 - bits)
        sieve[hashes >> shift] = True

        def wanted(ids: pa.LargeStringArray) -> Any:
            own = hash_strings(ids)
            rows = np.flatnonzero(sieve[own >> shift])
            places = np.minimum(np.searchsorted(hashes, own[rows]), len(hashes) - 1)
            return rows[hashes[places] == own[rows]]

        with ThreadPoolExecutor(min(4, os.cpu_count() or 1), thread_name_prefix="counts") as pool:
            groups: Iterator[tuple[Path, int]] = (
                (path, group) for path in self._files for group in range(_row_groups(path))
            )
            kept = [
                table
                for batch in _in_batches(groups, 64)
                for table in pool.map(lambda one: self._filtered(one[0], one[1], wanted), batch)
                if len(table)
            ]
        table = pa.concat_tables(kept) if kept else self._about.schema.empty_table()
        return FoundRows(self._counts(table), self.rows, self.bytes)

    def whole(self) -> WordCounts:
        return self._counts(pa.concat_tables(list(self._columns(None))))

    def _counts(self, table: pa.Table) -> WordCounts:
        return counts_of_table(table, self.lexicon, self.tokenizer, self.source)

    def _filtered(self, path: Path, group: int, wanted: Callable[[pa.LargeStringArray], Any]) -> pa.Table:
        try:
            with parquet_file(path) as raw, pa.parquet.ParquetFile(raw, pre_buffer=False) as file:
                ids = as_strings(file.read_row_group(group, columns=["id"], use_threads=False).column(0))
                rows = wanted(ids)
                if not len(rows):
                    return self._about.schema.empty_table()
                table = file.read_row_group(group, use_threads=False)
                return table.select(self._about.schema.names).take(pa.array(rows)).combine_chunks()
        except (pa.ArrowException, OSError, KeyError) as error:
            raise damaged(path, error) from error

    def _columns(self, columns: list[str] | None) -> Iterator[pa.Table]:
        for path in self._files:
            try:
                with parquet_file(path) as raw, pa.parquet.ParquetFile(raw) as file:
                    for group in range(file.num_row_groups):
                        yield file.read_row_group(group, columns=columns)
            except (pa.ArrowException, OSError) as error:
                raise damaged(path, error) from error


def commit_fingerprint(folder: CountsFolder, about: CountsAbout) -> str:
    """Of counts in a folder: of the digests of all parts."""
    digest = hashlib.sha256(f"{about.lexicon.fingerprint} {about.tokenizer}".encode())
    for part in folder.parts:
        digest.update(f"{part.rows} {part.digest}\n".encode())
    return digest.hexdigest()


def damaged(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: is not a sound part of word counts: {error}: scan again")


def _row_groups(path: Path) -> int:
    try:
        with parquet_file(path) as raw, pa.parquet.ParquetFile(raw) as file:
            return int(file.num_row_groups)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from error


def _in_batches(values: Iterator[Any], size: int) -> Iterator[list[Any]]:
    held: list[Any] = []
    for value in values:
        held.append(value)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held
