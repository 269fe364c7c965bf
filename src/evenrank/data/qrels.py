"""Graded relevance judgements."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import (
    Array,
    Int64s,
    check_lengths,
    integers,
    lock,
    numbers,
    ragged,
    values_of,
)
from evenrank.data.evidence_source import DocumentSets, Gathered, Pairs
from evenrank.data.lookup import PairRows, refuse_repeated
from evenrank.data.run import as_numbers, encode_ids
from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.ids import StringRows, as_ids, as_strings, by_query, positions, take, update_digest


class JudgedQueries(PairRows):
    """Judged documents query by query: those of query ``q`` are ``doc_ids[offsets[q]:offsets[q + 1]]``."""

    query_ids: tuple[str, ...]
    offsets: Int64s  # (Q + 1,)

    @cached_property
    def query_positions(self) -> dict[str, int]:
        return positions(self.query_ids)

    @property
    def query_codes(self) -> Int64s:  # type: ignore[override]
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def __len__(self) -> int:
        return len(self.query_ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.query_ids)

    def __contains__(self, query: object) -> bool:
        return query in self.query_positions

    def rows_of_queries(self, query_ids: Sequence[str]) -> tuple[Int64s, Int64s]:
        """The rows of these queries one after another, and where each begins; a query may have none."""
        codes = self.codes_of(query_ids)
        if not len(self):
            return np.empty(0, np.int64), np.zeros(len(codes) + 1, np.int64)
        lengths = np.where(codes >= 0, np.diff(self.offsets)[codes], 0)
        rows = ragged(self.offsets[:-1][codes], lengths)
        return rows, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(JudgedQueries):
    """Graded judgements in columns: by query, then grade descending, then document id descending.

    >>> qrels = Qrels.build(["q1", "q1"], ["a", "b"], [0, 3])
    >>> qrels.to_dict()
    {'q1': {'b': 3, 'a': 0}}
    """

    query_ids: tuple[str, ...]
    offsets: Int64s  # (Q + 1,)
    doc_ids: pa.LargeStringArray  # (J,)
    grades: npt.NDArray[Any]  # (J,): whole numbers, unless they are ratings
    source: str | None = None
    appearance: Int64s | None = None  # (J,): the row of the source that each judgement came from

    name = "relevance"

    def __post_init__(self) -> None:
        lock(self.offsets, self.grades, *([] if self.appearance is None else [self.appearance]))

    @classmethod
    def build(
        cls, queries: Any, documents: Any, grades: Any, *, source: str | None = None, fractions: bool = False
    ) -> Qrels:
        """From three columns of equal length, in any order; a fraction is an error unless ``fractions``.

        >>> Qrels.build(["u"], ["a"], [3.5], fractions=True)
        <Qrels: 1 queries, 1 judgements, grades up to 3.5>
        """
        codes, query_ids = encode_ids(queries, "query", source or "qrels")
        doc_ids = as_ids(documents, "document", source or "qrels")
        values = as_grades(grades, source or "qrels", fractions=fractions)
        check_lengths(queries=codes, documents=doc_ids, grades=values)
        rows = pa.table({"query": integers(codes), "grade": numbers(values), "document": doc_ids})
        keys = [("query", "ascending"), ("grade", "descending"), ("document", "descending")]
        order = values_of(pc.sort_indices(rows, sort_keys=keys))
        refuse_repeated(
            codes,
            doc_ids,
            source or "qrels",
            lambda row, document: (
                f"document {document!r} is judged twice for query {query_ids[codes[row]]!r}"
            ),
        )
        offsets = np.searchsorted(codes[order], np.arange(len(query_ids) + 1)).astype(np.int64)
        return cls(query_ids, offsets, take(doc_ids, order), values[order], source, order.astype(np.int64))

    @cached_property
    def max_grade(self) -> int | float:
        largest: int | float = self.grades.max(initial=0).item()
        return largest

    @property
    def whole(self) -> bool:
        """Whether all grades are whole numbers."""
        return self.grades.dtype.kind != "f"

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_columns(self.query_ids, self.offsets, self.doc_ids, grades=self.grades)

    def __repr__(self) -> str:
        return (
            f"<Qrels: {len(self):,} queries, {len(self.doc_ids):,} judgements, grades up to {self.max_grade}>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Qrels):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        return by_query(self.query_ids, self.offsets, self.doc_ids, self.grades)

    def as_listed(self) -> dict[str, dict[str, Any]]:
        """``to_dict`` with the documents of each query in the order of the source, where that is known.

        >>> Qrels.build(["q1", "q1"], ["a", "b"], [0, 3]).as_listed()
        {'q1': {'a': 0, 'b': 3}}
        """
        if self.appearance is None:
            return self.to_dict()
        order = np.lexsort((self.appearance, self.query_codes))
        return by_query(self.query_ids, self.offsets, take(self.doc_ids, order), self.grades[order])

    def gather(self, pairs: Pairs) -> Gathered:
        """Grades of the pairs; an unjudged document has grade 0 and is not known."""
        return self.gathered(pairs, {"": self.grades.astype(np.float64, copy=False)})

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        codes = self.codes_of(query_ids)
        return {"judged": codes >= 0, "max_grade": np.full(len(codes), self.max_grade)}

    def judged(self, query_ids: Sequence[str]) -> DocumentSets:
        """Every judged document of the queries, best grade first."""
        rows, offsets = self.rows_of_queries(query_ids)
        grades = self.grades[rows].astype(np.float64)
        return DocumentSets(
            StringRows(self.doc_ids, rows), offsets, gathered={"relevance": Gathered.complete(grades)}
        )


def as_grades(grades: Any, source: str, *, fractions: bool = False) -> npt.NDArray[Any]:
    """Grades as whole numbers if all of them are; a fraction is an error unless ``fractions``."""
    given = as_numbers(grades, "grade", source)
    with np.errstate(invalid="ignore"):
        whole = given % 1 == 0
    usable = (np.abs(given) < 2**53) & (whole | fractions)  # not so where it is not a number
    what = "finite and below 2^53" if fractions else "whole numbers"
    problems = [
        Problem(row + 1, f"grades must be {what}, got {given[row]}")
        for row in np.flatnonzero(~usable)[: PROBLEMS_SHOWN + 1].tolist()
    ]
    if problems:
        raise DataError.listing(source, problems)
    return given.astype(np.int64) if whole.all() else given


def fingerprint_columns(
    query_ids: Sequence[str], offsets: Array, doc_ids: pa.LargeStringArray, **columns: Array
) -> str:
    """SHA-256 of ids and columns, the same in every process: names, types, shapes and content."""
    digest = hashlib.sha256()
    update_digest(digest, as_strings(query_ids))
    update_digest(digest, doc_ids)
    for name, column in {"": offsets, **columns}.items():
        digest.update(f"{name}\0{column.dtype.str}\0{column.shape}\0".encode())
        if column.dtype.kind == "O":  # the array holds addresses: what they point to counts
            update_digest(digest, as_strings([repr(value) for value in column.ravel().tolist()]))
        else:
            digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()
