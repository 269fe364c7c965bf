"""Document ids must be unique.

Where ids ascend in every part and from part to part, all are distinct, and that is all there is to know. Else
the hashes of all ids are sorted, and only ids with equal hashes are compared themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import UInt64s
from evenrank.errors import DataError
from evenrank.ids import hash_strings

AT_ONCE = 1 << 26  # hashes that are sorted at a time: 512 MB, a pass over all ids for each

_SHOWN = 20

Ids = Callable[[], Iterable[pa.LargeStringArray]]
"""All ids in the order of the documents; it may be asked for several times."""

FileOf = Callable[[int], str]
"""The file of a document, by its place among all."""


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


def check_ids(
    ids: Ids, ends: Sequence[list[str] | None], documents: int, name: str, file_of: FileOf | None = None
) -> None:
    """Raise if an id is there twice. ``ends`` are those of the parts; ``file_of`` is for the message."""
    if _ascend(ends):
        return
    turns = 1 + documents // AT_ONCE
    for turn in range(turns):
        hashes = np.concatenate([_of_turn(hash_strings(piece), turn, turns) for piece in ids()])
        hashes.sort()
        repeated = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
        if len(repeated):
            _compare(ids(), repeated, name, file_of)


def _of_turn(hashes: UInt64s, turn: int, turns: int) -> UInt64s:
    return hashes if turns == 1 else hashes[hashes % np.uint64(turns) == turn]


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
    pieces: Iterable[pa.LargeStringArray], repeated: UInt64s, name: str, file_of: FileOf | None
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
    first = islice(twice.items(), _SHOWN)
    shown = ", ".join(_describe(identifier, rows, file_of) for identifier, rows in first)
    more = ", ..." if len(twice) > _SHOWN else ""
    raise DataError(f"{name}: document ids must be unique, but these occur more than once: {shown}{more}")


def _describe(identifier: str, rows: list[int], file_of: FileOf | None) -> str:
    if file_of is None:
        return repr(identifier)
    files = list(dict.fromkeys(map(file_of, rows)))
    return f"{identifier!r} (in {' and in '.join(files[:2]) if len(files) > 1 else f'{files[0]}, twice'})"
