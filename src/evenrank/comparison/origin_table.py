"""Where bias comes from, as tables: the three places side by side, the extreme queries, the words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenrank.comparison.origin import Extreme, Origin, Step
from evenrank.data.lexicon import Lexicon
from evenrank.errors import ParameterError
from evenrank.measures import Measure
from evenrank.measures.exposure import TermExposure
from evenrank.scores.columns import LARGEST
from evenrank.scores.names import full_name
from evenrank.tables import Column, Interval, Table, Value, count_of, number, verdict_cell

HEAD = ("place", "value", "95% interval", "adds", "95% interval", "", "n")
MEANS = (
    "(collection), (background): their documents in random order; a background adds what its queries bring "
    "up, a system adds what it makes of the background",
    "adds: the difference from the place before, with its 95% interval over queries; better and worse where "
    "that leaves out 0",
)


def origin_tables(origin: Origin, category: str | None = None, *, notes: bool = True) -> list[Table]:
    """A table for each measure that is no table of words; the last has the notes."""
    by_measure: dict[tuple[Measure, str], list[Step]] = {}
    for step in origin.steps():
        if not isinstance(step.measure, TermExposure):
            by_measure.setdefault((step.measure, step.column), []).append(step)
    tables = []
    for place, ((_, column), steps) in enumerate(by_measure.items(), 1):
        few = tuple(dict.fromkeys(step.interval_note for step in steps if step.interval_note))
        last = (*MEANS, *origin.notes, *origin.scores.names.notes())
        said = (*few, *(last if notes and place == len(by_measure) else ()))
        tables.append(
            Table.of(
                HEAD,
                map(_cells, steps),
                title=_title(origin, steps[0].measure, column, category),
                notes=said,
                records=(_record(origin, step, category) for step in steps),
                meaning=describe_steps(steps),
            )
        )
    return tables


def describe_steps(steps: Sequence[Step]) -> str:
    """What is shown to move the value on its way from the collection to a system."""
    shown = [
        f"{step.place} ({number(step.adds.difference, signed=True)})"
        for step in steps
        if step.against and step.verdict
    ]
    if not shown:
        return "No step from the collection to a system is shown to move the value."
    return f"Shown to move the value from the place before: {', '.join(shown)}."


def origin_table(origin: Origin) -> Table:
    """All measures in one table, the measure in a column of its own."""
    tables = origin_tables(origin)
    return Table.of(
        [Column("measure", right=False), *HEAD],
        ([table.title, *row] for table in tables for row in table.rows),
        words=2,
        notes=dict.fromkeys(note for table in tables for note in table.notes),
        records=(record for table in tables for record in table.records),
        meaning=(
            "How a value comes about: from the collection to what queries bring up, and from that to"
            " what a system makes of it."
        ),
    )


def _title(origin: Origin, measure: Measure, column: str, category: str | None = None) -> str:
    title = origin.scores.names.heading(repr(measure), column, measure.direction.value)
    return title if category is None else f"{title}, {category}"


def _cells(step: Step) -> tuple[Any, ...]:
    first = not step.against  # nothing comes before it that it could add to
    return (
        step.place,
        step.value,
        Interval(step.low, step.high),
        None if first else Value(step.adds.difference, signed=True),
        None if first else Interval(step.adds.low, step.adds.high, signed=True),
        verdict_cell(step.verdict),
        count_of(step.defined, step.queries, step.infinite),
    )


def _record(origin: Origin, step: Step, category: str | None) -> Mapping[str, Any]:
    labels = origin.scores.labels
    return {
        **({} if category is None else {"category": category}),
        "measure": repr(step.measure),
        "column": step.column,
        "place": step.place,
        "value": step.value,
        "low": step.low,
        "high": step.high,
        "queries": step.queries,
        "defined": step.defined,
        "against": step.against,
        "adds": step.adds.difference,
        "adds_low": step.adds.low,
        "adds_high": step.adds.high,
        "verdict": step.verdict,
        **({"label": labels.get(full_name(repr(step.measure), step.column), "")} if labels else {}),
    }


def extreme_table(origin: Origin, count: int, category: str | None = None) -> Table:
    """The queries with the lowest and the highest values, and the values of their background beside them."""
    found = [each for each in origin.extremes(count) if not isinstance(each.measure, TermExposure)]
    return Table.of(
        ["measure", "system", "end", "query", "value", "(background)", "(collection)"],
        (
            (
                _title(origin, each.measure, each.column, category),
                each.system,
                each.end,
                each.query,
                each.value,
                each.background,
                each.collection,
            )
            for each in found
        ),
        words=4,
        title="queries with the lowest and the highest values",
        records=(_extreme_record(each, category) for each in found),
        meaning=(
            "Where the background of a query is as low or as high as its list, the documents are the"
            " cause rather than the system."
        ),
    )


def _extreme_record(each: Extreme, category: str | None) -> Mapping[str, Any]:
    return {
        **({} if category is None else {"category": category}),
        **each._asdict(),
        "measure": repr(each.measure),
    }


def term_table(origin: Origin, lexicon: Lexicon, count: int = LARGEST, category: str | None = None) -> Table:
    """The words with most exposure in any system: mean exposure by place, and each word's share of all."""
    measures = [m for m in origin.scores.measures if isinstance(m, TermExposure)]
    if not measures:
        raise ParameterError("a table of words needs the measure TermExposure, as TermExposure@10")
    group_of = {
        term: lexicon.groups[group] for term, group in zip(lexicon.terms, lexicon.term_groups, strict=True)
    }
    places = (*origin.places, *origin.systems)
    exposure: dict[str, dict[str, float]] = {place: {} for place in places}
    counts: dict[str, str] = {}
    for row in origin.scores.summary():
        if row.measure == repr(measures[0]):
            counts[row.run] = count_of(row.defined, row.queries)
            exposure[row.run][row.column] = 0.0 if math.isnan(row.value) else row.value
    totals = {place: sum(found.values()) for place, found in exposure.items()}
    most = {term: max(exposure[s].get(term, 0.0) for s in origin.systems) for term in group_of}
    shown = sorted((term for term in most if most[term] > 0), key=lambda term: (-most[term], term))[:count]
    left = sum(value > 0 for value in most.values()) - len(shown)
    return Table.of(
        [
            "term",
            "group",
            *(f"{place} (n = {counts[place]})" if place in counts else place for place in places),
        ],
        (
            (term, group_of[term], *(_exposed(exposure[p].get(term, 0.0), totals[p]) for p in places))
            for term in shown
        ),
        words=2,
        title=_title(origin, measures[0], "", category),
        notes=(
            "mean exposure over queries of a term, and its share of the exposure of all terms"
            + (f"; {left} terms with less are left out" if left else ""),
        ),
        records=(
            {
                **({} if category is None else {"category": category}),
                "measure": repr(measures[0]),
                "term": term,
                "group": group_of[term],
                "place": place,
                "exposure": exposure[place].get(term, 0.0),
                "share": _share(exposure[place].get(term, 0.0), totals[place]),
            }
            for term in shown
            for place in places
        ),
        meaning=(
            "A word with a larger share in a system than in the background is one that the system brings up."
        ),
    )


def _share(value: float, total: float) -> float:
    return value / total if total > 0 else math.nan


def _exposed(value: float, total: float) -> Value:
    share = _share(value, total)
    return Value(value, after="" if math.isnan(share) else f"{share:.1%}")


def tables_of_origin(
    origin: Origin,
    *,
    extremes: int | None = None,
    terms: int | None = None,
    lexicon: Lexicon | None = None,
    category: str | None = None,
    only: bool = False,
    notes: bool = True,
) -> Sequence[Table]:
    """The tables that are asked for; with ``only`` those alone, else after the table of places."""
    further = []
    if extremes is not None:
        further.append(extreme_table(origin, extremes, category))
    if terms is not None and lexicon is not None:
        further.append(term_table(origin, lexicon, terms, category))
    return further if only and further else [*origin_tables(origin, category, notes=notes), *further]
