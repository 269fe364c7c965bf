"""Scores as records for programs. Every digit and the real name of every measure stand verbatim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenrank.scores.names import full_name
from evenrank.tables import ReasonCounts

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores, SummaryRow

VALUE_FIELDS = ("run", "query", "measure", "column", "value", "status")


def summary_records(scores: Scores) -> Iterator[dict[str, Any]]:
    """A record for each run, measure and column."""
    for row in scores.summary():
        yield row._asdict() | {"undefined": ReasonCounts(row.undefined)} | labelled(scores, row)


def labelled(scores: Scores, row: SummaryRow) -> dict[str, str]:
    """The label that stands beside the real name, where any measure has one."""
    if not scores.labels:
        return {}
    given = {row.measure, full_name(row.measure, row.column)} & set(scores.labels)
    return {"label": scores.names.of(row.measure, row.column) if given else ""}


def values_of(scores: Scores) -> Iterator[tuple[str, str, str, str, float, str]]:
    for block in scores.blocks:
        measure, values, status = repr(block.measure), block.values.tolist(), block.status.tolist()
        for query, numbers, codes in zip(block.query_ids, values, status, strict=True):
            for column, number, code in zip(block.columns, numbers, codes, strict=True):
                yield block.run, query, measure, column, number, block.reasons[code]


def value_records(scores: Scores) -> Iterator[dict[str, Any]]:
    """A record for each run, query, measure and column."""
    for cells in values_of(scores):
        yield dict(zip(VALUE_FIELDS, cells, strict=True))
