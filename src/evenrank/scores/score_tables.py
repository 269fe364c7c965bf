"""Scores as tables: runs against measures, a row for each run and measure, a row for each query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from evenrank.measures import Direction
from evenrank.scores.columns import describe_columns, largest_columns, shown_rows
from evenrank.scores.names import full_name
from evenrank.scores.notes import remarks
from evenrank.scores.scores import VALUE_FIELDS
from evenrank.tables import (
    DELIMITERS,
    Column,
    Interval,
    ReasonCounts,
    Record,
    Table,
    Value,
    delimited,
    json_line,
    printed,
)

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores, SummaryRow

INTERVAL = "95% interval"


class MeasureGrid(NamedTuple):
    """One row for each run, one column for each measure.

    How many queries a value is over is said once where it is the same: in a last column where all measures of
    a run are over equally many, else in the head of a measure, else beside every value.
    """

    heads: tuple[str, ...]
    cells: dict[str, tuple[Any, ...]]  # by run: values, and perhaps n
    whole: bool  # every run has every measure


def _by_measure(rows: Iterable[SummaryRow]) -> dict[tuple[str, str], dict[str, SummaryRow]]:
    """The rows by measure and column, and by run."""
    found: dict[tuple[str, str], dict[str, SummaryRow]] = {}
    for row in rows:
        found.setdefault((row.measure, row.column), {})[row.run] = row
    return found


def measure_grid(scores: Scores, rows: Iterable[SummaryRow] | None = None) -> MeasureGrid:
    """The values of all runs with their intervals, the best of each measure marked."""
    found = _by_measure(scores.summary() if rows is None else rows)
    runs, heads = scores.runs, []
    columns: list[list[Any]] = []
    counts: list[list[str]] = []
    for (measure, column), by_run in found.items():
        heads.append(scores.names.heading(measure, column, next(iter(by_run.values())).direction))
        best = best_runs(scores, by_run.values()) if len(runs) > 1 else set()
        present = [by_run.get(run) for run in runs]
        counts.append([row.over if row else "" for row in present])
        columns.append(
            [
                Value(row.value, row.low, row.high, best=row.run in best) if row else Value(None)
                for row in present
            ]
        )
    by_row = [dict.fromkeys(filter(None, own)) for own in zip(*counts, strict=True)]
    if all(len(own) == 1 for own in by_row):
        heads.append("n")
        columns.append([next(iter(own)) for own in by_row])
    else:
        for place, own in enumerate(counts):
            if len(set(own)) == 1:
                heads[place] += f" (n = {own[0]})"
            else:
                pairs = zip(columns[place], own, strict=True)
                columns[place] = [replace(v, after=f"(n = {count})") if count else v for v, count in pairs]
    cells = dict(zip(runs, zip(*columns, strict=True), strict=True))
    return MeasureGrid(tuple(heads), cells, all(len(by_run) == len(runs) for by_run in found.values()))


def best_runs(scores: Scores, rows: Iterable[SummaryRow]) -> set[str]:
    """The runs with the best value of one measure; none where neither high nor low is better.

    A run that reads the judgements that score it is a bound, and never the best.
    """
    known = [row for row in rows if row.run not in scores.informed and not math.isnan(row.value)]
    directions = {row.direction for row in known}
    if not directions <= {Direction.HIGHER.value, Direction.LOWER.value} or not known:
        return set()
    values = [row.value for row in known]
    best = max(values) if directions == {Direction.HIGHER.value} else min(values)
    return {row.run for row in known if row.value == best}


def summary_records(scores: Scores) -> Iterator[dict[str, Any]]:
    """A record for each run, measure and column: every digit, and the real name of every measure."""
    for row in scores.summary():
        yield row._asdict() | {"undefined": ReasonCounts(row.undefined)} | labelled(scores, row)


def labelled(scores: Scores, row: SummaryRow) -> dict[str, str]:
    """The label that stands beside the real name, where any measure has one."""
    if not scores.labels:
        return {}
    given = {row.measure, full_name(row.measure, row.column)} & set(scores.labels)
    return {"label": scores.names.of(row.measure, row.column) if given else ""}


def value_records(scores: Scores) -> Iterator[Record]:
    """A record for each run, query, measure and column."""
    for batch in scores.per_query().to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


SEVERAL_MEANING = "Two runs can differ although their intervals overlap: evenrank compare tests it."
QUERIES_MEANING = "One value for each query; a blank says that the measure does not take the query."
ONE_MEANING = "An interval says how far other queries could move the value."


def summary_table(
    scores: Scores, width: int | None = None, *, notes: bool = True, limit: int | None = None
) -> Table:
    """Runs against measures where there are several runs and it fits ``width``, if need be without the
    intervals; else one row for each run and measure. ``limit`` is for the ``notes``."""
    rows = shown_rows(scores)
    said, records = remarks(scores, notes=notes, limit=limit), tuple(summary_records(scores))
    several = len(scores.runs) > 1
    if several:
        grid = measure_grid(scores, rows)
        body = ([run, *values] for run, values in grid.cells.items())
        table = Table.of(["run", *grid.heads], body, notes=said, records=records, meaning=SEVERAL_MEANING)
        if grid.whole and (width is None or table.width(intervals=False) <= width):
            return table
    best = {measure: best_runs(scores, by_run.values()) for measure, by_run in _by_measure(rows).items()}
    lines = (
        (
            *[row.run] * several,
            scores.names.heading(row.measure, row.column, row.direction),
            Value(row.value, best=several and row.run in best[row.measure, row.column]),
            Interval(row.low, row.high),
            row.over,
        )
        for row in rows
    )
    measure = Column("measure", right=False, wraps=True)  # a name with parameters is long
    return Table.of(
        [*["run"] * several, measure, "value", INTERVAL, "n"],
        lines,
        words=1 + several,
        notes=said,
        records=records,
        meaning=SEVERAL_MEANING if several else ONE_MEANING,
    )


def query_table(scores: Scores) -> Table:
    """One row a query, one column a measure; a blank where a measure does not take the query."""
    heads: dict[tuple[str, str], str] = {}
    largest = largest_columns(scores)
    for block in scores.blocks:
        measure, direction = repr(block.measure), block.measure.direction.value
        for column in largest.get(measure, block.columns):
            heads[measure, column] = scores.names.heading(measure, column, direction)
    found: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for block in scores.blocks:
        measure = repr(block.measure)
        for query, values in zip(block.query_ids, block.values.tolist(), strict=True):
            row = found.setdefault((block.run, query), {})
            row |= {(measure, column): value for column, value in zip(block.columns, values, strict=True)}
    several = len(scores.runs) > 1
    body = (
        (*[run] * several, query, *(values.get(head) for head in heads))
        for (run, query), values in found.items()
    )
    return Table.of(
        [*["run"] * several, "query", *heads.values()],
        body,
        words=1 + several,
        notes=describe_columns(scores) + scores.names.notes(),
        meaning=QUERIES_MEANING,
    )


def print_scores(
    scores: Scores,
    form: str = "table",
    width: int | None = None,
    *,
    per_query: bool = False,
    notes: bool = False,
) -> str:
    """The table in one of the formats of ``tables``, or with ``per_query`` the value of every query."""
    if not per_query:
        return printed([summary_table(scores, width, notes=notes)], form, width)
    if form == "jsonl":
        return "".join(map(json_line, value_records(scores)))
    if form in DELIMITERS:
        return delimited(value_records(scores), DELIMITERS[form], VALUE_FIELDS)
    return printed([query_table(scores)], form, width)
