"""A run: for every query one ranked list of documents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Int64s, UInt64s, check_lengths, integers, lock, owned, ragged, values_of
from evenrank.data.frames import to_pandas, to_polars
from evenrank.data.lookup import refuse_repeated
from evenrank.errors import (
    PROBLEMS_SHOWN,
    DataError,
    InputTypeError,
    ParameterError,
    Problem,
    counted,
)
from evenrank.ids import (
    StringRows,
    as_ids,
    as_strings,
    by_query,
    hash_strings,
    is_text,
    places_among,
    positions,
    take,
    update_digest,
)

if TYPE_CHECKING:
    import pandas
    import polars

Ties = Literal["trec", "file"]
TIE_RULES: tuple[Ties, ...] = ("trec", "file")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """Ranked lists, one a query, in columns. Position is rank: nobody sorts again.

    The list of query ``q`` is ``doc_ids[offsets[q]:offsets[q + 1]]``, best first. Order is by score,
    descending; equal scores by document id, descending (``ties="trec"``), or in order of appearance
    (``ties="file"``).

    >>> run = Run.build(["q1", "q1"], ["a", "b"], [1.0, 2.0])
    >>> run.documents("q1")
    ['b', 'a']
    """

    query_ids: tuple[str, ...]
    offsets: Int64s  # (Q + 1,)
    doc_ids: pa.LargeStringArray  # (N,)
    scores: npt.NDArray[np.float64]  # (N,)
    name: str = "run"
    ties: Ties = "trec"
    source: str | None = None
    doc_hashes: UInt64s = field(default_factory=lambda: np.empty(0, np.uint64))  # (N,)
    reads_judgements: bool = False  # whether judgements were known to what made the order

    def __post_init__(self) -> None:
        if len(self.doc_hashes) != len(self.doc_ids):
            object.__setattr__(self, "doc_hashes", hash_strings(self.doc_ids))
        lock(self.offsets, self.scores, self.doc_hashes)

    @classmethod
    def build(
        cls,
        queries: Any,
        documents: Any,
        scores: Any,
        *,
        name: str = "run",
        ties: Ties = "trec",
        source: str | None = None,
    ) -> Run:
        """From three columns of equal length, in any order.

        ``queries`` is a sequence of strings or an Arrow dictionary array. Rows that cannot be used
        raise a ``DataError`` whose problems carry 1-based row numbers.
        """
        check_ties(ties)
        codes, query_ids = encode_ids(queries, "query", source or name)
        doc_ids = as_ids(documents, "document", source or name)
        values = as_numbers(scores, "score", source or name)
        check_lengths(queries=codes, documents=doc_ids, scores=values)
        if not len(doc_ids):
            raise DataError(f"{source or name}: no ranked documents")
        bad = np.flatnonzero(~np.isfinite(values))[: PROBLEMS_SHOWN + 1].tolist()
        if bad:
            problems = [Problem(row + 1, f"score {values[row]} is not finite") for row in bad]
            raise DataError.listing(source or name, problems)
        hashes = hash_strings(doc_ids)
        refuse_repeated(
            codes,
            doc_ids,
            source or name,
            lambda row, document: f"document {document!r} is twice in query {query_ids[codes[row]]!r}",
            hashes,
        )
        order = _rank_order(codes, values, doc_ids, by_id=ties == "trec")
        if order is not None:
            codes, values, hashes = codes[order], values[order], hashes[order]
            doc_ids = take(doc_ids, order)
        bounds = np.arange(len(query_ids) + 1, dtype=codes.dtype)  # another type would copy the codes
        offsets = np.searchsorted(codes, bounds).astype(np.int64)
        return cls(query_ids, offsets, doc_ids, values, name, ties, source, hashes)

    @cached_property
    def lengths(self) -> Int64s:
        return np.diff(self.offsets)

    @cached_property
    def query_positions(self) -> dict[str, int]:
        return positions(self.query_ids)

    @property
    def depth(self) -> int:
        """The length of the longest list."""
        return int(self.lengths.max(initial=0))

    def __len__(self) -> int:
        return len(self.query_ids)

    def __contains__(self, query: object) -> bool:
        return query in self.query_positions

    def __iter__(self) -> Iterator[str]:
        return iter(self.query_ids)

    def __repr__(self) -> str:
        size = (
            f"{counted(len(self), 'query', 'queries')}, {counted(len(self.doc_ids), 'document', 'documents')}"
        )
        return f"<Run {self.name!r}: {size}, depth {self.depth:,}>"

    def __eq__(self, other: object) -> bool:
        """Same lists and scores for the same queries, whatever the name and the order of queries."""
        if not isinstance(other, Run):
            return NotImplemented
        return self.has_same_lists(other) and np.array_equal(self.scores, other.select(self.query_ids).scores)

    def has_same_lists(self, other: Run) -> bool:
        """Whether the same queries have the same documents in the same order, whatever the scores."""
        if len(self) != len(other) or set(self.query_ids) != set(other.query_ids):
            return False
        other = other.select(self.query_ids)
        return np.array_equal(self.offsets, other.offsets) and self.doc_ids.equals(other.doc_ids)

    __hash__ = None  # type: ignore[assignment]

    def ids_at(self, rows: Int64s | None = None) -> StringRows:
        """The documents in these rows, or all of them, to be looked for."""
        return StringRows(self.doc_ids, rows, self.doc_hashes)

    def documents(self, query: str) -> list[str]:
        """The ranked list of one query."""
        position = self.query_positions.get(query)
        if position is None:
            raise KeyError(f"query {query!r} is not in run {self.name!r}")
        ids: list[str] = self.doc_ids.slice(self.offsets[position], self.lengths[position]).to_pylist()
        return ids

    def select(self, queries: Sequence[str]) -> Run:
        """Only these queries, in this order; those that the run lacks are left out."""
        wanted = tuple(dict.fromkeys(queries))
        places = places_among(wanted, self.query_ids)
        spots = places[places >= 0]
        return self._rows(tuple(compress(wanted, places >= 0)), spots, self.lengths[spots])

    def head(self, depth: int) -> Run:
        """Every list cut to its first ``depth`` documents."""
        if depth < 1:
            raise ParameterError(f"depth must be at least 1, got {depth}")
        return self._rows(self.query_ids, np.arange(len(self)), np.minimum(self.lengths, depth))

    def _rows(self, query_ids: tuple[str, ...], spots: Int64s, lengths: Int64s) -> Run:
        rows = ragged(self.offsets[:-1][spots], lengths)
        return replace(
            self,
            query_ids=query_ids,
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            doc_ids=take(self.doc_ids, rows),
            scores=self.scores[rows],
            doc_hashes=self.doc_hashes[rows],
        )

    def renamed(self, name: str) -> Run:
        return replace(self, name=name)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the lists themselves, the same whatever file or object they came from."""
        digest = hashlib.sha256(self.ties.encode())
        for query in self.query_ids:
            digest.update(query.encode() + b"\0")
        digest.update(self.offsets.astype("<i8").tobytes())
        digest.update(self.scores.astype("<f8").tobytes())
        update_digest(digest, self.doc_ids)
        return digest.hexdigest()

    def to_dict(self) -> dict[str, dict[str, float]]:
        """``{query: {document: score}}`` in rank order."""
        return by_query(self.query_ids, self.offsets, self.doc_ids, self.scores)

    def to_arrow(self) -> pa.Table:
        """Columns ``query``, ``document``, ``rank``, ``score``."""
        ranks = np.arange(len(self.doc_ids)) - np.repeat(self.offsets[:-1], self.lengths) + 1
        queries = take(as_strings(self.query_ids), np.repeat(np.arange(len(self)), self.lengths))
        columns = (queries, self.doc_ids, integers(ranks), pa.array(self.scores))
        return pa.table(dict(zip(("query", "document", "rank", "score"), columns, strict=True)))

    def to_polars(self) -> polars.DataFrame:
        return to_polars(self.to_arrow(), "Run.to_polars()")

    def to_pandas(self) -> pandas.DataFrame:
        return to_pandas(self.to_arrow(), "Run.to_pandas()")


