"""Document ids must be unique.

Where ids ascend, all are distinct, and that is all there is to know. Else the hashes of all ids are sorted,
and only ids with equal hashes are compared themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import UInt64s
from evenrank.errors import DataError
from evenrank.ids import hash_strings

AT_ONCE = 1 << 26  # hashes that are sorted at a time: 512 MB, a pass over all ids for each

_SHOWN = 20

Ids = Iterable[pa.LargeStringArray]
FileOf = Callable[[int], str] | None


class Ascent:
    """Whether ids ascend: the shorter first, else by their bytes, as numbers in order do."""

    def __init__(self) -> None:
        self.holds = True
        self._last = pa.array([], pa.large_string())

    def add(self, ids: pa.LargeStringArray) -> None:
        if self.holds and len(ids):
            ids = pa.concat_arrays([self._last, ids])
            longer = pc.subtract(pc.binary_length(ids[1:]), pc.binary_length(ids[:-1]))
            later = pc.and_(pc.equal(longer, 0), pc.greater(ids[1:], ids[:-1]))
            self.holds = pc.all(pc.or_(pc.greater(longer, 0), later)).as_py() is not False
            self._last = ids[-1:]


def check_ids(ids: Callable[[], Ids], documents: int, name: str, file_of: FileOf) -> None:
    """Raise if an id is there twice. ``ids`` gives all of them, in their order, as often as it is asked;
    ``file_of`` says in which file a document is, by its place among all, for the message."""
    turns = 1 + documents // AT_ONCE
    for turn in range(turns):
        hashes = np.concatenate([_of_turn(hash_strings(piece), turn, turns) for piece in ids()])
        hashes.sort()
        repeated = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        if len(repeated):
            _compare(ids(), repeated, name, file_of)


def _of_turn(hashes: UInt64s, turn: int, turns: int) -> UInt64s:
    return hashes if turns == 1 else hashes[hashes % np.uint64(turns) == turn]


def _compare(pieces: Ids, repeated: UInt64s, name: str, file_of: FileOf) -> None:
    """Raise if ids whose hashes are ``repeated`` are there twice."""
    seen: dict[str, list[int]] = {}
    before = 0
    for piece in pieces:
        for place in np.flatnonzero(np.isin(hash_strings(piece), repeated[: 50 * _SHOWN])).tolist():
            seen.setdefault(piece[place].as_py(), []).append(before + place)
        before += len(piece)
    twice = [(identifier, rows) for identifier, rows in seen.items() if len(rows) > 1]
    if twice:
        shown = ", ".join(_describe(identifier, rows, file_of) for identifier, rows in islice(twice, _SHOWN))
        more = ", ..." if len(twice) > _SHOWN else ""
        raise DataError(f"{name}: document ids must be unique, but these occur more than once: {shown}{more}")


def _describe(identifier: str, rows: list[int], file_of: FileOf) -> str:
    if file_of is None:
        return repr(identifier)
    files = list(dict.fromkeys(map(file_of, rows)))
    return f"{identifier!r} (in {' and in '.join(files[:2]) if len(files) > 1 else f'{files[0]}, twice'})"
