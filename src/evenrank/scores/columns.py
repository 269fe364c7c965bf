"""Measures with very many columns, as one for every word: what a table for people shows of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores, SummaryRow

MANY = 30  # columns: of more than these, the largest are shown
LARGEST = 20


def largest_columns(scores: Scores) -> dict[str, list[str]]:
    """By measure, for those with very many columns, the largest first. All runs have the same ones, so that
    they compare; columns that are 0 or undefined in all runs are left out."""
    sizes: dict[str, dict[str, float]] = {}
    for row in scores.summary():
        size = 0.0 if math.isnan(row.value) else abs(row.value)
        columns = sizes.setdefault(row.measure, {})
        columns[row.column] = max(size, columns.get(row.column, 0.0))
    return {
        measure: sorted(filter(own.__getitem__, own), key=lambda column: -own[column])[:LARGEST]
        for measure, own in sizes.items()
        if len(own) > MANY
    }


def describe_columns(scores: Scores) -> list[str]:
    return [
        f"{scores.names.of(measure)}: the {len(columns)} largest columns (tsv and jsonl have all)"
        for measure, columns in largest_columns(scores).items()
    ]


def shown_rows(scores: Scores) -> list[SummaryRow]:
    """The summary without what is left out, the largest columns of a measure first."""
    largest, found = largest_columns(scores), []
    rows = {(row.run, row.measure, row.column): row for row in scores.summary()}
    for block in scores.blocks:
        keys = ((block.run, repr(block.measure), c) for c in largest.get(repr(block.measure), block.columns))
        found += [rows[key] for key in keys if key in rows]
    return found