def _rank_order(
    codes: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float64],
    doc_ids: pa.LargeStringArray,
    *,
    by_id: bool,
) -> Int64s | None:
    """By query, then score descending, then document id descending or, without ``by_id``, as they come.

    The row of the input for every place; None where the rows stand in this order already.
    """
    rows = None
    if not _falls(codes, scores):
        rows = np.lexsort((-scores, codes))  # stable, so equal scores keep the order of the file
        codes, scores = codes[rows], scores[rows]
    # a row and the next one belong to the same query and have the same score
    tied = (codes[1:] == codes[:-1]) & (scores[1:] == scores[:-1])
    if not by_id or not tied.any():
        return rows
    places = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
    group = np.cumsum(np.append(True, ~tied))[places]  # one number for each block of equal scores
    origins = places if rows is None else rows[places]
    table = pa.table({"group": integers(group), "document": take(doc_ids, origins)})
    keys = [("group", "ascending"), ("document", "descending")]
    moved = origins[values_of(pc.sort_indices(table, sort_keys=keys))]
    if rows is None:
        if (moved == places).all():
            return None
        rows = np.arange(len(codes))
    rows[places] = moved
    return rows


def _falls(codes: npt.NDArray[np.int32], scores: npt.NDArray[np.float64]) -> bool:
    """Whether queries come one after another and no score rises within one."""
    before, after = codes[:-1], codes[1:]
    if (after < before).any():
        return False
    return not ((scores[1:] > scores[:-1]) & (after == before)).any()


