"""How far apart categories of queries are: the difference and the ratio of the worst and the best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from evenrank.scores.breakdown import NO_CATEGORY, split_by_category
from evenrank.scores.names import full_name

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores


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


def category_gaps(scores: Scores, categories: Mapping[str, str | Iterable[str]]) -> tuple[CategoryGap, ...]:
    """For every run and measure, how far the categories of queries are apart.

    Categories without a value, and queries without a category, do not count; one category has no gap.
    """
    parts = {
        name: part for name, part in split_by_category(scores, categories).items() if name != NO_CATEGORY
    }
    found = []
    for place, block in enumerate(scores.blocks):
        for column, name in enumerate(block.columns):
            values = {
                category: part.blocks[place].aggregate(column)
                for category, part in parts.items()
                if len(part.blocks[place].query_ids)
            }
            values = {category: value for category, value in values.items() if math.isfinite(value)}
            if len(values) < 2:
                continue
            lowest, highest = min(values, key=lambda c: values[c]), max(values, key=lambda c: values[c])
            low, high = values[lowest], values[highest]
            ratio = low / high if low >= 0 and high > 0 else math.nan
            measure = full_name(repr(block.measure), name)
            found.append(CategoryGap(block.run, measure, lowest, low, highest, high, high - low, ratio))
    return tuple(found)
