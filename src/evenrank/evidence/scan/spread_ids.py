"""Ids that occur more than once over the parts of a scan, found by the workers of an executor.

Where ids ascend in every part and from part to part, all are distinct. Else each worker writes the sorted
hashes of the ids of a part beside it, and then compares those of all parts that lie in one range: every hash
is written once and read once, whatever the number of parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evenrank.arrays import UInt64s
from evenrank.evidence.scan.duplicates import ShardOf, compare_ids, repeated_in, size_first
from evenrank.ids import hash_strings
from evenrank.io.atomic import atomic_write
from evenrank.io.counts import ids_of_counts
from evenrank.io.executor import Executor

IN_A_RANGE = 6_000_000  # hashes that a worker compares at once: 48 MB, sorted where they lie


class IdRange(NamedTuple):
    """The hashes whose leading ``bits`` are the number ``turn``."""

    turn: int
    bits: int


def check_part_ids(
    executor: Executor,
    files: Sequence[Path],
    ends: Sequence[list[str] | None],
    documents: int,
    name: str,
    shard_of: Callable[[Sequence[int]], ShardOf | None],
) -> None:
    """Raise if an id is there twice. ``ends`` has the first and last id of each part whose ids ascend;
    ``shard_of`` makes of the places of some parts what tells the file of a document in them."""
    if _ascend(ends):
        return
    names = [os.fspath(file) for file in files]
    for _ in executor.run(hash_part, names):
        pass
    try:
        bits = max(0, (documents // IN_A_RANGE).bit_length())
        ranges = [IdRange(turn, bits) for turn in range(1 << bits)]
        suspects: set[int] = set()
        holders: set[int] = set()
        for _, (hashes, found) in executor.run(partial(repeated_in_range, tuple(names)), ranges):
            suspects.update(hashes)
            holders.update(found)
        if suspects:
            places = sorted(holders)
            chosen = [files[place] for place in places]
            repeated = np.array(sorted(suspects), np.uint64)
            compare_ids(ids_of_counts(chosen), repeated, name, shard_of(places))
    finally:
        for own in names:
            _hashes_of(own).unlink(missing_ok=True)


def hash_part(name: str) -> None:
    """Write the sorted hashes of the ids of a part."""
    pieces = [hash_strings(ids) for ids in ids_of_counts([Path(name)])]
    hashes = np.sort(np.concatenate(pieces)) if pieces else np.zeros(0, np.uint64)
    with atomic_write(_hashes_of(name)) as file:
        file.write(hashes.astype("<u8").tobytes())


def repeated_in_range(names: Sequence[str], wanted: IdRange) -> tuple[list[int], list[int]]:
    """The hashes of a range that are there more than once, and the places of the parts that hold them."""
    own = [_slice(_hashes_of(name), wanted) for name in names]
    repeated = repeated_in(np.concatenate(own))
    if not len(repeated):
        return [], []
    places = [place for place, hashes in enumerate(own) if np.isin(repeated, hashes).any()]
    return repeated.tolist(), places


def _slice(path: Path, wanted: IdRange) -> UInt64s:
    if not path.stat().st_size:
        return np.zeros(0, np.uint64)
    hashes = np.memmap(path, "<u8", "r")
    if not wanted.bits:
        return np.array(hashes)
    shift = 64 - wanted.bits
    low = np.searchsorted(hashes, np.uint64(wanted.turn << shift))
    last = wanted.turn + 1 == 1 << wanted.bits
    high = len(hashes) if last else np.searchsorted(hashes, np.uint64((wanted.turn + 1) << shift))
    return np.array(hashes[low:high])


def _ascend(ends: Sequence[list[str] | None]) -> bool:
    largest = (0, b"")
    for own in ends:
        if own is None:
            return False
        if own:
            if size_first(own[0]) <= largest:
                return False
            largest = size_first(own[-1])
    return True


def _hashes_of(name: str) -> Path:
    return Path(name).with_suffix(".hashes")