def check_ties(ties: str) -> None:
    if ties not in TIE_RULES:
        raise ParameterError(f"ties must be one of {', '.join(TIE_RULES)}, got {ties!r}")


def encode_ids(ids: Any, role: str, source: str) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Codes, and the ids that they stand for: those of an Arrow dictionary, or by first appearance."""
    if isinstance(ids, pa.ChunkedArray):
        ids = (
            pa.concat_arrays(ids.unify_dictionaries().chunks) if ids.num_chunks else pa.array([], pa.string())
        )
    if isinstance(ids, pa.DictionaryArray) and not _sound_dictionary(ids):
        ids = ids.cast(ids.type.value_type)
    if not isinstance(ids, pa.DictionaryArray):
        ids = as_ids(ids, role, source).dictionary_encode()
    codes = values_of(ids.indices).astype(np.int32, copy=False)
    return codes, tuple(ids.dictionary.to_pylist())


def _sound_dictionary(ids: pa.DictionaryArray) -> bool:
    """Whether codes and words can be taken as they are: none missing, empty or twice."""
    words = ids.dictionary
    return bool(
        is_text(words.type)
        and not ids.indices.null_count
        and not words.null_count
        and (len(words) == 0 or pc.min(pc.binary_length(words)).as_py() > 0)
        and len(words.unique()) == len(words)
    )


def as_numbers(values: Any, role: str, source: str) -> npt.NDArray[np.float64]:
    """A column of numbers as floats of our own. Text is not a number, whatever it says."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputTypeError(f"{source}: the {role} column is a sequence of numbers, got {values!r:.80}")
    given = np.asarray(values)
    if given.ndim != 1:
        raise DataError(f"{source}: the {role} column must be a list of numbers, got shape {given.shape}")
    if given.dtype.kind in "biuf" or not len(given):
        numbers = given.astype(np.float64, copy=False)
        return owned(numbers, values) if numbers is given else numbers
    for row, value in enumerate(given.tolist(), 1):
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            float("nan" if value is None else value)
        except (TypeError, ValueError, OverflowError):
            what = f"{role} {value!r:.80} ({type(value).__name__}) is not a number"
            raise DataError.listing(source, [Problem(row, what)]) from None
    return given.astype(np.float64)
