"""Finding (query, document) pairs among many, a whole array at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Array, Int64s, UInt64s, rows_or_zero, values_of
from evenrank.data.evidence_source import Gathered, Pairs
from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.ids import (
    WHOLE_IN_HASH,
    StringRows,
    as_ids,
    encode_first_seen,
    hash_strings,
    mix_codes,
    places_among,
)

_NO_QUERY = mix_codes(np.zeros(1, np.int64))[0]
_LAST = np.uint64((1 << 64) - 1)
_MOST_BITS = 26  # of a key, to say where to look first: 256 MB
_PAIRS_AT_ONCE = 1 << 15  # keeps the temporaries of one step inside the cache
_SORTED_AT_ONCE = 1 << 10  # rows, or the rows of one longer list
_FEW = 1 / 20  # of the rows: so few ids are found faster by one pass over the table than by an index of it


class PairIndex:
    """Rows of a table by (query code, document id); for a table by document, all query codes are 0.

    Keys are 64-bit hashes in their order, and a table says where those with the same leading bits begin: a
    look-up reads mostly one key. What is found is then compared itself, and a table in which two pairs have
    one key is looked up in a dictionary, so that a collision costs time, not correctness.
    """

    def __init__(self, query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray) -> None:
        self._query_codes = query_codes
        self._doc_ids = StringRows(doc_ids)
        self._asked = False

    @cached_property
    def _sorted(self) -> tuple[UInt64s, Int64s, npt.NDArray[np.int32], np.uint64]:
        """The keys in their order, and behind them one that ends any search; the row of each; where keys with
        the same leading bits begin; and how far to shift a key to have these."""
        keys = self._doc_ids.hashes + mix_codes(self._query_codes)
        rows = np.argsort(keys)
        keys = keys[rows]
        bits = min(_MOST_BITS, max(4, (2 * len(keys)).bit_length()))
        shift = np.uint64(64 - bits)
        counts = np.bincount((keys >> shift).view(np.int64), minlength=1 << bits)
        return (
            np.append(keys, _LAST),
            np.append(rows, -1),
            (np.cumsum(counts) - counts).astype(np.int32),
            shift,
        )

    @cached_property
    def _colliding(self) -> dict[tuple[int, str], int]:
        """All pairs, where two of them have the same key; else none."""
        keys = self._sorted[0]
        if not (keys[1:] == keys[:-1]).any():
            return {}
        pairs = zip(self._query_codes.tolist(), self._doc_ids.array().to_pylist(), strict=True)
        return {pair: row for row, pair in enumerate(pairs)}

    def locate(self, query_codes: npt.NDArray[Any] | None, doc_ids: StringRows) -> Int64s:
        """The row of each pair, or -1; no codes for a table by document."""
        if not self._asked and len(doc_ids) < _FEW * len(self._doc_ids):
            self._asked = True  # the next time an index pays
            wanted = pc.is_in(self._doc_ids.strings, value_set=doc_ids.array().unique())
            part = np.flatnonzero(values_of(wanted))
            index = PairIndex(self._query_codes[part], self._doc_ids.at(part))
            index._asked = True  # it has all rows where every query has these documents
            return np.append(part, -1)[index.locate(query_codes, doc_ids)]
        if self._colliding:
            codes = np.zeros(len(doc_ids), np.int64) if query_codes is None else query_codes
            pairs = zip(codes.tolist(), doc_ids.array().to_pylist(), strict=True)
            return np.array([self._colliding.get(pair, -1) for pair in pairs], np.int64)
        keys, rows, starts, shift = self._sorted
        found = np.full(len(doc_ids), -1, np.int64)
        for begin in range(0, len(doc_ids), _PAIRS_AT_ONCE):
            block = slice(begin, begin + _PAIRS_AT_ONCE)
            wanted = doc_ids.hashes[block] + (
                _NO_QUERY if query_codes is None else mix_codes(query_codes[block])
            )
            at = starts.take((wanted >> shift).view(np.int64))
            there = keys.take(at)
            behind = np.flatnonzero(there < wanted)
            while len(behind):  # as often as the most keys with the same leading bits
                at[behind] += 1
                there[behind] = keys.take(at[behind])
                behind = behind[there[behind] < wanted[behind]]
            same = np.flatnonzero(there == wanted)
            some, asked = rows.take(at[same]), begin + same
            right = self._are(some, query_codes, doc_ids, asked)
            found[asked[right]] = some[right]
        return found

    def _are(
        self, rows: Int64s, codes: npt.NDArray[Any] | None, doc_ids: StringRows, pairs: Int64s
    ) -> npt.NDArray[np.bool_]:
        """Whether each row is the pair whose key is equal to its own. Hashes tell short ids apart."""
        lengths = self._doc_ids.lengths.take(rows)
        same: npt.NDArray[np.bool_] = lengths == doc_ids.lengths.take(pairs)
        if codes is not None:
            same &= self._query_codes.take(rows) == codes.take(pairs)
        long = np.flatnonzero(same & (lengths > WHOLE_IN_HASH))
        if len(long):
            same[long] = values_of(pc.equal(self._doc_ids.at(rows[long]), doc_ids.at(pairs[long])))
        return same


class PairRows:
    """What has one row for each document, or for each (query, document), and finds the rows of pairs."""

    doc_ids: pa.LargeStringArray  # (R,)
    query_ids: tuple[str, ...] | None  # the distinct queries; None: by document
    query_codes: npt.NDArray[Any]  # (R,), all 0 by document

    @cached_property
    def _index(self) -> PairIndex:
        return PairIndex(self.query_codes, self.doc_ids)

    def codes_of(self, query_ids: Sequence[str]) -> Int64s:
        """The code of each query here: -1 unknown, 0 for all where queries do not matter."""
        if self.query_ids is None:
            return np.zeros(len(query_ids), dtype=np.int64)
        return places_among(query_ids, self.query_ids)

    def rows_of(self, pairs: Pairs) -> Int64s:
        """The row of each pair, -1 for one that is not listed."""
        codes = None if self.query_ids is None else self.codes_of(pairs.query_ids)[pairs.query_codes]
        return self._index.locate(codes, pairs.doc_ids)

    def gathered(self, pairs: Pairs, columns: Mapping[str, Array]) -> Gathered:
        """The columns at the rows of the pairs; 0 for a pair that is not listed, which is not known."""
        rows = self.rows_of(pairs)
        return Gathered({name: rows_or_zero(column, rows) for name, column in columns.items()}, rows >= 0)

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        return {}


def row_ids(
    documents: Any, queries: Any, name: str
) -> tuple[pa.LargeStringArray, Int64s, tuple[str, ...] | None]:
    """The document of each row, the code of its query, and the queries; all codes are 0 without queries."""
    doc_ids = as_ids(documents, "document", name)
    if queries is None:
        return doc_ids, np.zeros(len(doc_ids), np.int64), None
    codes, query_ids = encode_first_seen(as_ids(queries, "query", name))
    if len(codes) != len(doc_ids):
        raise DataError(f"{name}: {len(codes)} queries for {len(doc_ids)} documents")
    return doc_ids, codes.astype(np.int64), query_ids


def all_differ(
    query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray, hashes: UInt64s | None = None
) -> bool:
    """Whether no (query, document) stands twice. True is certain; False may be two ids of equal hash."""
    keys = hash_strings(doc_ids) if hashes is None else hashes
    steps = np.diff(query_codes)
    keys = keys ^ mix_codes(query_codes) if steps.any() else keys
    edges = np.flatnonzero(steps != 0) + 1
    if len(edges) and steps.min() >= 0:  # some whole lists at a time: what is sorted stays in the cache
        places = np.searchsorted(edges, np.arange(_SORTED_AT_ONCE, len(keys), _SORTED_AT_ONCE))
        cuts = np.unique(edges[places[places < len(edges)]])
    else:
        cuts = edges[:0]
    return not any((part[1:] == part[:-1]).any() for part in map(np.sort, np.split(keys, cuts)))


def first_of_pairs(query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray) -> npt.NDArray[np.bool_]:
    """Of sorted rows, whether each is another (query, document) than the one before."""
    fresh = np.ones(len(doc_ids), dtype=bool)
    if len(doc_ids) > 1:
        alike = values_of(pc.equal(doc_ids.slice(1), doc_ids.slice(0, len(doc_ids) - 1)))
        fresh[1:] = ~alike | (query_codes[1:] != query_codes[:-1])
    return fresh


def repeated_pairs(
    query_codes: npt.NDArray[Any], doc_ids: pa.LargeStringArray, hashes: UInt64s | None = None
) -> list[tuple[int, int]]:
    """For rows whose (query, document) stands earlier: the first such row, and the row; as many as are shown,
    and one more. ``hashes`` are those of the ids, where they are known."""
    if all_differ(query_codes, doc_ids, hashes):  # so ten million rows take the memory of one more column
        return []
    first: dict[tuple[int, str], int] = {}
    twice = []
    for row, pair in enumerate(zip(query_codes.tolist(), doc_ids.to_pylist(), strict=True)):
        if first.setdefault(pair, row) != row:
            twice.append((first[pair], row))
    return twice[: PROBLEMS_SHOWN + 1]


def refuse_repeated(
    query_codes: npt.NDArray[Any],
    doc_ids: pa.LargeStringArray,
    name: str,
    describe: Callable[[int, str], str],
    hashes: UInt64s | None = None,
) -> None:
    """Raise where a (query, document) stands twice. ``describe`` is given the row and its document."""
    if twice := repeated_pairs(query_codes, doc_ids, hashes):
        problems = [Problem(row + 1, describe(row, doc_ids[row].as_py())) for _, row in twice]
        error = DataError.listing(name, problems)
        error.firsts = tuple(first for first, _ in twice[: len(error.problems)])
        raise error
