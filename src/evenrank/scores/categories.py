"""Scores by category of query: the same table with a row for each category, and how far these are apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from evenrank.errors import DataError, InputTypeError
from evenrank.scores.names import full_name
from evenrank.scores.notes import ScoresNote

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores

NO_CATEGORY = "(no category)"

Categories = Mapping[str, str | Iterable[str]]


class CategoryGap(NamedTuple):
    """The categories of queries with the smallest and the largest value of a measure on a run.

    ``ratio`` is the smallest value over the largest, NaN where that is 0 or a value is negative.
    """

    run: str
    measure: str
    lowest: str
    low: float
    highest: str
    high: float
    difference: float
    ratio: float

    def __str__(self) -> str:
        ratio = "" if math.isnan(self.ratio) else f", a ratio of {self.ratio:.2f}"
        return (
            f"{self.measure}: between categories it differs by {self.difference:.4f} "
            f"({self.lowest} {self.low:.4f}, {self.highest} {self.high:.4f}){ratio}"
        )


def split_by_category(scores: Scores, categories: Categories) -> dict[str, Scores]:
    """The scores of each category's queries by its name, in the order of the names."""
    if not isinstance(categories, Mapping) or not categories:
        raise InputTypeError("categories must be a mapping {query: category}, or {query: [category, ..]}")
    own = {query: [given] if isinstance(given, str) else list(given) for query, given in categories.items()}
    if not any(query in own for block in scores.blocks for query in block.query_ids):
        raise DataError(
            f"none of the {len(own):,} queries with a category was scored: are ids written the same way?"
        )
    found: dict[str, Scores] = {}
    for category in dict.fromkeys([*(name for names in own.values() for name in names), NO_CATEGORY]):
        blocks = []
        for block in scores.blocks:
            inside = [category in (own.get(query) or [NO_CATEGORY]) for query in block.query_ids]
            blocks.append(block.select([row for row, chosen in enumerate(inside) if chosen]))
        if any(len(block.query_ids) for block in blocks):
            found[category] = replace(scores, blocks=tuple(blocks))
    return found


def by_category(scores: Scores, categories: Categories) -> Scores:
    """The scores with every run split into its categories of queries, called ``run: category``.

    A query with several categories counts in each of them; one without any is in ``(no category)``.
    """
    parts = split_by_category(scores, categories)
    blocks, notes = [], {}
    gaps = category_gaps(scores, categories)
    for run in scores.runs:
        said = [
            ScoresNote("gap", str(gap)) for gap in gaps if gap.run == run
        ]  # in the first of its categories
        for category, part in parts.items():
            called = category if len(scores.runs) == 1 else f"{run}: {category}"
            own = [block for block in part.blocks if block.run == run and block.query_ids]
            if own:
                blocks += [replace(block, run=called) for block in own]
                notes[called] = (*scores.notes_by_run.get(run, ()), *said)
                said = []
    return replace(scores, blocks=tuple(blocks), notes_by_run=notes)


def category_gaps(scores: Scores, categories: Categories) -> tuple[CategoryGap, ...]:
    """For every run and measure, how far the categories of queries are apart.

    Categories without a value, and queries without a category, do not count; one category has no gap.
    """
    parts = split_by_category(scores, categories)
    parts.pop(NO_CATEGORY, None)
    found = []
    for place, block in enumerate(scores.blocks):
        for column, label in enumerate(block.columns):
            own = {name: part.blocks[place] for name, part in parts.items() if part.blocks[place].query_ids}
            values = {category: part.aggregate(column) for category, part in own.items()}
            values = {category: value for category, value in values.items() if math.isfinite(value)}
            if len(values) < 2:
                continue
            lowest, highest = min(values, key=lambda c: values[c]), max(values, key=lambda c: values[c])
            low, high = values[lowest], values[highest]
            ratio = low / high if low >= 0 and high > 0 else math.nan
            measure = full_name(repr(block.measure), label)
            found.append(CategoryGap(block.run, measure, lowest, low, highest, high, high - low, ratio))
    return tuple(found)
