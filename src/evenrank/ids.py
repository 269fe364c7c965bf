"""Identifiers in bulk: Arrow strings, hashed and compared as whole arrays.

Ids are byte strings to us: ``007`` and ``7`` differ, and order is the order of the UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Int64s, UInt64s, in_order, integers, values_of
from evenrank.errors import PROBLEMS_SHOWN, DataError, InputTypeError, Problem

_ROWS_AT_ONCE = 1 << 18  # keeps the temporaries of one step inside the cache
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, odd
_FINISHER = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_LOW_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)

WHOLE_IN_HASH = 8  # strings of one length up to so many bytes are equal where their hashes are


def as_strings(values: Any) -> pa.LargeStringArray:
    """One contiguous Arrow array of strings, without a copy where it is one already."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # older Arrow gives a chunked array back
            values = pa.concat_arrays(values.chunks) if values.num_chunks else _of_texts([])
    if not isinstance(values, pa.Array):
        values = _of_texts(list(values) if not isinstance(values, (list, tuple)) else values)
    if not pa.types.is_large_string(values.type):
        values = values.cast(pa.large_string())
    return values


def _of_texts(texts: Sequence[Any]) -> pa.LargeStringArray:
    """The array that ``pa.array`` makes, which would import pandas wherever it is installed."""
    try:
        joined = "".join(texts)
        data = joined.encode()
    except (TypeError, UnicodeEncodeError):  # a gap, or no text: Arrow takes it or says what is wrong
        return pa.array(texts, pa.large_string())
    pieces = texts if len(data) == len(joined) else [text.encode() for text in texts]
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, pieces), np.int64, len(texts)), out=offsets[1:])
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(data))


def as_ids(values: Any, role: str, source: str) -> pa.LargeStringArray:
    """``as_strings`` for ids that somebody else gives: text in every row, and none of it empty.

    A row that is missing or empty is a ``DataError`` with its number, an object that is no text an
    ``InputTypeError``. Arrow columns are checked as a whole, without a look at their rows.
    """
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InputTypeError(f"{source}: the {role} column is a sequence of ids, got {values!r:.80}")
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        if not (is_text(kind) or values.null_count == len(values)):
            raise InputTypeError(f"{source}: {role}: ids are text, got an Arrow column of {kind}")
    else:
        values = values if isinstance(values, (list, tuple)) else list(values)
    try:
        ids = as_strings(values)
        if not ids.null_count and (np.diff(offsets_of(ids)) > 0).all():
            return ids
    except (pa.ArrowException, TypeError, ValueError):  # ValueError: half of a surrogate pair
        pass
    raise _flaws(values, role, source)


def _flaws(values: Any, role: str, source: str) -> Exception:
    """What to raise for a column that is not all ids: the rows that are not."""
    problems = []
    for row, value in enumerate(values.to_pylist() if hasattr(values, "to_pylist") else values, 1):
        if value is None or value != value:  # NaN, as pandas writes a gap
            problems.append(Problem(row, f"{role} is missing"))
        elif not isinstance(value, str):
            return InputTypeError(
                f"{source}: row {row}: {role} {value!r:.80} is {type(value).__name__}, and ids are text: "
                "use str() (the readers do so with whole numbers)"
            )
        elif not value:
            problems.append(Problem(row, f"{role} is empty"))
        elif not value.isprintable() and value.encode(errors="replace").decode() != value:
            problems.append(Problem(row, f"{role} {value!r:.80} cannot be written in UTF-8"))
    return DataError.listing(source, problems[: PROBLEMS_SHOWN + 1])


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow column of this type holds strings."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def offsets_of(strings: pa.LargeStringArray) -> Int64s:
    """Where each string begins in the byte buffer, and where the last one ends: (n + 1,)."""
    buffer = strings.buffers()[1]
    if buffer is None or len(strings) == 0:
        return np.zeros(1, dtype=np.int64)
    return np.frombuffer(buffer, dtype=np.int64)[strings.offset : strings.offset + len(strings) + 1]


def hash_strings(strings: pa.LargeStringArray) -> UInt64s:
    """A 64-bit hash of every string, the same in every process.

    Eight bytes at a time are read straight from the Arrow buffer, and each step can be undone: strings
    of the same length, up to eight bytes, have different hashes. Of longer ones the hash only finds
    candidates: whoever uses it compares the strings themselves, so that a collision costs time, not
    correctness.
    """
    count = len(strings)
    hashes = np.empty(count, dtype=np.uint64)
    if count == 0:
        return hashes
    offsets = offsets_of(strings)
    first, last = int(offsets[0]), int(offsets[-1])
    buffer = strings.buffers()[2]
    raw = np.frombuffer(buffer, dtype=np.uint8)[first:last] if buffer is not None else np.empty(0, np.uint8)
    padding = np.zeros(8, dtype=np.uint8)
    for begin in range(0, count, _ROWS_AT_ONCE):
        edges = offsets[begin : begin + _ROWS_AT_ONCE + 1] - first
        block = np.concatenate([raw[edges[0] : edges[-1]], padding])
        words = np.ndarray((len(block) - 7,), dtype="<u8", buffer=block, strides=(1,))  # one at every byte
        starts, lengths = edges[:-1] - edges[0], np.diff(edges)
        state = lengths.astype(np.uint64)
        state = _absorb(state, words[starts] & _LOW_BYTES[np.minimum(lengths, 8)])
        for done in range(8, int(lengths.max()), 8):
            longer = np.flatnonzero(lengths > done)
            left = np.minimum(lengths[longer] - done, 8)
            state[longer] = _absorb(state[longer], words[starts[longer] + done] & _LOW_BYTES[left])
        hashes[begin : begin + len(starts)] = state
    return hashes


