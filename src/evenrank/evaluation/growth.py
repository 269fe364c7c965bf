"""How a measure that has one value for all queries grows with them: its value after the first 1, 2, .. n."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from evenrank.data.run import Run
from evenrank.errors import ParameterError
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs, Known
from evenrank.measures import parse_measures
from evenrank.tables import Table

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike

POINTS = 20


class GrowthPoint(NamedTuple):
    """The value over the first queries of a run."""

    run: str
    measure: str
    column: str
    queries: int
    last: str  # the last of those queries
    value: float


def growth(
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    points: int = POINTS,
    **known: Unpack[Known],
) -> list[GrowthPoint]:
    """The values of measures of all queries together, after so many first queries, in the order of
    ``queries=`` or else of the run."""
    inputs = Inputs.of(run, **known)
    asked = list(parse_measures(measures))
    if points < 1:
        raise ParameterError(f"points must be an integer >= 1, got {points}")
    for measure in asked:
        if not measure.over_queries:
            raise ParameterError(
                f"{measure!r} has a value for each query, and growth is of measures that have one value for "
                "all queries together (Amortised, Gini): leave it out, or see the queries (--view queries)"
            )
    found = []
    for name, ranked in inputs.runs.items():
        queries = list(inputs.queries or (ranked.query_ids if isinstance(ranked, Run) else ()))
        if not queries:
            raise ParameterError(f"{name}: growth follows the queries of one ranking, and this has none")
        for count in np.unique(np.linspace(1, len(queries), min(points, len(queries))).round().astype(int)):
            first = queries[:count]
            scores = evaluate(inputs.with_runs({name: ranked}), asked, queries=first)
            for block in scores.blocks:
                for column, label in enumerate(block.columns):
                    value = block.aggregate(column)
                    found.append(GrowthPoint(name, repr(block.measure), label, int(count), first[-1], value))
    return sorted(
        found, key=lambda one: (list(inputs.runs).index(one.run), one.measure, one.column, one.queries)
    )


def growth_table(rows: list[GrowthPoint]) -> Table:
    head = ["run", "measure", "queries", "last query", "value"]
    cells = [
        (one.run, one.measure + (f" {one.column}" if one.column else ""), one.queries, one.last, one.value)
        for one in rows
    ]
    note = "after the first queries, in their order; undefined as long as no query has what the measure needs"
    return Table.of(
        head,
        cells,
        words=2,
        title="values over the first queries",
        notes=[note],
        meaning="Where a value still moves with the last queries, more queries are needed.",
    )
