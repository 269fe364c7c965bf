"""Ids that occur more than once, found in bounded memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa

from evenrank.arrays import UInt64s
from evenrank.errors import DataError
from evenrank.ids import hash_strings, offsets_of
from evenrank.io.background import compile_as_well, is_uncompiled

AT_ONCE = 1 << 21  # hashes that are kept while a collection is scanned: 16 MB, and 48 to compare them
IN_A_PASS = 6_000_000  # hashes that are compared at once when there are more: 96 MB

_SHOWN = 20

Ids = Callable[[], Iterator[pa.LargeStringArray]]
ShardOf = Callable[[int], str]


@dataclass(frozen=True)
class IdRun:
    """What is known of the ids of a piece: that they ascend (``hashes`` is None), or their hashes."""

    ids: pa.LargeStringArray
    hashes: UInt64s | None


class Uniqueness:
    """Is told the ids of all pieces in order, and finds those that occur more than once.

    Where every id is larger than the one before, as numbers in order are, all are distinct, and that is
    all there is to know. Else their hashes are compared, and the ids themselves where hashes are equal.
    """

    def __init__(self, *, fast: bool = False) -> None:
        if fast:
            compile_as_well(lambda: _ascend(pa.array(["1", "2"], pa.large_string())))
        self._fast = fast
        self._ascending = fast  # so far
        self._largest: tuple[int, bytes] = (0, b"")
        self._kept: list[UInt64s] | None = []
        self._documents = 0

    def run_of(self, ids: pa.LargeStringArray) -> IdRun:
        """What ``add`` wants to know; any thread may ask."""
        return IdRun(ids, None if self._ascending and _ascend(ids) else hash_strings(ids))

    def add(self, run: IdRun) -> None:
        if not len(run.ids):
            return
        earlier = self._documents
        self._documents += len(run.ids)
        if self._ascending:
            if run.hashes is None and size_first(run.ids[0].as_py()) > self._largest:
                self._largest = size_first(run.ids[-1].as_py())
                return
            self._ascending = False
            if earlier:
                self._kept = None  # the ids before this piece were not hashed
        if self._documents > AT_ONCE:
            self._kept = None  # too many: they are made again from the ids, a range at a time
        elif self._kept is not None:
            self._kept.append(hash_strings(run.ids) if run.hashes is None else run.hashes)

    @property
    def ascending(self) -> bool:
        """Whether every id so far is larger than the one before."""
        return self._ascending

    def check(self, ids: Ids, name: str, shard_of: ShardOf | None = None) -> None:
        """Raise if an id is there twice. ``ids`` gives all of them, as often as it is called; ``shard_of``
        is the file of a document by its number, where there are several."""
        if self._ascending or not self._documents:
            return
        kept = self._kept
        if kept is None and self._documents <= AT_ONCE:
            kept = [hash_strings(piece) for piece in ids()]
        if kept is not None:
            repeated = _repeated_fast if self._fast else repeated_in
            suspects = repeated(np.concatenate(kept))
        else:
            suspects = np.concatenate(list(self._by_range(ids)))
        if len(suspects):
            compare_ids(ids(), suspects, name, shard_of)

    def _by_range(self, ids: Ids) -> Iterator[UInt64s]:
        """Equal hashes have equal leading bits: each pass takes those with the same ones."""
        bits = max(1, (self._documents // IN_A_PASS).bit_length())
        shift = np.uint64(64 - bits)
        for turn in range(1 << bits):
            kept = [
                hashes[hashes >> shift == np.uint64(turn)]
                for hashes in (hash_strings(piece) for piece in ids())
            ]
            yield repeated_in(np.concatenate(kept))


def size_first(identifier: str) -> tuple[int, bytes]:
    """The order in which numbers ascend as text: the shorter first, else by their bytes."""
    raw = identifier.encode()
    return len(raw), raw


def _ascend(ids: pa.LargeStringArray) -> bool:
    if is_uncompiled():
        return _ascend_simple(ids)
    from evenrank.evidence.scan.ids import are_ascending

    data = ids.buffers()[2]
    return data is not None and bool(are_ascending(np.frombuffer(data, np.uint8), offsets_of(ids)))


def _ascend_simple(ids: pa.LargeStringArray) -> bool:
    ordered = list(map(size_first, ids.to_pylist()))
    return all(map(operator.lt, ordered, ordered[1:]))


def repeated_in(hashes: UInt64s) -> UInt64s:
    """Those that are there more than once; they are sorted where they lie."""
    hashes.sort()
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])


def _repeated_fast(hashes: UInt64s) -> UInt64s:
    from evenrank.evidence.scan.ids import repeated_hashes

    table = np.zeros(1 << max(4, (2 * len(hashes) - 1).bit_length()), np.uint64)
    repeated = np.empty(len(hashes), np.uint64)
    return np.unique(repeated[: repeated_hashes(hashes, table, repeated)])


def compare_ids(
    pieces: Iterator[pa.LargeStringArray], repeated: UInt64s, name: str, shard_of: ShardOf | None = None
) -> None:
    """Raise if ids whose hashes are ``repeated`` are there twice."""
    seen: dict[str, list[int]] = {}
    before = 0
    for piece in pieces:
        places = np.flatnonzero(np.isin(hash_strings(piece), repeated[: 50 * _SHOWN]))
        for place in places.tolist():
            seen.setdefault(piece[place].as_py(), []).append(before + place)
        before += len(piece)
    twice = {identifier: rows for identifier, rows in seen.items() if len(rows) > 1}
    if not twice:
        return
    shown = ", ".join(
        _describe(identifier, rows, shard_of) for identifier, rows in islice(twice.items(), _SHOWN)
    )
    more = ", ..." if len(twice) > _SHOWN else ""
    raise DataError(f"{name}: document ids must be unique, but these occur more than once: {shown}{more}")


def _describe(identifier: str, rows: list[int], shard_of: ShardOf | None) -> str:
    if shard_of is None:
        return repr(identifier)
    shards = list(dict.fromkeys(map(shard_of, rows)))
    return f"{identifier!r} (in {' and in '.join(shards[:2]) if len(shards) > 1 else f'{shards[0]}, twice'})"
