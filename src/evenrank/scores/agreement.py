"""Where measures disagree: queries for which one calls the first run better, and another the second.

Similarity functions of distributions disagree for some queries, and a reader should look at those; the
same holds for any measures.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenrank.errors import ParameterError, counted
from evenrank.measures import Direction, Measure, parse_measures
from evenrank.scores.names import arrow
from evenrank.tables import Column, Table

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike
    from evenrank.scores.scores import Scores

TIE = 1e-12  # values that differ by less are equal
SIGNS = {Direction.HIGHER: 1.0, Direction.LOWER: -1.0}


@dataclass(frozen=True)
class Disagreement:
    """One query, two runs, and the values of all measures on both."""

    query: str
    first: str
    second: str
    measures: tuple[Measure, ...]
    values: tuple[tuple[float, float], ...]  # of the first and the second run, for each measure
    advantages: tuple[float, ...]  # of the first run, in the measure's direction; 0 is a tie

    def better(self, place: int) -> str:
        """The run that a measure calls better, or nothing at a tie."""
        advantage = self.advantages[place]
        return self.first if advantage > 0 else self.second if advantage < 0 else ""

    @property
    def strength(self) -> float:
        """The smaller of the largest differences either way."""
        return min(max(self.advantages), -min(self.advantages))

    @property
    def outlier(self) -> Measure | None:
        """The one measure that stands against all others, where it is one of three or more."""
        signs = np.sign(self.advantages)
        for side in (1, -1):
            if (signs == side).sum() == 1 and (signs == -side).sum() == len(signs) - 1 >= 2:
                return self.measures[int(np.flatnonzero(signs == side)[0])]
        return None

    def records(self) -> Iterator[dict[str, Any]]:
        """A row for each measure."""
        for place, (measure, (first, second)) in enumerate(zip(self.measures, self.values, strict=True)):
            yield {
                "query": self.query,
                "first": self.first,
                "second": self.second,
                "measure": repr(measure),
                "first_value": first,
                "second_value": second,
                "better": self.better(place),
                "outlier": "" if self.outlier is None else repr(self.outlier),
            }


def disagreements(
    scores: Scores,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    runs: Sequence[str] | None = None,
) -> tuple[Disagreement, ...]:
    """The queries for which measures order two runs differently, strongest first.

    All measures and all pairs of runs unless named. A query counts where every measure is defined for
    both runs; a tie is no disagreement.
    """
    chosen = scores.measures if measures is None else tuple(parse_measures(measures))
    if len(chosen) < 2:
        raise ParameterError(f"disagreements need two measures or more, got {len(chosen)}")
    for measure in chosen:
        if measure.direction not in SIGNS:
            raise ParameterError(f"{measure!r} calls no run better: {measure.direction.value}")
        if len(scores.block(measure, scores.runs[0]).columns) > 1:
            raise ParameterError(f"{measure!r} has several columns and calls no run better")
    names = scores.runs if runs is None else tuple(runs)
    if len(names) < 2:
        raise ParameterError(f"disagreements need two runs or more, got {', '.join(names) or 'none'}")
    known: dict[tuple[Measure, str], dict[str, float]] = {}
    for measure, run in itertools.product(chosen, names):
        block = scores.block(measure, run)
        good = np.flatnonzero(block.status[:, 0] == 0).tolist()
        known[measure, run] = {block.query_ids[row]: float(block.values[row, 0]) for row in good}
    found: list[Disagreement] = []
    for first, second in itertools.combinations(names, 2):
        tables = [(known[measure, first], known[measure, second]) for measure in chosen]
        for query in tables[0][0]:
            if not all(query in table for pair in tables for table in pair):
                continue
            values = tuple((one[query], two[query]) for one, two in tables)
            apart = [(one - two) * SIGNS[m.direction] for m, (one, two) in zip(chosen, values, strict=True)]
            advantages = tuple(0.0 if abs(advantage) <= TIE else advantage for advantage in apart)
            if min(advantages) < 0 < max(advantages):
                found.append(Disagreement(query, first, second, chosen, values, advantages))
    return tuple(sorted(found, key=lambda row: -row.strength))


def disagreement_table(found: Sequence[Disagreement], most: int = 20) -> Table:
    """A row for each query and measure, the strongest queries first; the records have all of them."""
    title = "the measures agree on every query"
    if found:
        title = f"the measures disagree on {counted(len(found), 'query', 'queries')}, strongest first"
    notes = [f"and {len(found) - most:,} more"] if len(found) > most else []
    counts = Counter(repr(row.outlier) for row in found if row.outlier is not None).most_common()
    if len(found) > 1 and counts:
        listed = ", ".join(f"{measure} {count:,}" for measure, count in counts)
        notes.append(f"queries for which one measure stands against all others, by that measure: {listed}")
    rows = []
    for row in found[:most]:
        for measure, record in zip(row.measures, row.records(), strict=True):
            shown = record | {
                "measure": f"{measure!r} {arrow(measure.direction.value)}",
                "better": record["better"] or "equal",
            }
            rows.append([*shown.values()])
    words = [Column("better", right=False), Column("outlier", right=False)]
    return Table.of(
        ["query", "first", "second", "measure", "first value", "second value", *words],
        rows,
        words=4,
        title=title,
        notes=notes,
        records=(record for row in found for record in row.records()),
        meaning="For these queries one measure prefers the first run and another measure the second.",
    )
