"""Finding (query, document) pairs among many, a whole array at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.data.strings import (
    Int64s,
    Selection,
    UInt64s,
    hash_strings,
    lengths_of,
    mix_codes,
    same,
)

_NO_QUERY = mix_codes(np.zeros(1, np.int64))[0]
_KEY, _REST = range(2)
_HALF = np.uint64(32)
_LENGTH = np.uint64((1 << 32) - 1)


class PairIndex:
    """Rows of a table by (query code, document id); for a table by document, all query codes are 0.

    Keys are 64-bit hashes, sorted. A directory on their leading bits gives the few rows where a key
    can be, so that a look-up costs two gathers instead of a binary search. The length of the id and its row
    stand beside the key, so that memory is read once. What is found is compared with the id itself.
    """

    def __init__(self, query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray) -> None:
        keys = hash_strings(doc_ids) + mix_codes(query_codes)
        order = np.argsort(keys, kind="stable")
        self._query_codes = query_codes[order]
        self._doc_ids = doc_ids
        self._records = np.empty((len(keys), 2), dtype=np.uint64)
        self._records[:, _KEY] = keys[order]
        self._records[:, _REST] = order.astype(np.uint64) << _HALF | lengths_of(doc_ids, order).astype(
            np.uint64
        )
        bits = max(1, min(24, int(len(keys) * 4).bit_length()))
        self._shift = np.uint64(64 - bits)
        buckets = (self._records[:, _KEY] >> self._shift).astype(np.int64)
        self._starts = np.searchsorted(buckets, np.arange((1 << bits) + 1)).astype(np.int32)

    def locate(self, query_codes: npt.NDArray[Any] | None, doc_ids: Selection, hashes: UInt64s) -> Int64s:
        """The row of each pair, or -1. ``hashes`` are those of the ids; no codes for a table by document."""
        keys = hashes + (_NO_QUERY if query_codes is None else mix_codes(query_codes))
        lengths = lengths_of(doc_ids.strings, doc_ids.rows).astype(np.uint64)
        buckets = (keys >> self._shift).astype(np.int64)
        at, end = self._starts[buckets], self._starts[buckets + 1]
        found = np.full(len(keys), -1, dtype=np.int64)
        pending = np.flatnonzero(at < end)
        while len(pending):  # as often as the fullest bucket has rows
            slots = at[pending]
            record = self._records[slots]  # (P, 2)
            right = record[:, _KEY] == keys[pending]
            right &= record[:, _REST] & _LENGTH == lengths[pending]
            if query_codes is not None:
                right &= self._query_codes[slots] == query_codes[pending]
            rows = (record[:, _REST] >> _HALF).astype(np.int64)
            likely = np.flatnonzero(right)
            asked = doc_ids.rows_at(pending[likely])
            right[likely] = same(self._doc_ids, rows[likely], doc_ids.strings, asked)
            found[pending[right]] = rows[right]
            # pairs are unique: one that is found is not looked for again
            pending = pending[~right]
            at[pending] += 1
            pending = pending[at[pending] < end[pending]]
        return found
