"""Where measures disagree: queries for which one calls the first run better, and another the second.

Similarity functions of distributions disagree for some queries, and a reader should look at those; the
same holds for any measures.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evenrank.errors import ParameterError, counted
from evenrank.measures import Direction, Measure, parse_measures
from evenrank.scores.names import arrow
from evenrank.tables import Column, Table

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike
    from evenrank.scores.scores import Scores

TIE = 1e-12  # values that differ by less are equal
FIELDS = ("query", "first", "second", "measure", "first_value", "second_value", "better", "outlier")
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
    both runs; a tie is no disagreement. How strong it is: the smaller of the largest differences either way.
    """
    chosen = _measures(scores, measures)
    names = scores.runs if runs is None else tuple(runs)
    if len(names) < 2:
        raise ParameterError(f"disagreements need two runs or more, got {', '.join(names) or 'none'}")
    found: list[tuple[float, Disagreement]] = []
    for first, second in itertools.combinations(names, 2):
        queries, values = _common(scores, chosen, first, second)  # (Q, M, 2)
        signs = np.array([SIGNS[measure.direction] for measure in chosen])
        advantage = (values[:, :, 0] - values[:, :, 1]) * signs  # (Q, M)
        advantage = np.where(np.abs(advantage) <= TIE, 0.0, advantage)
        strength = np.minimum(advantage.max(axis=1), -advantage.min(axis=1))  # (Q,)
        for place in np.flatnonzero(strength > 0).tolist():
            pairs = tuple((one, two) for one, two in values[place].tolist())
            row = Disagreement(queries[place], first, second, chosen, pairs, tuple(advantage[place].tolist()))
            found.append((float(strength[place]), row))
    return tuple(row for _, row in sorted(found, key=lambda item: -item[0]))


def _measures(scores: Scores, given: MeasureLike | Iterable[MeasureLike] | None) -> tuple[Measure, ...]:
    chosen = scores.measures if given is None else tuple(parse_measures(given))
    if len(chosen) < 2:
        raise ParameterError(f"disagreements need two measures or more, got {len(chosen)}")
    for measure in chosen:
        if measure.direction not in SIGNS:
            raise ParameterError(f"{measure!r} calls no run better: {measure.direction.value}")
        if len(scores.block(measure, scores.runs[0]).columns) > 1:
            raise ParameterError(f"{measure!r} has several columns and calls no run better")
    return chosen


def _common(
    scores: Scores, measures: Sequence[Measure], first: str, second: str
) -> tuple[list[str], npt.NDArray[np.float64]]:
    """The queries that all measures know on both runs, and their values (Q, M, 2)."""
    tables = []
    for measure, run in itertools.product(measures, (first, second)):
        block = scores.block(measure, run)
        good = np.flatnonzero(block.status[:, 0] == 0)
        tables.append({block.query_ids[row]: float(block.values[row, 0]) for row in good.tolist()})
    queries = [query for query in tables[0] if all(query in table for table in tables)]
    values = np.array([[table[query] for table in tables] for query in queries], dtype=np.float64)
    return queries, values.reshape(len(queries), len(measures), 2)


def disagreement_table(found: Sequence[Disagreement], most: int = 20) -> Table:
    """A row for each query and measure, the strongest queries first; the records have all of them."""
    if found:
        title = f"the measures disagree on {counted(len(found), 'query', 'queries')}, strongest first"
    else:
        title = "the measures agree on every query"
    return Table.of(
        [
            "query",
            "first",
            "second",
            "measure",
            "first value",
            "second value",
            Column("better", right=False),
            Column("outlier", right=False),
        ],
        (
            (*names, f"{measure} {arrow(direction)}", one, two, better or "equal", outlier)
            for row in found[:most]
            for (*names, measure, one, two, better, outlier), direction in zip(
                _cells(row), (each.direction.value for each in row.measures), strict=True
            )
        ),
        words=4,
        title=title,
        notes=[
            *([f"and {len(found) - most:,} more"] if len(found) > most else []),
            *([_outliers_message(counts)] if len(found) > 1 and (counts := outlier_counts(found)) else []),
        ],
        records=(dict(zip(FIELDS, cells, strict=True)) for row in found for cells in _cells(row)),
        meaning="For these queries one measure prefers the first run and another measure the second.",
    )


def outlier_counts(found: Sequence[Disagreement]) -> dict[str, int]:
    """How often each measure stands against all others, most often first.

    >>> outlier_counts([])
    {}
    """
    counts = Counter(repr(row.outlier) for row in found if row.outlier is not None)
    return dict(counts.most_common())


def _outliers_message(counts: dict[str, int]) -> str:
    listed = ", ".join(f"{measure} {count:,}" for measure, count in counts.items())
    return f"queries for which one measure stands against all others, by that measure: {listed}"


def _cells(row: Disagreement) -> list[tuple[Any, ...]]:
    outlier = "" if row.outlier is None else repr(row.outlier)
    return [
        (row.query, row.first, row.second, repr(measure), *row.values[place], row.better(place), outlier)
        for place, measure in enumerate(row.measures)
    ]
