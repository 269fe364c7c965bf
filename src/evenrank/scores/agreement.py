"""Where measures disagree: queries for which one calls the first run better, and another the second.

Similarity functions of distributions disagree for some queries, and a reader should look at those; the
same holds for any measures.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenrank.errors import ParameterError
from evenrank.measures import Direction, Measure, parse_measures

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
    names = scores.runs if runs is None else tuple(runs)
    if len(chosen) < 2 or len(names) < 2:
        raise ParameterError(
            f"disagreements need two measures and two runs or more, got {len(chosen)} and {len(names)}"
        )
    known: dict[tuple[Measure, str], dict[str, float]] = {}
    for measure, run in itertools.product(chosen, names):
        block = scores.block(measure, run)
        if measure.direction not in SIGNS or len(block.columns) > 1:
            why = measure.direction.value if measure.direction not in SIGNS else "it has several columns"
            raise ParameterError(f"{measure!r} calls no run better: {why}")
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
