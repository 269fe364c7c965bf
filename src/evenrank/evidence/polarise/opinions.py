"""Texts by query: the documents that an axis of opinion is fitted to, or that are placed on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools, Int64s
from evenrank.data.lookup import refuse_repeated
from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.ids import encode_first_seen
from evenrank.io.cells import id_cells, is_missing, text_cells
from evenrank.io.tables import Role, column_of_roles, query_column, the_table

Sides = tuple[str, str]
"""The names of two perspectives; the first one is positive."""


class OfQuery(NamedTuple):
    """The rows of one query, and which of these take the one side, and which the other."""

    query: str
    rows: Int64s
    first: Bools
    second: Bools

    @property
    def names_both(self) -> bool:
        return bool(self.first.any() and self.second.any())


@dataclass(frozen=True)
class Opinions:
    """Documents of queries with their texts, and which of two perspectives each takes, where known."""

    query_ids: tuple[str, ...]
    query_codes: Int64s  # (N,)
    doc_ids: tuple[str, ...]  # (N,)
    texts: tuple[str, ...] | None  # (N,), None where vectors are known
    perspectives: tuple[str | None, ...] | None = None  # (N,)
    source: str | None = None

    def __len__(self) -> int:
        return len(self.doc_ids)

    def by_query(self, sides: Sides | None) -> Iterator[OfQuery]:
        """The documents of every query, and which side they take."""
        order = np.argsort(self.query_codes, kind="stable")
        ends = np.cumsum(np.bincount(self.query_codes, minlength=len(self.query_ids)))
        one, other = self.taking(sides)
        for query, rows in zip(self.query_ids, np.split(order, ends[:-1]), strict=True):
            yield OfQuery(query, rows, one[rows], other[rows])

    def taking(self, sides: Sides | None) -> Bools:
        """(2, N): which documents take the one side, and which the other."""
        named = np.array(self.perspectives or [None] * len(self), dtype=object)
        return np.stack([named == side for side in sides or ("", "")])

    @property
    def sides(self) -> Sides | None:
        """The two perspectives in alphabetical order."""
        named = sorted({side for side in self.perspectives or () if side})
        if not named:
            return None
        if len(named) != 2:
            raise DataError(
                f"{self.source or 'documents'}: an axis has two perspectives, found are {len(named)}: "
                f"{', '.join(map(repr, named[:5]))}; leave that column out to go without"
            )
        return named[0], named[1]

    def sides_from(self, positive: str | None) -> Sides | None:
        """The two perspectives, this one first."""
        sides = self.sides
        if positive is None:
            return sides
        if sides is None or positive not in sides:
            there = "no document names one" if sides is None else f"there are {sides[0]!r} and {sides[1]!r}"
            raise ParameterError(f"no perspective is called {positive!r}: {there}")
        return sides if positive == sides[0] else sides[::-1]


def read_opinions(
    source: object, *, columns: Mapping[str, str] | None = None, texts: bool = True
) -> Opinions:
    """Texts by query, from a table, a file, or ``{query: {document: text}}``; without ``texts`` ids are
    enough, ``{query: [document, ..]}``.

    >>> read_opinions({"q": {"d1": "yes, because", "d2": "no, since"}}).doc_ids
    ('d1', 'd2')
    """
    if isinstance(source, Opinions):
        return source
    mapping = ("query", "document", "text") if texts else ("query", "document")
    table = the_table(source, "documents", usual="jsonl", mapping=mapping)
    if table.roles is not None and "query" not in table.names:
        raise InputTypeError("documents: a dictionary of texts must be {query: {document: text}}")
    report = table.report
    # a sentence of a perspective is called by the perspective, so that column is looked for before documents
    roles = [
        Role("query"),
        Role("perspective", optional=True),
        Role("document", called="document of a text"),
        Role("text", optional=not texts),
    ]
    chosen = column_of_roles(table, roles, columns)
    queries = query_column(table, chosen["query"])
    documents = id_cells(table.column(chosen["document"]), "document", report)
    written = text_cells(table.column(chosen["text"]), "text", report).to_pylist() if texts else None
    sides = None
    if "perspective" in chosen:
        column = table.column(chosen["perspective"])
        cells = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        sides = tuple(None if is_missing(cell) or cell == "" else str(cell) for cell in cells)
    report.check()
    if not len(documents):
        raise DataError(f"{table.name}: no documents")
    codes, query_ids = encode_first_seen(queries)

    def describe(row: int, document: str) -> str:
        return f"document {document!r} is twice in query {query_ids[codes[row]]!r}"

    try:
        refuse_repeated(codes, documents, table.name, describe)
    except DataError as error:
        raise report.relocated(error) from None
    ids = tuple(documents.to_pylist())
    return Opinions(
        query_ids, codes.astype(np.int64), ids, None if written is None else tuple(written), sides, table.name
    )


def read_perspectives(source: object, *, texts: bool = True) -> Opinions:
    """A sentence for each side of a query: a table with the columns query, perspective and text. Vectors that
    are given know them as ``QUERY_PERSPECTIVE``."""
    if isinstance(source, Opinions):
        return source
    found = read_opinions(source, columns={"document": "perspective"}, texts=texts)
    if found.sides is None:
        raise DataError(f"{found.source or 'perspectives'}: names no perspectives: every row needs one")
    ids = tuple(
        f"{found.query_ids[code]}_{side}"
        for code, side in zip(found.query_codes.tolist(), found.perspectives or (), strict=True)
    )
    return replace(found, doc_ids=ids)
