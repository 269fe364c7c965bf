"""A comparison as tables for people, as a table for a paper, and as rows for programs.

For people there is one table for each measure: the systems, the best first, each with what was found
against the baselines. Tables for papers have one row for each system and one column for each measure. The
best value of a column is marked; a raised letter names a baseline that a value beats, a lowered one a
baseline that it loses to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evenrank.errors import counted
from evenrank.scores.notes import informed_notes
from evenrank.scores.score_tables import best_runs, measure_grid
from evenrank.tables import Column, Interval, Record, Table, Value, number, p_value, verdict_cell

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.comparison.measure_table import MeasureTable
    from evenrank.comparison.pairs import Pair

NO_DIFFERENCE = "no difference shown"


def measure_tables(comparison: Comparison) -> list[Table]:
    """For each measure its systems, best first, and what is shown against the baselines."""
    tables = []
    for table in comparison.tables:
        rows = [row for row in comparison.scores.summary() if _is(row, table)]
        rows.sort(key=lambda row: _order(row.value, table))
        pairs = [pair for pair in comparison.pairs if pair.measure == table.name]
        best = best_runs(comparison.scores, rows)
        cells = [
            (
                row.run,
                Value(row.value, best=row.run in best),
                Interval(row.low, row.high),
                row.over,
                *_found(row.run, [pair for pair in pairs if pair.system == row.run], comparison),
            )
            for row in rows
        ]
        verdict = Column("verdict", right=False, wraps=True)
        head: list[str | Column] = ["system", "value", "95% interval", "n", "difference", "p", verdict]
        left = left_out_notes(pairs) if len(comparison.baselines) == 1 else []
        tables.append(Table.of(head, cells, title=table.heading, meaning=describe_pairs(pairs), notes=left))
    if tables:
        named = [*interval_notes(comparison), describe_test(comparison)]
        named += [*informed_notes(comparison.scores), *comparison.scores.names.notes()]
        tables[-1] = tables[-1].with_notes([*tables[-1].notes, *named])
    return tables


NAMED = 3  # systems of which nothing is shown, that a sentence names
SHOWN = {
    "better": "Shown to be better than",
    "worse": "Shown to be worse than",
    "differs": "Shown to differ from",
}


def describe_pairs(pairs: Sequence[Pair]) -> str:
    """What a comparison with the baselines shows, in one sentence for each verdict, and what remains possible
    where it shows nothing."""
    found: dict[tuple[str, str], list[str]] = {}
    rest: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.verdict:
            found.setdefault((pair.verdict, pair.baseline), []).append(pair.system)
        elif pair.reason is None:
            rest.setdefault(pair.baseline, []).append(pair)
    if not found:
        return f"No system is shown to differ from its baseline{describe_possible(pairs)}." if pairs else ""
    shown = [
        f"{SHOWN[verdict]} {baseline}: {', '.join(systems)}."
        for (verdict, baseline), systems in found.items()
    ]
    others = [
        f"No difference from {baseline} is shown for {_named(those)}{describe_possible(those)}."
        for baseline, those in rest.items()
    ]
    return " ".join([*shown, *others])


def _named(pairs: Sequence[Pair]) -> str:
    return ", ".join(pair.system for pair in pairs) if len(pairs) <= NAMED else f"{len(pairs):,} systems"


def describe_possible(pairs: Sequence[Pair]) -> str:
    """How large a difference remains possible where none is shown; intervals are about other queries."""
    known = [pair for pair in pairs if math.isfinite(pair.low) and math.isfinite(pair.high)]
    if not known:
        return ""
    low, high = min(pair.low for pair in known), max(pair.high for pair in known)
    return (
        f": differences from {number(low, signed=True)} to {number(high, signed=True)} remain possible, and "
        "more queries would help, four times as many would halve that range"
    )


def _found(system: str, pairs: list[Pair], comparison: Comparison) -> tuple[Any, Any, str | Value]:
    """Difference, p and verdict. Where there are several baselines, the verdict has all of it, one by one."""
    if system in comparison.baselines and not pairs:
        return None, None, "(baseline)"
    mark = " (baseline)" if system in comparison.baselines else ""
    if len(comparison.baselines) > 1:
        return None, None, "; ".join(map(describe_pair, pairs)) + mark
    (pair,) = pairs
    if pair.reason is not None:
        return None, None, pair.reason
    return (
        Value(pair.difference, signed=True),
        p_value(pair.corrected),
        verdict_cell(pair.verdict, pair.verdict or NO_DIFFERENCE),
    )


def describe_pair(pair: Pair) -> str:
    if pair.reason is not None:
        return f"against {pair.baseline}: {pair.reason}"
    p = p_value(pair.corrected)
    found = f"{number(pair.difference, signed=True)} against {pair.baseline}, p {p}"
    return f"{found}: {pair.verdict or NO_DIFFERENCE}{describe_left_out(pair)}"


def describe_left_out(pair: Pair) -> str:
    return f", {pair.dropped + pair.infinite:,} left out: {left_out(pair)}" if pair.left_out else ""


def left_out_notes(pairs: Sequence[Pair]) -> list[str]:
    """Which queries do not count against the baseline, and why: below the table, where it does not widen."""
    named: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.reason is None and pair.left_out:
            count = pair.dropped + pair.infinite
            queries = counted(count, "query was", "queries were")
            named.setdefault(f"{queries} left out: {left_out(pair)}", []).append(pair.system)
    everywhere = len(named) == 1 and len(pairs) == sum(map(len, named.values()))
    return [why if everywhere else f"{', '.join(systems)}: {why}" for why, systems in named.items()]


def interval_notes(comparison: Comparison) -> list[str]:
    """Why values have no interval, or why theirs may be too narrow, with the measures concerned."""
    names: dict[str, dict[str, None]] = {}
    for row in comparison.scores.summary():
        if row.interval_note and row.defined:
            names.setdefault(row.interval_note, {}).setdefault(
                comparison.scores.names.of(row.measure, row.column)
            )
    every = len(comparison.tables)
    return [note if len(found) == every else f"{', '.join(found)}: {note}" for note, found in names.items()]


def describe_test(comparison: Comparison) -> str:
    return (
        f"test: paired {comparison.test}, corrected by {comparison.correction} within a measure, "
        f"alpha {comparison.alpha:g}"
    )


def _is(row: object, table: MeasureTable) -> bool:
    return bool(
        getattr(row, "measure", "") == repr(table.measure) and getattr(row, "column", "") == table.column
    )


def _order(value: float, table: MeasureTable) -> float:
    """Small is good. Of values without a better one, the one nearest to 0 is."""
    if math.isnan(value):
        return math.inf
    if not table.has_better:
        return abs(value)
    return value if table.lower_is_better else -value


def left_out(pair: Pair) -> str:
    """Why queries do not count, as "no relevant document (3)"."""
    return ", ".join(f"{reason} ({count:,})" for reason, count in pair.left_out.items())


def letters(number: int) -> str:
    """a, b, .. z, aa, ab: as many as there are systems.

    >>> [letters(number) for number in (0, 25, 26, 27, 702)]
    ['a', 'z', 'aa', 'ab', 'aaa']
    """
    named = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        named = chr(ord("a") + rest) + named
    return named


def paper_table(comparison: Comparison) -> Table:
    """One row for each system, in the given order; one column for each measure, with marks."""
    letter = {name: letters(place) for place, name in enumerate(comparison.baselines)}
    scores = comparison.scores
    grid = measure_grid(scores)
    rows = []
    for system, cells in grid.cells.items():
        values: list[Any] = list(cells)
        for place, table in enumerate(comparison.tables):
            beats, loses = _marks(comparison, table, system, letter)
            values[place] = replace(values[place], low=math.nan, high=math.nan, raised=beats, lowered=loses)
        rows.append([Value(system, raised=letter.get(system, "")), *values])
    named = ", ".join(f"{letters(place)} is {name}" for place, name in enumerate(comparison.baselines))
    legend = f"raised letter: better than, lowered letter: worse than; {named}"
    return Table.of(
        ["system", *grid.heads],
        rows,
        notes=[legend, describe_test(comparison), *informed_notes(scores), *scores.names.notes()],
        records=(record_of(pair, scores.labels) for pair in comparison.pairs),
        meaning=("A letter marks a significant difference from that baseline."),
    )


def _marks(
    comparison: Comparison, table: MeasureTable, system: str, letter: dict[str, str]
) -> tuple[str, str]:
    own = [pair for pair in comparison.pairs if pair.measure == table.name and pair.system == system]
    beats = ",".join(letter[pair.baseline] for pair in own if pair.verdict == "better")
    loses = ",".join(letter[pair.baseline] for pair in own if pair.verdict == "worse")
    return beats, loses


def record_of(pair: Pair, labels: Mapping[str, str]) -> Record:
    """A row for programs. Where no value is better than another, no query is won or lost."""
    wins, ties, losses = pair.outcomes if pair.has_better else (math.nan, math.nan, math.nan)
    return {
        "measure": pair.measure,
        "system": pair.system,
        "baseline": pair.baseline,
        "difference": pair.difference,
        "low": pair.low,
        "high": pair.high,
        "test": pair.test,
        "p": pair.p_value,
        "correction": pair.correction,
        "corrected_p": pair.corrected,
        "effect_size": pair.effects.cohen_dz,
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "queries": pair.queries,
        "dropped": pair.dropped + pair.infinite,
        "why_dropped": left_out(pair),
        "verdict": pair.verdict or NO_DIFFERENCE,
        "reason": pair.reason or "",
        **({"label": labels.get(pair.measure, "")} if labels else {}),
    }
