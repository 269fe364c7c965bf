"""Rows of Parquet files that stay where they are: those of wanted documents are read, and kept.

A pass reads the ids of all rows, a group of rows at a time and several files at once, and the other columns
only of groups that hold a document that somebody asked for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Bools, UInt64s
from evenrank.errors import DataError
from evenrank.ids import as_strings, hash_strings
from evenrank.io.counts import ID, counts_file

Sound = Callable[[Path], AbstractContextManager[None]]  # turns what is wrong with a file into one error

_WORKERS = 4  # at most
_LARGEST_SIEVE = 26  # bits of a hash: 64 MB
_reading = threading.RLock()  # one thread reads and the others wait: they may want the same rows


class RowsByNeed:
    """What was read so far of files whose first column is ``id``; ``schema`` has the columns that are read.

    Rows are asked for by the hash of their id: one more than was meant does no harm. They keep their numbers
    whatever is read after them.
    """

    def __init__(self, files: Sequence[Path], schema: pa.Schema, rows: int, sound: Sound) -> None:
        self.rows = rows
        self.passes = 0  # over all rows, for the documents that were asked for
        self._files, self._schema, self._sound = tuple(files), schema, sound
        self._stamps = [_stamp(path) for path in files]
        self._asked: UInt64s = np.zeros(0, np.uint64)  # hashes that were looked for, sorted
        self._known: pa.Table = schema.empty_table()
        self._is_whole = False

    @property
    def reading(self) -> dict[str, int]:
        """How much was read so far, each time that it was, and of how much."""
        size = sum(size for size, _ in self._stamps)
        return {
            "passes": self.passes,
            "rows read": self.passes * self.rows,
            "rows": self.rows,
            "bytes read": self.passes * size,
            "bytes": size,
        }

    def known(self, hashes: UInt64s | None) -> pa.Table:
        """The rows that have been asked for, these among them; a hash may stand there many times. None is all
        rows."""
        with _reading:
            if self._is_whole:
                return self._known
            if hashes is None:
                self.passes += 1
                whole = pa.concat_tables([self._schema.empty_table(), *self.pieces()])
                others = ~_among(hash_strings(as_strings(whole.column(0))), self._asked)
                self._known = pa.concat_tables([self._known, whole.filter(pa.array(others))])
                self._is_whole = True
                return self._known
            wanted = np.sort(hashes)  # ``np.unique`` takes ten times as long
            wanted = wanted[np.diff(wanted, prepend=wanted[:1] - np.uint64(1)) != 0]
            new = wanted[~_among(wanted, self._asked)]
            if len(new):
                self.passes += 1
                self._known = pa.concat_tables([self._known, *self._find(new)])
                self._asked = np.sort(np.concatenate([self._asked, new]))
            return self._known

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows in their order, a group of them at a time."""
        for path in self._files:
            with self._sound(path), counts_file(path) as file:
                for group in range(file.num_row_groups):
                    yield self._read(file, group, columns)
        self._check_unchanged()

    def _read(self, file: Any, group: int, columns: Sequence[str] | None = None) -> pa.Table:
        names = self._schema.names if columns is None else list(columns)
        schema = pa.schema([self._schema.field(name) for name in names], self._schema.metadata)
        return file.read_row_group(group, names, use_threads=False).select(names).cast(schema)

    def _find(self, hashes: UInt64s) -> Iterator[pa.Table]:
        """The rows with these hashes, which are sorted and distinct."""
        # most rows that nobody wants do not pass the sieve, and need not be looked for
        bits = min(_LARGEST_SIEVE, max(10, (8 * len(hashes)).bit_length()))
        shift = np.uint64(64 - bits)
        sieve = np.zeros(1 << bits, dtype=bool)
        sieve[hashes >> shift] = True

        def find(path: Path) -> list[pa.Table]:
            found = []
            with self._sound(path), counts_file(path) as file:
                for group in range(file.num_row_groups):
                    own = hash_strings(as_strings(self._read(file, group, [ID]).column(0)))
                    rows = np.flatnonzero(sieve[own >> shift])
                    rows = rows[_among(own[rows], hashes)]
                    if len(rows):
                        found.append(self._read(file, group).take(pa.array(rows)).combine_chunks())
            return found

        with ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1), thread_name_prefix="rows") as pool:
            for tables in pool.map(find, self._files):
                yield from tables
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Several passes give one answer only if nobody writes to the files in between."""
        for path, stamp in zip(self._files, self._stamps, strict=True):
            if not path.exists() or _stamp(path) != stamp:
                raise DataError(f"{path}: was changed since it was opened: open what is there now")


def _stamp(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_size, about.st_mtime_ns


def _among(hashes: UInt64s, known: UInt64s) -> Bools:
    """Which of the hashes are among those known, which are sorted."""
    if not len(known):
        return np.zeros(len(hashes), dtype=bool)
    found: Bools = known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes
    return found
