"""A trade-off as a table: the original first, one row a method, those that no other one beats marked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from evenrank.comparison.tradeoff import Tradeoff
from evenrank.errors import for_reader
from evenrank.evaluation.notes import share_notes
from evenrank.measures import Measure
from evenrank.scores.notes import INFORMED, INFORMED_MEANS, remarks
from evenrank.scores.score_tables import labelled, measure_grid
from evenrank.tables import Table, interval

MARK = "*"
BRACKETS = "brackets: 95% interval over the n queries that have a value"
COLUMNS = (
    "method", "front", "draws", "measure", "column", "value", "low", "high", "draws_low", "draws_high",
    "queries", "defined", "infinite", "direction", "reads_judgements",
)  # fmt: skip


def rows(found: Tradeoff) -> Iterator[dict[str, Any]]:
    """One row for each method, measure and column, for programs."""
    front = found.front()
    measures = {repr(measure): measure for measure in found.measures}
    for row in found.scores.summary():
        spread = found.draws(measures[row.measure], row.run)
        count, low, high = spread if spread is not None else (1, math.nan, math.nan)
        yield dict(
            zip(
                COLUMNS,
                (
                    row.run, row.run in front, count, row.measure, row.column, row.value, row.low, row.high,
                    low, high, row.queries, row.defined, row.infinite, row.direction,
                    row.run in found.informed,
                ),
                strict=True,
            )
        ) | labelled(found.scores, row)  # fmt: skip


def tradeoff_table(found: Tradeoff) -> Table:
    """One row for each method with its values and intervals; for programs one for each measure and column."""
    grid, front = measure_grid(found.scores), found.front()
    marks = dict.fromkeys(front, MARK) | dict.fromkeys(found.informed, INFORMED)
    body = ([name, marks.get(name, ""), *values] for name, values in grid.cells.items())
    return Table.of(
        ["method", "front", *grid.heads],
        body,
        words=2,
        notes=notes(found),
        records=rows(found),
        meaning=f"Each row is what a method makes of the lists; choose among the rows with {MARK}.",
        brackets=BRACKETS,
    )


def notes(found: Tradeoff) -> list[str]:
    """What must be known to read the table."""
    ordered = found.ordered()
    lines = []

    def called(measure: Measure) -> str:
        return found.scores.names.of(repr(measure))

    if ordered:
        names = ", ".join(map(called, ordered))
        lines.append(
            f"{MARK} not dominated: no other method is better on one of {names} without being worse "
            "on another"
        )
    if found.informed:
        lines.append(INFORMED_MEANS)
    for measure in ordered:
        compared = found.compared(measure)
        if compared.queries < compared.of:
            lines.append(
                f"{MARK} {called(measure)} compared over the {compared.queries} of {compared.of} queries "
                "for which all rows have a value"
            )
    left = [called(measure) for measure in found.measures if measure not in ordered]
    if left:
        lines.append(
            "not compared, because they have several columns, no better side, or values of all rows for "
            f"fewer than half of the queries: {', '.join(left)}"
        )
    for variant in found.variants:
        spreads = {measure: found.draws(measure, variant.name) for measure in found.measures}
        known = {measure: spread for measure, spread in spreads.items() if spread is not None}
        if known:
            count = next(iter(known.values()))[0]
            within = ", ".join(f"{called(m)} {interval(low, high)}" for m, (_, low, high) in known.items())
            lines.append(f"{variant.name}: mean over {count:,} draws, 95% of which lie within {within}")
            for measure in known:
                shared = share_notes(found.scores.block(measure, variant.name), count)
                lines += [f"{variant.name}: {note}" for note in shared]
        elif variant.method is not None and any(step.stochastic for step in variant.method.steps()):
            lines.append(
                for_reader(f"{variant.name}: one draw of many; repeat= (--repeat 1000) gives the mean")
            )
    return lines + remarks(found.scores, notes=False, bounds=False)
