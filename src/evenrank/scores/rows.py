"""Scores as rows for programs: TSV, CSV and JSONL.

Every digit stands verbatim, so that rows read back as what they were, and in JSONL every name. CSV and TSV
are opened in spreadsheets, too: there a name that would be taken for a formula has an apostrophe before it,
which is taken off when the file is read back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenrank.tables import as_cell

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores

SUMMARY_FIELDS = (
    "run", "measure", "column", "value", "low", "high", "queries", "defined", "infinite", "undefined",
    "aggregation", "direction", "interval_note",
)  # fmt: skip
VALUE_FIELDS = ("run", "query", "measure", "column", "value", "status")


def delimited(fields: Sequence[str], rows: Iterator[Sequence[str]], delimiter: str) -> str:
    """CSV or TSV. Cells with a delimiter, a quote or a line end are quoted; nothing else is changed."""
    special = {delimiter, '"', "\r", "\n"}

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if special & set(text) else text

    lines = [delimiter.join(fields), *(delimiter.join(map(cell, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _exact(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def json_number(value: float) -> float | str | None:
    """JSON has no NaN and no infinity: null, and a word."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def json_line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def as_tsv(scores: Scores) -> str:
    """A row for each run, measure and column; ``undefined`` counts queries, an empty cell is no value."""
    rows = (
        (
            as_cell(row.run), as_cell(row.measure), as_cell(row.column),
            _exact(row.value), _exact(row.low), _exact(row.high),
            str(row.queries), str(row.defined), str(row.infinite), str(sum(row.undefined.values())),
            row.aggregation, row.direction, row.interval_note,
        )
        for row in scores.summary()
    )  # fmt: skip
    return delimited(SUMMARY_FIELDS, rows, "\t")


def as_jsonl(scores: Scores) -> str:
    """An object for each run, measure and column; ``undefined`` counts queries by reason."""
    numbers = ("value", "low", "high")
    return "".join(
        json_line(row._asdict() | {name: json_number(getattr(row, name)) for name in numbers})
        for row in scores.summary()
    )


def values_of(scores: Scores) -> Iterator[tuple[str, str, str, str, float, str]]:
    for block in scores.blocks:
        measure, values, status = repr(block.measure), block.values.tolist(), block.status.tolist()
        for query, numbers, codes in zip(block.query_ids, values, status, strict=True):
            for column, number, code in zip(block.columns, numbers, codes, strict=True):
                yield block.run, query, measure, column, number, block.reasons[code]


def per_query_tsv(scores: Scores, delimiter: str = "\t") -> str:
    rows = (
        (*map(as_cell, names), _exact(value), as_cell(status)) for *names, value, status in values_of(scores)
    )
    return delimited(VALUE_FIELDS, rows, delimiter)


def per_query_jsonl(scores: Scores) -> str:
    return "".join(
        json_line(dict(zip(VALUE_FIELDS, (*names, json_number(value), status), strict=True)))
        for *names, value, status in values_of(scores)
    )
