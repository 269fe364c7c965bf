"""Ids that occur more than once, found in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from evenrank.data.strings import UInt64s, hash_strings
from evenrank.errors import DataError

AT_ONCE = 1 << 21  # hashes that are kept while a collection is scanned: 16 MB, and 48 to compare them
IN_A_PASS = 6_000_000  # hashes that are compared at once when there are more: 96 MB

_SHOWN = 20

Ids = Callable[[], Iterator[pa.LargeStringArray]]


class Uniqueness:
    """Is told the hashes of all ids, and looks at the ids themselves only where hashes are equal."""

    def __init__(self, *, fast: bool = False) -> None:
        self._repeated = _repeated_fast if fast else _repeated
        self._kept: list[UInt64s] | None = []
        self._documents = 0

    def add(self, hashes: UInt64s) -> None:
        self._documents += len(hashes)
        if self._documents > AT_ONCE:
            self._kept = None  # too many: they are made again from the ids, a range at a time
        elif self._kept is not None:
            self._kept.append(hashes)

    def check(self, ids: Ids, name: str) -> None:
        """Raise if an id is there twice. ``ids`` gives all of them, as often as it is called."""
        if self._kept is not None:
            suspects = self._repeated(np.concatenate(self._kept)) if self._kept else np.empty(0, np.uint64)
        else:
            suspects = np.concatenate(list(self._by_range(ids)))
        if len(suspects):
            _compare(ids(), suspects, name)

    def _by_range(self, ids: Ids) -> Iterator[UInt64s]:
        """Equal hashes have equal leading bits: each pass takes those with the same ones."""
        bits = max(1, (self._documents // IN_A_PASS).bit_length())
        shift = np.uint64(64 - bits)
        for turn in range(1 << bits):
            kept = [
                hashes[hashes >> shift == np.uint64(turn)]
                for hashes in (hash_strings(piece) for piece in ids())
            ]
            yield _repeated(np.concatenate(kept))


def _repeated(hashes: UInt64s) -> UInt64s:
    hashes.sort()
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])


def _repeated_fast(hashes: UInt64s) -> UInt64s:
    from evenrank.evidence.scan.lines import repeated_hashes

    table = np.zeros(1 << max(4, (2 * len(hashes) - 1).bit_length()), np.uint64)
    repeated = np.empty(len(hashes), np.uint64)
    return np.unique(repeated[: repeated_hashes(hashes, table, repeated)])


def _compare(pieces: Iterator[pa.LargeStringArray], repeated: UInt64s, name: str) -> None:
    seen: Counter[str] = Counter()
    for piece in pieces:
        places = np.flatnonzero(np.isin(hash_strings(piece), repeated[: 50 * _SHOWN]))
        seen.update(piece[int(place)].as_py() for place in places)
    twice = [identifier for identifier, times in seen.items() if times > 1]
    if twice:
        shown = ", ".join(repr(identifier) for identifier in twice[:_SHOWN])
        more = ", ..." if len(twice) > _SHOWN else ""
        raise DataError(f"{name}: a document id must be there once; more than once are {shown}{more}")
