"""Document ids must be unique: those that are not are found by the workers of an executor.

Where ids ascend in every part and from part to part, all are distinct, and that is all there is to know. Else
each worker writes the sorted hashes of the ids of a part beside it, and then compares those of all parts that
lie in one range: every hash is written once and read once, whatever the number of parts. Only ids with equal
hashes are compared themselves.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import UInt64s
from evenrank.errors import DataError
from evenrank.ids import as_strings, hash_strings
from evenrank.io.atomic import atomic_write
from evenrank.io.counts import ids_of_counts
from evenrank.io.executor import Executor

IN_A_RANGE = 6_000_000  # hashes that a worker compares at once: 48 MB, sorted where they lie

_SHOWN = 20

ShardOf = Callable[[int], str]


class Ascent:
    """Whether the ids of a part ascend: the shorter first, else by their bytes, as numbers in order do."""

    def __init__(self) -> None:
        self._ends: list[str] = []
        self._ascends = True

    def add(self, ids: pa.LargeStringArray) -> None:
        if not self._ascends or not len(ids):
            return
        first, last = ids[0].as_py(), ids[-1].as_py()
        longer = pc.subtract(pc.binary_length(ids[1:]), pc.binary_length(ids[:-1]))
        later = pc.and_(pc.equal(longer, 0), pc.greater(ids[1:], ids[:-1]))
        within = pc.all(pc.or_(pc.greater(longer, 0), later)).as_py() is not False
        self._ascends = within and not (self._ends and _size_first(first) <= _size_first(self._ends[-1]))
        self._ends = [*(self._ends or [first])[:1], last]

    @property
    def ends(self) -> list[str] | None:
        """The first id and the last, none of a part without documents; None where they do not ascend."""
        return self._ends if self._ascends else None


class IdRange(NamedTuple):
    """The hashes whose leading ``bits`` are the number ``turn``."""

    turn: int
    bits: int


def check_ids(
    executor: Executor,
    files: Sequence[Path],
    ends: Sequence[list[str] | None],
    documents: int,
    name: str,
    shard_of: Callable[[Sequence[int]], ShardOf | None] = lambda places: None,
) -> None:
    """Raise if an id is there twice in the parts ``files``, whose ``ends`` these are.

    ``shard_of`` makes of the places of some parts what tells the file of a document in them.
    """
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
            ids = (piece for place in places for piece in _ids_of(files[place]))
            _compare(ids, np.array(sorted(suspects), np.uint64), name, shard_of(places))
    finally:
        for own in names:
            _hashes_of(own).unlink(missing_ok=True)


def hash_part(name: str) -> None:
    """Write the sorted hashes of the ids of a part."""
    pieces = [hash_strings(ids) for ids in _ids_of(Path(name))]
    hashes = np.sort(np.concatenate(pieces)) if pieces else np.zeros(0, np.uint64)
    with atomic_write(_hashes_of(name)) as file:
        file.write(hashes.astype("<u8").tobytes())


def repeated_in_range(names: Sequence[str], wanted: IdRange) -> tuple[list[int], list[int]]:
    """The hashes of a range that are there more than once, and the places of the parts that hold them."""
    own = [_slice(_hashes_of(name), wanted) for name in names]
    hashes = np.sort(np.concatenate(own))
    repeated = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    if not len(repeated):
        return [], []
    places = [place for place, hashes in enumerate(own) if np.isin(repeated, hashes).any()]
    return repeated.tolist(), places


def _ids_of(part: Path) -> Iterator[pa.LargeStringArray]:
    if part.suffix != ".arrow":
        yield from ids_of_counts([part])
        return
    with part.open("rb") as file:
        for batch in pa.ipc.open_stream(file):
            yield as_strings(batch.column(0))


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
    largest = (-1, b"")
    for own in ends:
        if own is None:
            return False
        if own:
            if _size_first(own[0]) <= largest:
                return False
            largest = _size_first(own[-1])
    return True


def _size_first(identifier: str) -> tuple[int, bytes]:
    raw = identifier.encode()
    return len(raw), raw


def _compare(
    pieces: Iterable[pa.LargeStringArray], repeated: UInt64s, name: str, shard_of: ShardOf | None
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


def _hashes_of(name: str) -> Path:
    return Path(name).with_suffix(".hashes")
