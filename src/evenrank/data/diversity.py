"""Relevance judgements by intent (subtopic)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Array, Int64s, check_lengths, integers, lock, values_of
from evenrank.data.evidence_source import DocumentSets, Gathered, Pairs, Sparse
from evenrank.data.lookup import first_of_pairs, refuse_repeated
from evenrank.data.qrels import JudgedQueries, Qrels, as_grades, fingerprint_columns
from evenrank.data.run import as_numbers, encode_ids
from evenrank.errors import DataError, InputTypeError
from evenrank.ids import StringRows, as_ids, take


@dataclass(frozen=True, eq=False, repr=False)
class DiversityQrels(JudgedQueries):
    """Judgements by intent: ``topic intent document grade``. A query knows its own intents only.

    Documents of a query stand by id, descending; ``grades`` has one entry for each judged intent.
    Every intent of a query is equally likely unless ``probabilities`` (one number for each row of
    ``intent_ids``) says otherwise.
    """

    query_ids: tuple[str, ...]
    offsets: Int64s  # (Q + 1,) into documents
    doc_ids: pa.LargeStringArray  # (J,)
    grades: Sparse  # (J, most intents of a query)
    intent_ids: tuple[tuple[str, ...], ...]  # the intents of each query, in order of appearance
    probabilities: npt.NDArray[np.float64]  # (Q, most intents), 0 where there is no intent
    source: str | None = None

    name = "intents"

    def __post_init__(self) -> None:
        lock(self.offsets, self.probabilities)
        lock(self.grades.offsets, self.grades.places, self.grades.values)

    @classmethod
    def build(
        cls,
        queries: Any,
        intents: Any,
        documents: Any,
        grades: Any,
        *,
        probabilities: Mapping[str, Mapping[str, float]] | None = None,
        source: str | None = None,
    ) -> DiversityQrels:
        """From four columns of equal length, in any order. ``probabilities`` is ``{query: {intent: p}}``."""
        codes, query_ids = encode_ids(queries, "query", source or "qrels")
        doc_ids = as_ids(documents, "document", source or "qrels")
        values = as_grades(grades, source or "qrels").astype(np.float64)
        intent_codes, intent_names = encode_ids(intents, "intent", source or "qrels")
        check_lengths(queries=codes, intents=intent_codes, documents=doc_ids, grades=values)
        # the place of an intent among the intents of its own query, by first appearance
        pair = codes.astype(np.int64) * max(1, len(intent_names)) + intent_codes
        refuse_repeated(
            pair,
            doc_ids,
            source or "qrels",
            lambda row, document: (
                f"document {document!r} is judged twice for intent {intent_names[intent_codes[row]]!r} "
                f"of query {query_ids[codes[row]]!r}"
            ),
        )
        distinct, first_row, back = np.unique(pair, return_index=True, return_inverse=True)
        owner = distinct // max(1, len(intent_names))
        by_query = np.lexsort((first_row, owner))
        place = np.empty(len(distinct), dtype=np.int64)
        place[by_query] = np.arange(len(distinct)) - np.searchsorted(owner[by_query], owner[by_query])
        places = place[back]
        table = pa.table({"query": integers(codes), "document": doc_ids, "place": integers(places)})
        keys = [("query", "ascending"), ("document", "descending"), ("place", "ascending")]
        order = values_of(pc.sort_indices(table, sort_keys=keys))
        codes, places, values, doc_ids = codes[order], places[order], values[order], take(doc_ids, order)
        fresh = first_of_pairs(codes, doc_ids)
        heads = np.flatnonzero(fresh)
        width = int(place.max(initial=-1)) + 1
        sparse = Sparse(np.append(heads, len(codes)).astype(np.int64), places, values, max(1, width))
        offsets = np.searchsorted(codes[heads], np.arange(len(query_ids) + 1)).astype(np.int64)
        names: list[list[str]] = [[] for _ in query_ids]
        for pair in distinct[by_query].tolist():
            query, intent = divmod(pair, len(intent_names))
            names[query].append(intent_names[intent])
        chances = _intent_probabilities(query_ids, names, probabilities, max(1, width))
        return cls(
            query_ids, offsets, take(doc_ids, heads), sparse, tuple(map(tuple, names)), chances, source
        )

    def with_probabilities(self, probabilities: Mapping[str, Mapping[str, float]]) -> DiversityQrels:
        """The same judgements with other probabilities of intents, ``{query: {intent: p}}``."""
        chances = _intent_probabilities(
            self.query_ids, self.intent_ids, probabilities, self.probabilities.shape[1]
        )
        return replace(self, probabilities=chances)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_columns(
            self.query_ids,
            self.offsets,
            self.doc_ids,
            intent_offsets=self.grades.offsets,
            places=self.grades.places,
            grades=self.grades.values,
            probabilities=self.probabilities,
        )

    @property
    def max_grade(self) -> int:
        return int(self.grades.values.max(initial=0))

    def __repr__(self) -> str:
        judgements = f"{len(self.grades.values):,} judgements"
        return f"<DiversityQrels: {len(self):,} queries, {judgements}, up to {self.grades.width} intents>"

    def to_dict(self) -> dict[str, dict[str, dict[str, int]]]:
        """``{query: {intent: {document: grade}}}``."""
        out: dict[str, dict[str, dict[str, int]]] = {
            query: {intent: {} for intent in names}
            for query, names in zip(self.query_ids, self.intent_ids, strict=True)
        }
        rows = np.repeat(np.arange(len(self.doc_ids)), np.diff(self.grades.offsets))
        columns = (self.query_codes[rows], rows, self.grades.places, self.grades.values)
        ids = self.doc_ids.to_pylist()
        for query, row, place, grade in zip(*(column.tolist() for column in columns), strict=True):
            out[self.query_ids[query]][self.intent_ids[query][place]][ids[row]] = int(grade)
        return out

    def graded(self) -> Qrels:
        """The judgements without intents: a document's best grade over them."""
        rows = np.repeat(np.arange(len(self.doc_ids)), np.diff(self.grades.offsets))
        best = np.full(len(self.doc_ids), np.iinfo(np.int64).min)
        np.maximum.at(best, rows, self.grades.values.astype(np.int64))
        return Qrels.build(
            [self.query_ids[q] for q in self.query_codes], self.doc_ids, best, source=self.source
        )

    def gather(self, pairs: Pairs) -> Gathered:
        """Grades by intent of the pairs; an unjudged document has none."""
        rows = self.rows_of(pairs)
        return Gathered({"": self.grades.rows(rows)}, rows >= 0)

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        codes = self.codes_of(query_ids)
        chances = np.where((codes >= 0)[:, None], self.probabilities[codes], 0.0)
        counts = np.array([len(names) for names in self.intent_ids] or [0])
        exists = np.arange(self.grades.width) < np.where(codes >= 0, counts[codes], 0)[:, None]
        return {
            "judged": codes >= 0,
            "probability": chances,
            "exists": exists,
            "max_grade": np.full(len(codes), self.max_grade),
        }

    def judged(self, query_ids: Sequence[str]) -> DocumentSets:
        rows, offsets = self.rows_of_queries(query_ids)
        return DocumentSets(
            StringRows(self.doc_ids, rows),
            offsets,
            gathered={"intents": Gathered.complete(self.grades.rows(rows))},
        )


