"""Lists sorted by anything that is known of documents: their rating, their age, their length."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from evenrank.data.evidence_source import Evidence, Labels, Sparse
from evenrank.data.tables import DocumentTable
from evenrank.errors import MissingEvidenceError, ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, flag, parameter, text
from evenrank.rerankers.base import Reordered, Reranker


@declare
class SortBy(Reranker):
    """Sorts the documents by a number, such as a price or a date, the largest first; equal ones keep their
    order.

    The field is a column of numbers of a ``DocumentTable`` among the evidence: ``"table.column"``, or the
    name of a table that has one column. A document whose number is not a number has none.
    """

    reference = "Sakai, Kim and Kang 2022 (gfr-2022), Section 6 (Rating)"

    field: str | None = parameter(None, text(optional=True), "'table.column'; None: there is only one")
    ascending: bool = parameter(False, flag(), "the smallest value first")
    missing: str = parameter(
        "error", choice("error", "behind"), "documents that the table lacks: an error, or behind the others"
    )

    @property
    def table(self) -> str:
        return (self.field or "").partition(".")[0]

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"ranked.{self.table}"})

    def settled(self, sources: Mapping[str, Evidence]) -> Reranker:
        tables = {source.name: source for source in sources.values() if isinstance(source, DocumentTable)}
        if self.field is None and len(tables) != 1:
            there = (
                f"the tables are {', '.join(tables)}"
                if tables
                else "give a table of numbers, evidence=[read_numbers(FILE, 'NAME')] (--table NAME=FILE)"
            )
            raise ParameterError(f"{self!r}: say what to sort by, as SortBy(field='NAME.column'); {there}")
        name, _, column = (self.field or next(iter(tables))).partition(".")
        table = tables.get(name)
        if table is None:
            return self  # whoever checks what is needed says how to pass it
        if not column and "" not in table.columns and len(table.columns) == 1:
            (column,) = table.columns
        if column not in table.columns:
            columns = ", ".join(f"{name}.{key}" if key else name for key in table.columns)
            raise ParameterError(f"{self!r}: there is no {column!r} in {name!r}; it has {columns}")
        return dataclasses.replace(self, field=f"{name}.{column}" if column else name)

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        name = self.field or ""
        column = evidence.ranked.gathered[self.table].columns[name.partition(".")[2]]
        if isinstance(column, (Sparse, Labels)) or column.ndim != 1 or column.dtype.kind not in "biuf":
            raise ParameterError(f"{self!r}: {name!r} is no column of numbers to sort by")
        values = evidence.ranked[name].astype(np.float64)  # (Q, K)
        mask = evidence.ranked.mask
        lacking = mask & (~evidence.ranked.known(self.table) | np.isnan(values))
        if self.missing == "error" and lacking.any():  # those that the table lacks were refused before
            raise MissingEvidenceError(
                f"{self!r}: {name!r} is not a number for {int(lacking.sum()):,} ranked documents; "
                "missing='behind' puts them behind the others"
            )
        values = np.where(lacking, 0.0, values if self.ascending else -values)
        order = np.lexsort((values, np.where(mask, lacking, 2)), axis=1)
        return Reordered(np.where(mask, order, -1))
