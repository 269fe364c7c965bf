"""The rows of Parquet files that somebody wants, by the hash of their id, found by one pass over all ids."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import UInt64s
from evenrank.ids import as_strings, hash_strings
from evenrank.io.counts import counts_file

Sound = Callable[[Path], AbstractContextManager[None]]  # turns what is wrong with a file into one error

_LARGEST_SIEVE = 26  # bits of a hash: 64 MB
_WORKERS = 4  # at most
_AT_ONCE = 64  # stretches


def wanted_rows(files: Sequence[Path], hashes: UInt64s, names: Sequence[str], sound: Sound) -> list[pa.Table]:
    """The columns ``names`` of the rows whose ids have these hashes, which are sorted and distinct.

    Files are read a group of rows at a time by several cores, and of groups without such rows only the ids.
    """
    if not len(hashes):
        return []
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

    def filtered(one: tuple[Path, range]) -> list[pa.Table]:
        path, groups = one
        found = []
        with sound(path), counts_file(path, pre_buffer=False) as file:
            for group in groups:
                ids = as_strings(file.read_row_group(group, columns=["id"], use_threads=False).column(0))
                rows = wanted(ids)
                if len(rows):
                    table = file.read_row_group(group, use_threads=False)
                    found.append(table.select(names).take(pa.array(rows)).combine_chunks())
        return found

    workers = min(_WORKERS, os.cpu_count() or 1)
    stretches = _stretches(files, workers, sound)
    kept: list[pa.Table] = []
    with ThreadPoolExecutor(workers, thread_name_prefix="rows") as pool:
        while batch := list(islice(stretches, _AT_ONCE)):
            for tables in pool.map(filtered, batch):
                kept += tables
    return kept


def _stretches(files: Sequence[Path], workers: int, sound: Sound) -> Iterator[tuple[Path, range]]:
    """Groups of rows that follow each other: a file is opened, and its footer read, once for each worker."""
    for path in files:
        with sound(path), counts_file(path) as file:
            count = int(file.num_row_groups)
        size = -(-count // workers)
        for first in range(0, count, max(1, size)):
            yield path, range(first, min(first + size, count))
