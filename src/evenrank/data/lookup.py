"""Finding (query, document) pairs among many, a whole array at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.data.strings import Int64s, Selection, UInt64s, hash_strings, mix_codes, same

_NO_QUERY = mix_codes(np.zeros(1, np.int64))[0]


class PairIndex:
    """Rows of a table by (query code, document id); for a table by document, all query codes are 0.

    Keys are 64-bit hashes, sorted. A directory on their leading bits gives the few rows where a key
    can be, so that a look-up costs two or three gathers instead of a binary search. What is found is
    compared with the id itself.
    """

    def __init__(self, query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray) -> None:
        keys = hash_strings(doc_ids) + mix_codes(query_codes)
        order = np.argsort(keys, kind="stable")
        self._query_codes = query_codes[order]
        self._doc_ids = doc_ids
        self._rows = order
        self._keys = keys[order]
        bits = max(1, min(24, int(len(keys) * 4).bit_length()))
        self._shift = np.uint64(64 - bits)
        buckets = (self._keys >> self._shift).astype(np.int64)
        self._starts = np.searchsorted(buckets, np.arange((1 << bits) + 1)).astype(np.int64)

    def locate(self, query_codes: npt.NDArray[Any] | None, doc_ids: Selection, hashes: UInt64s) -> Int64s:
        """The row of each pair, or -1. ``hashes`` are those of the ids; no codes for a table by document."""
        keys = hashes + (_NO_QUERY if query_codes is None else mix_codes(query_codes))
        found = np.full(len(keys), -1, dtype=np.int64)
        buckets = (keys >> self._shift).astype(np.int64)
        at, end = self._starts[buckets], self._starts[buckets + 1]
        pending = np.flatnonzero(at < end)
        at, end = at[pending], end[pending]
        while len(pending):  # as often as the fullest bucket has rows
            hit = self._keys[at] == keys[pending]
            candidates, slots = pending[hit], at[hit]
            right = same(self._doc_ids, self._rows[slots], doc_ids.strings, doc_ids.rows_at(candidates))
            if query_codes is not None:
                right &= self._query_codes[slots] == query_codes[candidates]
            found[candidates[right]] = self._rows[slots[right]]
            at = at + 1
            # a pair found is not looked for again; pairs are unique, so the first hit is the only one
            again = at < end
            again[np.flatnonzero(hit)[right]] = False
            pending, at, end = pending[again], at[again], end[again]
        return found