def _intent_probabilities(
    query_ids: Sequence[str],
    intents: Sequence[Sequence[str]],
    given: Mapping[str, Mapping[str, float]] | None,
    width: int,
) -> npt.NDArray[np.float64]:
    given = {} if given is None else given
    if not isinstance(given, Mapping) or not all(isinstance(inner, Mapping) for inner in given.values()):
        raise InputTypeError("intent probabilities must be a mapping {query: {intent: probability}}")
    judged = set(query_ids)
    others = [query for query in given if query not in judged]
    if others:
        raise DataError(f"intent probabilities of query {others[0]!r}: the query is not judged")
    chances = np.zeros((len(query_ids), width))
    for row, (query, names) in enumerate(zip(query_ids, intents, strict=True)):
        if query not in given:
            chances[row, : len(names)] = 1 / len(names)
            continue
        unknown = [intent for intent in given[query] if intent not in names]
        if unknown:
            raise DataError(f"intent probabilities of query {query!r}: intents {unknown} are not judged")
        values = as_numbers([given[query].get(name, 0.0) for name in names], "intent probability", query)
        # written so that NaN, which compares with nothing, fails
        if not ((values >= 0).all() and abs(float(values.sum()) - 1) <= 1e-6):
            raise DataError(
                f"intent probabilities of query {query!r}: they must be >= 0 and sum to 1, "
                f"got {dict(given[query])}, which sum to {values.sum():g}"
            )
        chances[row, : len(names)] = values
    return chances
