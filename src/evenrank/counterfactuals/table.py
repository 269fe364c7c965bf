"""What a counterfactual experiment found, as tables: systems, queries, documents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from evenrank.counterfactuals.experiment import Counterfactual, Move
from evenrank.errors import ParameterError
from evenrank.scores import Scores
from evenrank.stats.correlation import kendall
from evenrank.tables import Column, Interval, Table

ALL = "all words"
CAUTION = (
    "CRBO says how much lists depend on group words, not whether they are fair: a ranker that ignores group "
    "words has a CRBO of 1 on a collection as unbalanced as it may be (texfair-2024). A weak correlation is "
    "no fault of either measure"
)


class SwapRow(NamedTuple):
    """One system under one kind of swap; ``beside`` are measures of its original lists."""

    system: str
    swapped: str
    result: Counterfactual
    beside: Mapping[str, float]


def merged(rows: Sequence[SwapRow]) -> Scores:
    """The values of every query, one run a system and kind of swap."""
    blocks, notes = [], {}
    for row in rows:
        name = row.system if row.swapped == ALL else f"{row.system} ({row.swapped})"
        blocks += [replace(block, run=name) for block in row.result.scores.blocks]
        notes[name] = tuple(note for said in row.result.scores.notes_by_run.values() for note in said)
    return Scores(tuple(blocks), notes)


def system_table(rows: Sequence[SwapRow]) -> Table:
    """One row for each system and kind of swap."""
    found, records, notes = [], [], dict[str, None]()
    for system, swapped, result, beside in rows:
        low, high = result.interval
        found.append((system, swapped, result.crbo, Interval(low, high), result.defined, *beside.values()))
        records.append({
            "system": system, "swapped": swapped, "crbo": result.crbo, "low": low, "high": high,
            "queries": result.defined, "documents_changed": len(result.changed),
            "documents": result.documents, **beside,
        })  # fmt: skip
        said = (summary.interval_note for summary in result.scores.summary())
        notes |= dict.fromkeys(note for note in said if note)
    return Table.of(
        ["system", "swapped", "CRBO", "95% interval", "queries", *(rows[0].beside if rows else ())],
        found,
        words=2,
        notes=notes,
        records=records,
        meaning=(
            "CRBO of 1: swapping group words moves no document; the lower it is, the more the system"
            " reacts to them."
        ),
    )


def agreement_table(rows: Sequence[SwapRow]) -> Table:
    """Kendall's tau of CRBO with each measure that stands beside it, over systems."""
    if len(rows) < 3:
        raise ParameterError(f"a correlation over systems needs three of them or more, got {len(rows)}")
    crbo = [row.result.crbo for row in rows]
    taus = ((name, kendall(crbo, [row.beside[name] for row in rows])) for name in rows[0].beside)
    return Table.of(
        ["measure", "tau", "95% interval", "p", "systems"],
        (
            (name, tau.value, Interval(tau.interval.low, tau.interval.high), tau.p_value, tau.n)
            for name, tau in taus
        ),
        words=1,
        title="agreement of CRBO with measures of the original lists, over systems",
        notes=[CAUTION],
        meaning="Close to 1: systems whose lists a swap moves less have higher values of the measure.",
    )


def with_categories(rows: Sequence[SwapRow], categories: Mapping[str, str | Iterable[str]]) -> list[SwapRow]:
    """Each row, and beneath it one for every category of queries, without measures of the whole lists."""
    found: list[SwapRow] = []
    for row in rows:
        found.append(row)
        parts = row.result.scores.split(categories) if categories else {}
        unknown = dict.fromkeys(row.beside, math.nan)
        found += [
            row._replace(
                swapped=f"{row.swapped}, {name}", result=replace(row.result, scores=part), beside=unknown
            )
            for name, part in parts.items()
        ]
    return found


def moved_table(row: SwapRow, queries: Mapping[str, str], count: int) -> Table:
    """The queries that move most."""
    moved = row.result.moved(count)
    which = "the lists that move most" if moved else "no list moved"
    return Table.of(
        ["query", "RBO", Column("text", right=False, wraps=True)],
        ((query, value, queries[query]) for query, value in moved),
        title=f"{row.system}, {row.swapped}: {which}",
        meaning="The lower RBO is, the more the list of the query changes when group words are swapped.",
    )


def moves_table(system: str, moves: Sequence[Move], count: int) -> Table:
    """The documents that move most when they alone are swapped; all of them are in the records."""
    away = [move for move in moves if move.by != 0]
    fell = sum(move.by is None or move.by > 0 for move in moves)
    title = (
        f"{system}, one document at a time: of {len(moves):,} places {fell:,} fall and "
        f"{len(away) - fell:,} rise"
        if moves
        else f"{system}: no document of the lists has a word to swap"
    )
    largest = sorted(away, key=lambda m: -(10**9 if m.by is None else abs(m.by)))[:count]
    return Table.of(
        ["query", "document", "rank", "then"],
        ((m.query, m.document, m.before, "gone" if m.after is None else m.after) for m in largest),
        words=2,
        title=title,
        records=(
            {"system": system, "query": m.query, "document": m.document, "before": m.before, "after": m.after}
            for m in moves
        ),
        meaning="These documents change their rank when only their own group words are swapped.",
    )