def _absorb(state: UInt64s, word: UInt64s) -> UInt64s:
    mixed = (state ^ word) * _MULTIPLIER
    mixed ^= mixed >> _HALF
    mixed *= _FINISHER
    return mixed


def mix_codes(codes: npt.NDArray[Any]) -> UInt64s:
    """Spread small integers over 64 bits, so that (query, document) keys of different queries differ."""
    mixed = (codes.astype(np.uint64) + np.uint64(1)) * _FINISHER
    mixed ^= mixed >> _HALF
    mixed *= _MULTIPLIER
    return mixed


def take(strings: pa.LargeStringArray, rows: npt.NDArray[Any]) -> pa.LargeStringArray:
    """The strings of these rows: the array itself where the rows are all of them in their order."""
    return strings if in_order(rows, len(strings)) else strings.take(integers(rows))


def update_digest(digest: Any, strings: pa.LargeStringArray) -> None:
    """Add the strings to a digest of hashlib: where each begins, and their bytes."""
    offsets = offsets_of(strings)
    digest.update((offsets - offsets[0]).astype("<i8").tobytes())
    buffer = strings.buffers()[2]
    if buffer is not None:
        digest.update(memoryview(buffer)[int(offsets[0]) : int(offsets[-1])])


@dataclass(frozen=True)
class StringRows:
    """Some rows of a string array, copied only when they are looked at."""

    strings: pa.LargeStringArray
    rows: Int64s | None = None  # None is all, in order
    hashes_of_all: UInt64s | None = None  # those of ``strings``, where they are known

    @classmethod
    def joined(cls, parts: Sequence[StringRows]) -> StringRows:
        """All of them, one part behind the other."""
        if len(parts) == 1:
            return parts[0]
        whole = pa.concat_arrays([part.array() for part in parts])
        return cls(whole, None, np.concatenate([part.hashes for part in parts]))

    def __len__(self) -> int:
        return len(self.strings) if self.rows is None else len(self.rows)

    @cached_property
    def hashes(self) -> UInt64s:
        if self.hashes_of_all is None:
            return hash_strings(self.array())
        return self.hashes_of_all if self.rows is None else self.hashes_of_all[self.rows]

    @cached_property
    def lengths(self) -> Int64s:
        """How many bytes each has."""
        offsets = offsets_of(self.strings)
        if self.rows is None:
            return np.diff(offsets)
        lengths: Int64s = offsets[self.rows + 1] - offsets[self.rows]
        return lengths

    def at(self, places: npt.NDArray[Any]) -> pa.LargeStringArray:
        return take(self.strings, places if self.rows is None else self.rows[places])

    def is_like(self, other: StringRows) -> bool:
        """True where both are the same rows of the same array."""
        if self.strings is not other.strings:
            return False
        if self.rows is None or other.rows is None:
            return self.rows is other.rows
        return self.rows is other.rows or np.array_equal(self.rows, other.rows)

    def array(self) -> pa.LargeStringArray:
        return self.strings if self.rows is None else take(self.strings, self.rows)


def encode_first_seen(values: Iterable[str]) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Codes by first appearance, and the distinct values in that order."""
    dictionary = as_strings(values).dictionary_encode()
    codes = values_of(dictionary.indices).astype(np.int32)
    return codes, tuple(dictionary.dictionary.to_pylist())


def places_among(ids: Sequence[str], among: Sequence[str]) -> Int64s:
    """Where each id stands in ``among``, in which none is twice; -1 where it does not."""
    if ids == among:  # the usual case, and known at once
        return np.arange(len(ids))
    return np.fromiter(map(positions(among).get, ids, repeat(-1)), np.int64, len(ids))


def without(ids: Sequence[str], others: Sequence[str]) -> list[str]:
    """The ids that are not among the others, in their order."""
    there = frozenset(others)
    return [one for one in ids if one not in there]


def positions(ids: Sequence[str]) -> dict[str, int]:
    return {identifier: position for position, identifier in enumerate(ids)}


def by_query(
    query_ids: Sequence[str], offsets: Int64s, doc_ids: pa.LargeStringArray, values: npt.NDArray[Any]
) -> dict[str, dict[str, Any]]:
    """``{query: {document: value}}`` of rows that stand query by query."""
    ids, own = doc_ids.to_pylist(), values.tolist()
    spans = zip(query_ids, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    return {query: dict(zip(ids[a:b], own[a:b], strict=True)) for query, a, b in spans}
