"""Finding (query, document) pairs among many, a whole array at a time."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Bools, Int64s, UInt64s, values_of
from evenrank.ids import WHOLE_IN_HASH, StringRows, hash_strings, lengths_of, mix_codes, same, take

_NO_QUERY = mix_codes(np.zeros(1, np.int64))[0]
_HALF = np.uint64(32)
_LENGTH = np.uint64((1 << 32) - 1)
_FREE = np.uint64((1 << 64) - 1)  # in place of row and length: no row is there
_SLOTS_A_ROW = 3  # more is hardly faster, and takes more memory
_PAIRS_AT_ONCE = 1 << 15  # keeps the temporaries of one step inside the cache
_FEW = 1 / 20  # of the rows: so few ids are found faster by one pass over the table than by an index of it
_MANY_TIMES = 4  # the rows: so many pairs are looked for that a first look at a few bits of their keys pays
_PASSES = 8  # over the table before an index is made after all, which costs about twenty


def _low_bits(keys: UInt64s, count: int) -> Int64s:
    """The last bits of keys, as places among ``count``, which is a power of two."""
    return (keys & np.uint64(count - 1)).view(np.int64)


def _by_leading_half(keys: UInt64s) -> Int64s:
    """Rows in the order of the leading halves of their keys: sixteen bits at a time, which needs no
    comparisons and a third of the time."""
    half = (keys >> _HALF).astype(np.uint32)
    order = np.argsort(half.astype(np.uint16), kind="stable")
    leading = (half >> np.uint32(16)).astype(np.uint16)
    found: Int64s = order[np.argsort(leading[order], kind="stable")]
    return found


class PairIndex:
    """Rows of a table by (query code, document id); for a table by document, all query codes are 0.

    Keys are 64-bit hashes, each in a slot that its leading bits give, or in the next free one behind: a
    look-up reads memory once, mostly, since row and length of the id stand beside the key. Ids of up to
    eight bytes are one to one with their hashes; longer ones are compared themselves, so that a collision
    costs time, not correctness.

    The index of a large table is made when it pays: a few ids are looked for the other way round, by one
    pass over the table that asks of each row whether it is among them.
    """

    def __init__(self, query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray) -> None:
        self._query_codes = query_codes
        self._doc_ids = doc_ids
        self._records: npt.NDArray[np.void] | None = None
        self._passes = 0

    def locate(self, query_codes: npt.NDArray[Any] | None, doc_ids: StringRows, hashes: UInt64s) -> Int64s:
        """The row of each pair, or -1. ``hashes`` are those of the ids; no codes for a table by document."""
        few = len(hashes) < _FEW * len(self._doc_ids)
        if self._records is None and few and self._passes < _PASSES:
            self._passes += 1
            return self._locate_by_a_pass(query_codes, doc_ids, hashes)
        return self._locate_by_hash(query_codes, doc_ids, hashes)

    def _locate_by_a_pass(
        self, query_codes: npt.NDArray[Any] | None, doc_ids: StringRows, hashes: UInt64s
    ) -> Int64s:
        """As ``locate``, by an index of only those rows whose document is asked for."""
        asked = pc.is_in(self._doc_ids, value_set=doc_ids.array().unique())
        rows = np.flatnonzero(values_of(asked))
        part = PairIndex(self._query_codes[rows], take(self._doc_ids, rows))
        found = part._locate_by_hash(query_codes, doc_ids, hashes)
        there = found >= 0
        found[there] = rows[found[there]]
        return found

    def _make_records(self) -> npt.NDArray[np.void]:
        keys = hash_strings(self._doc_ids) + mix_codes(self._query_codes)
        self._size = np.uint64(max(1, _SLOTS_A_ROW * len(keys)))
        order = _by_leading_half(keys)
        # keys in order stay in order: each moves behind the one before, if that has come so far
        steps = np.arange(len(keys))
        sorted_keys = keys[order]
        slots = np.maximum.accumulate(self._slots(sorted_keys) - steps) + steps
        count = max(int(self._size), int(slots[-1]) + 1 if len(slots) else 0) + 1  # the last one stays free
        records = np.full((count, 2), _FREE)
        records[slots, 0] = sorted_keys
        lengths = lengths_of(self._doc_ids).astype(np.uint64)
        records[slots, 1] = (steps.astype(np.uint64) << _HALF | lengths)[order]
        return records.view("V16")[:, 0]  # moved as one

    @cached_property
    def _seen(self) -> Bools:
        """For the last bits of a key, whether any row has them."""
        seen = np.zeros(1 << (4 * len(self._doc_ids)).bit_length(), dtype=bool)
        keys = hash_strings(self._doc_ids) + mix_codes(self._query_codes)
        seen[_low_bits(keys, len(seen))] = True
        return seen

    def _slots(self, keys: UInt64s) -> Int64s:
        """Where to look first: the leading half of a key, as a fraction of all slots."""
        slots: Int64s = ((keys >> _HALF) * self._size >> _HALF).astype(np.int64)
        return slots

    def _locate_by_hash(
        self, query_codes: npt.NDArray[Any] | None, doc_ids: StringRows, hashes: UInt64s
    ) -> Int64s:
        if self._records is None:
            self._records = self._make_records()
        found = np.full(len(hashes), -1, dtype=np.int64)
        # where most pairs are not there, as most documents are not judged, a few bits of a key tell so
        seen = self._seen if len(hashes) > _MANY_TIMES * len(self._doc_ids) else None
        for begin in range(0, len(hashes), _PAIRS_AT_ONCE):
            pairs = np.arange(begin, min(begin + _PAIRS_AT_ONCE, len(hashes)))  # those still looked for
            keys = hashes[begin : begin + _PAIRS_AT_ONCE]
            keys = keys + (_NO_QUERY if query_codes is None else mix_codes(query_codes[pairs]))
            if seen is not None:
                likely = np.flatnonzero(seen.take(_low_bits(keys, len(seen))))
                pairs, keys = pairs[likely], keys[likely]
            lengths = lengths_of(doc_ids.strings, doc_ids.rows_at(pairs)).astype(np.uint64)
            slots = self._slots(keys)
            while len(pairs):  # as often as the longest row of taken slots is long
                records = self._records.take(slots).view(np.uint64).reshape(-1, 2)
                rest = records[:, 1]
                right = (records[:, 0] == keys) & (rest & _LENGTH == lengths)
                rows = (rest >> _HALF).astype(np.int64)
                if query_codes is not None:
                    likely = np.flatnonzero(right)
                    right[likely] = self._query_codes[rows[likely]] == query_codes[pairs[likely]]
                long = np.flatnonzero(right & (lengths > WHOLE_IN_HASH))
                if len(long):
                    asked = doc_ids.rows_at(pairs[long])
                    right[long] = same(self._doc_ids, rows[long], doc_ids.strings, asked)
                found[pairs[right]] = rows[right]
                further = np.flatnonzero(~right & (rest != _FREE))
                pairs, keys, lengths = pairs[further], keys[further], lengths[further]
                slots = slots[further] + 1
        return found


def all_differ(query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray) -> bool:
    """Whether no (query, document) stands twice. True is certain; False may be two ids of equal hash."""
    keys = hash_strings(doc_ids)
    if query_codes.any():
        keys ^= mix_codes(query_codes)
    keys.sort()
    return not (keys[1:] == keys[:-1]).any()


def repeated_pairs(
    query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray, most: int
) -> list[tuple[int, int]]:
    """For rows whose (query, document) stands earlier: the first such row, and the row; at most ``most``.

    Hashes find them, so that ten million rows without any take the memory of one more column.
    """
    if all_differ(query_codes, doc_ids):
        return []
    keys = hash_strings(doc_ids) ^ mix_codes(query_codes)
    order = np.argsort(keys, kind="stable")
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = keys[order][1:] != keys[order][:-1]
    heads = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))  # where the like of a row begin
    places = np.flatnonzero(~fresh)
    places = places[np.argsort(order[places], kind="stable")]
    found: list[tuple[int, int]] = []
    for place in places.tolist():
        row = int(order[place])
        alike = order[heads[place] : place].tolist()  # equal hashes: nearly always equal ids
        first = next(
            (
                other
                for other in alike
                if query_codes[other] == query_codes[row] and doc_ids[other] == doc_ids[row]
            ),
            None,
        )
        if first is not None:
            found.append((int(first), row))
            if len(found) == most:
                break
    return found
