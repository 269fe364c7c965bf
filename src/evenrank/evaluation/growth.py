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
UNDEFINED = "undefined as long as no query has what the measure needs"


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
    found: list[GrowthPoint] = []
    for name, ranked in inputs.runs.items():
        queries = list(inputs.queries or (ranked.query_ids if isinstance(ranked, Run) else ()))
        if not queries:
            raise ParameterError(f"{name}: growth follows the queries of one ranking, and this has none")
        own = []
        for count in np.unique(np.linspace(1, len(queries), min(points, len(queries))).round().astype(int)):
            first = queries[:count]
            for block in evaluate(inputs.with_runs({name: ranked}), asked, queries=first).blocks:
                for column, label in enumerate(block.columns):
                    about = (name, repr(block.measure), label, int(count), first[-1])
                    own.append(GrowthPoint(*about, block.aggregate(column)))
        found += sorted(own, key=lambda one: (one.measure, one.column, one.queries))
    return found


def growth_table(rows: list[GrowthPoint]) -> Table:
    return Table.of(
        ["run", "measure", "queries", "last query", "value"],
        ((one.run, f"{one.measure} {one.column}".rstrip(), *one[3:]) for one in rows),
        words=2,
        title="values over the first queries",
        notes=[f"after the first queries, in their order; {UNDEFINED}"],
        meaning="Where a value still moves with the last queries, more queries are needed.",
    )
