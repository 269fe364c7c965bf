"""What each measure concludes of all pairs of systems; measures that conclude the same stand together.

This is how Table 4 of gfr-2022 is written, with the systems that its section 4.1 calls tied at the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenrank.stats.tukey import TRIALS, conclusions, leaders
from evenrank.tables import Column, Table

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.comparison.measure_table import MeasureTable
    from evenrank.stats.tukey import TukeyHSD

BETTER, DIFFERENT = " >> ", " <> "
NONE_DIFFER = "no two systems are shown to differ"

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Concluded:
    """One measure: the pairs that differ, the better one first, the same in words, and who is at the top."""

    table: MeasureTable
    pairs: Pairs
    lines: tuple[str, ...]
    top: tuple[str, ...]  # empty where no value is better than another
    queries: int
    dropped: int
    reason: str | None

    @property
    def key(self) -> tuple[object, ...]:
        """Measures with the same key conclude the same; the order of equally good systems does not count."""
        return self.pairs, self.reason, bool(self.top)


def conclusion_table(comparison: Comparison, *, trials: int = TRIALS) -> Table:
    """A row for each conclusion, with the measures that reach it; those with the fewest pairs first."""
    found = [
        _concluded(table, comparison.tukey(table.name, trials=trials), comparison.alpha)
        for table in comparison.tables
    ]
    groups: dict[tuple[object, ...], list[Concluded]] = {}
    for one in sorted(found, key=lambda one: len(one.pairs)):
        groups.setdefault(one.key, []).append(one)
    dropped = sum(one.dropped > 0 for one in found)
    notes = [
        f"randomised Tukey HSD, {trials:,} trials, alpha {comparison.alpha:g} over all pairs; "
        "A >> B: A is significantly better than B; at the top: the systems that beat the most others"
    ]
    if any(line for one in found for line in one.lines if DIFFERENT in line):
        notes.append("A <> B: they differ significantly by a measure that calls neither better")
    if dropped:
        notes.append(f"{dropped} measures left out queries that some system lacks a value for")
    return Table.of(
        [
            Column("measures", right=False, wraps=True),
            Column("pairs", right=False),
            Column("conclusions", right=False, wraps=True),
            Column("at the top", right=False),
        ],
        (_row(group) for group in groups.values()),
        notes=notes,
        records=(
            {
                "group": number,
                "measure": one.table.name,
                "differ": len(one.pairs),
                "pairs": _pair_count(one),
                "conclusions": list(one.lines),
                "top": list(one.top),
                "tied_at_top": len(one.top),
                "queries": one.queries,
                "dropped": one.dropped,
                "reason": one.reason,
            }
            for number, group in enumerate(groups.values(), 1)
            for one in group
        ),
        meaning="Measures in one row lead to the same conclusions about which systems differ.",
    )


def _concluded(table: MeasureTable, found: TukeyHSD, alpha: float) -> Concluded:
    names = table.systems
    top: tuple[str, ...] = ()
    if table.has_better:
        said = conclusions(found, alpha=alpha, lower_is_better=table.lower_is_better)
        beaten = [(names[one.system], [names[other] for other in one.beaten]) for one in said]
        if found.reason is None:
            top = tuple(names[place] for place in leaders(said)) or names
        sign = BETTER
    else:
        later = np.triu(found.p_values < alpha, 1)  # each pair once
        beaten = [(names[row], [names[c] for c in np.flatnonzero(later[row])]) for row in range(len(names))]
        sign = DIFFERENT
    pairs = frozenset((system, other) for system, others in beaten for other in others)
    lines = tuple(f"{system}{sign}{', '.join(others)}" for system, others in beaten if others)
    return Concluded(table, pairs, lines, top, found.queries, found.dropped, found.reason)


def _row(group: Sequence[Concluded]) -> tuple[str, str, str, str]:
    first = group[0]
    said = f"undefined: {first.reason}" if first.reason else "; ".join(first.lines) or NONE_DIFFER
    top = f"{len(first.top)} tied" if len(first.top) > 1 else "".join(first.top)
    measures = ", ".join(one.table.shown or one.table.name for one in group)
    return measures, f"{len(first.pairs)} of {_pair_count(first)}", said, top


def _pair_count(one: Concluded) -> int:
    count = len(one.table.systems)
    return count * (count - 1) // 2
