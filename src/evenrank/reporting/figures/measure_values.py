"""The measure that a figure is about, its values by run and by query, and what its two sides are called."""

from __future__ import annotations

import math
from typing import NamedTuple

from evenrank.data.membership import PREFIX
from evenrank.errors import ParameterError, UnknownNameError
from evenrank.measures import Direction, Measure, parse_measure
from evenrank.measures.exposure import RankBiasMeasure
from evenrank.scores import Scores
from evenrank.scores.names import arrow, full_name
from evenrank.scores.scores import SummaryRow
from evenrank.text import printable


class Chosen(NamedTuple):
    """A measure, or one column of a measure that has several."""

    measure: Measure
    column: str
    shown: str  # what people see instead of its name

    @classmethod
    def of(cls, scores: Scores, measure: Measure, column: str) -> Chosen:
        return cls(measure, column, scores.names.of(repr(measure), column))

    @property
    def title(self) -> str:
        return f"{printable(self.shown)} {arrow(self.measure.direction.value)}".rstrip()


def choose(scores: Scores, wanted: str | Measure) -> Chosen:
    """A measure of the scores by value or name; ``name[column]`` is one column."""
    columns: dict[Measure, tuple[str, ...]] = {}
    for block in scores.blocks:
        columns.setdefault(block.measure, block.columns)
    for measure, names in columns.items():
        for column in names:
            if wanted in (full_name(repr(measure), column), scores.names.of(repr(measure), column)):
                return Chosen.of(scores, measure, column)
    measure = parse_measure(wanted)
    if measure not in columns:
        raise UnknownNameError(f"{measure!r} was not evaluated; there are {', '.join(map(str, columns))}")
    if len(columns[measure]) > 1:
        listed = ", ".join(full_name(repr(measure), column) for column in columns[measure])
        raise ParameterError(f"{measure!r} has several columns: name one of {listed}")
    return Chosen.of(scores, measure, columns[measure][0])


def by_run(scores: Scores, chosen: Chosen) -> dict[str, SummaryRow]:
    """The line of each run in the table, for the runs that have a value."""
    name = repr(chosen.measure)
    return {
        row.run: row
        for row in scores.summary()
        if row.measure == name and row.column == chosen.column and math.isfinite(row.value)
    }


def values_by_query(scores: Scores, chosen: Chosen, run: str) -> dict[str, float | None]:
    """The value of each query, None where the measure is undefined or infinite."""
    block = scores.block(chosen.measure, run)
    place = block.columns.index(chosen.column)
    defined = block.status[:, place] == 0
    return {
        query: float(value) if known else None
        for query, value, known in zip(block.query_ids, block.values[:, place], defined, strict=True)
    }


def sides_of(scores: Scores, chosen: Chosen) -> tuple[str, str] | None:
    """What lies above 0 and what below, for measures of two groups whose first is the positive one."""
    measure = chosen.measure
    of_words = isinstance(measure, RankBiasMeasure)
    if measure.direction is not Direction.SIGNED or not (of_words or getattr(measure, "two_values", False)):
        return None
    evidence = scores.provenance.get("evidence", {})
    attribute = getattr(measure, "attr", None)
    # without a name the measure took the only attribute there was
    start = "words" if of_words else PREFIX + (attribute or "")
    names = [name for name in evidence if name == start or (attribute is None and name.startswith(start))]
    values = evidence[names[0]].get("values") if len(names) == 1 else None
    return (str(values[0]), str(values[1])) if values is not None and len(values) == 2 else None
