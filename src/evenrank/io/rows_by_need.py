"""Rows of Parquet files that stay where they are: those of wanted documents are read, and kept.

A pass reads the ids of all rows, a group of rows at a time by several cores, and the other columns only of
groups that hold a document that somebody asked for.
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

from evenrank.arrays import UInt64s
from evenrank.errors import DataError
from evenrank.ids import as_strings, hash_strings
from evenrank.io.counts import counts_file

Sound = Callable[[Path], AbstractContextManager[None]]  # turns what is wrong with a file into one error

_WORKERS = 4  # at most
_LARGEST_SIEVE = 26  # bits of a hash: 64 MB


class RowsByNeed:
    """What was read so far of files whose first column is ``id``; ``schema`` has the columns that are read.

    Rows are asked for by the hash of their id: one more than was meant does no harm. They keep their numbers
    whatever is read after them. Threads may ask at once: one reads and the others wait, since they may want
    the same rows.
    """

    def __init__(self, files: Sequence[Path], schema: pa.Schema, rows: int, sound: Sound) -> None:
        self.rows = rows
        self.bytes = sum(path.stat().st_size for path in files)
        self._files, self._schema, self._sound = tuple(files), schema, sound
        self._opened = self._as_they_are()
        self._asked: UInt64s = np.zeros(0, np.uint64)  # hashes that were looked for, sorted
        self._known: pa.Table = schema.empty_table()
        self._is_whole = False
        self.passes = 0  # over all rows, for the documents that were asked for
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    @property
    def reading(self) -> dict[str, int]:
        """How much was read so far, each time that it was, and of how much."""
        return {
            "passes": self.passes,
            "rows read": self.passes * self.rows,
            "rows": self.rows,
            "bytes read": self.passes * self.bytes,
            "bytes": self.bytes,
        }

    def known(self, hashes: UInt64s) -> pa.Table:
        """The rows that have been asked for, these among them; a hash may stand there many times."""
        wanted = distinct(hashes)
        with self._lock:
            new = wanted[~_among(wanted, self._asked)]
            if len(new) and not self._is_whole:
                self._known = pa.concat_tables([self._known, *self._find(new)])
                self._asked = np.sort(np.concatenate([self._asked, new]))
            return self._known

    def all(self) -> pa.Table:
        """All rows, those that were known first."""
        with self._lock:
            if not self._is_whole:
                self.passes += 1
                whole = pa.concat_tables([self._schema.empty_table(), *self.pieces()])
                others = ~_among(hash_strings(as_strings(whole.column(0))), self._asked)
                self._known = pa.concat_tables([self._known, whole.filter(pa.array(others))])
                self._is_whole = True
            return self._known

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows in their order, a group of them at a time."""
        for path in self._files:
            with self._sound(path), counts_file(path) as file:
                for group in range(file.num_row_groups):
                    yield self._table(file.read_row_group(group, columns), columns)
        self._check_unchanged()

    def _table(self, found: pa.Table, columns: Sequence[str] | None = None) -> pa.Table:
        names = self._schema.names if columns is None else list(columns)
        schema = pa.schema([self._schema.field(name) for name in names], self._schema.metadata)
        return found.select(names).cast(schema)

    def _find(self, hashes: UInt64s) -> Iterator[pa.Table]:
        """The rows with these hashes, which are sorted and distinct."""
        self.passes += 1
        # most rows that nobody wants do not pass the sieve, and need not be looked for
        bits = min(_LARGEST_SIEVE, max(10, (8 * len(hashes)).bit_length()))
        shift = np.uint64(64 - bits)
        sieve = np.zeros(1 << bits, dtype=bool)
        sieve[hashes >> shift] = True

        def find(path: Path, groups: range) -> list[pa.Table]:
            found = []
            with self._sound(path), counts_file(path, pre_buffer=False) as file:
                for group in groups:
                    ids = file.read_row_group(group, columns=["id"], use_threads=False).column(0)
                    own = hash_strings(as_strings(ids))
                    rows = np.flatnonzero(sieve[own >> shift])
                    rows = rows[_among(own[rows], hashes)]
                    if len(rows):
                        table = self._table(file.read_row_group(group, use_threads=False))
                        found.append(table.take(pa.array(rows)).combine_chunks())
            return found

        workers = min(_WORKERS, os.cpu_count() or 1)
        with ThreadPoolExecutor(workers, thread_name_prefix="rows") as pool:
            for tables in pool.map(find, *zip(*self._stretches(workers), strict=True)):
                yield from tables
        self._check_unchanged()

    def _stretches(self, workers: int) -> list[tuple[Path, range]]:
        """Groups of rows that follow each other: a file is opened once for each worker."""
        found = [(path, range(0)) for path in self._files[:1]]
        for path in self._files:
            with self._sound(path), counts_file(path) as file:
                groups = range(file.num_row_groups)
            size = max(1, -(-len(groups) // workers))
            found += [(path, groups[first : first + size]) for first in groups[::size]]
        return found

    def _as_they_are(self) -> list[tuple[int, int]]:
        return [(path.stat().st_size, path.stat().st_mtime_ns) for path in self._files]

    def _check_unchanged(self) -> None:
        """Several passes give one answer only if nobody writes to the files in between."""
        for path in self._files:
            if not path.exists():
                raise DataError(f"{path}: is gone since it was opened: open what is there now")
        for path, now, then in zip(self._files, self._as_they_are(), self._opened, strict=True):
            if now != then:
                raise DataError(
                    f"{path}: was changed while it was read: give the same command again when nobody writes "
                    "to it"
                )


def distinct(hashes: UInt64s) -> UInt64s:
    """Sorted, each once. (``np.unique`` builds a table of them, which takes ten times as long.)"""
    ordered = np.sort(hashes)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def _among(hashes: UInt64s, known: UInt64s) -> Any:
    """Which of the hashes are among those known, which are sorted."""
    if not len(known):
        return np.zeros(len(hashes), dtype=bool)
    return known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes
