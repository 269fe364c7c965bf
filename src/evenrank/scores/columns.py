"""Measures with very many columns, as one for every word: what a table for people shows of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores, SummaryRow

MANY = 30  # columns: of more than these, the largest are shown
LARGEST = 20


@dataclass(frozen=True)
class Largest:
    """The columns of one measure to show, and how many are left out."""

    places: dict[str, int]  # of a column among the shown ones, the largest first
    smaller: int
    zero: int  # in all runs, or undefined there

    def describe(self) -> str:
        counts = {"smaller ones": self.smaller, "that are 0": self.zero}
        rest = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
        return f"the {len(self.places)} largest columns; {rest} are left out (tsv and jsonl have all)"


def largest_columns(scores: Scores) -> dict[str, Largest]:
    """By measure, for those with very many columns. All runs have the same ones, so that they compare."""
    sizes: dict[str, dict[str, float]] = {}
    for row in scores.summary():
        size = 0.0 if math.isnan(row.value) else abs(row.value)
        columns = sizes.setdefault(row.measure, {})
        columns[row.column] = max(size, columns.get(row.column, 0.0))
    return {measure: _largest(columns) for measure, columns in sizes.items() if len(columns) > MANY}


def _largest(sizes: dict[str, float]) -> Largest:
    some = sorted((column for column, size in sizes.items() if size > 0), key=lambda column: -sizes[column])
    shown = {column: place for place, column in enumerate(some[:LARGEST])}
    return Largest(shown, len(some) - len(shown), len(sizes) - len(some))


def shown_rows(scores: Scores) -> list[SummaryRow]:
    """The summary without what is left out, the largest columns of a measure first."""
    largest = largest_columns(scores)
    rows = [
        row
        for row in scores.summary()
        if row.measure not in largest or row.column in largest[row.measure].places
    ]
    blocks = {key: place for place, key in enumerate(dict.fromkeys((row.run, row.measure) for row in rows))}

    def place(row: SummaryRow) -> tuple[int, int]:
        within = largest[row.measure].places[row.column] if row.measure in largest else 0
        return blocks[row.run, row.measure], within

    return sorted(rows, key=place)
