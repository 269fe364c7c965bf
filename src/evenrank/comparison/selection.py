"""Which of several rankers to take, by how much fairness weighs against relevance: ``F_beta``.

Each beta chooses a ranker on four fifths of the queries and answers for the rest, fold by fold, so that what
is reported is not what was chosen by. Reference: nfairc-advbert-2021, section 7.2 and MeasureTable 4.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenrank.arrays import Floats
from evenrank.comparison.measure_table import MeasureTable, tables_of
from evenrank.errors import InputTypeError, ParameterError
from evenrank.measures import Measure, parse_measures
from evenrank.scores import Scores
from evenrank.scores.names import MeasureNames
from evenrank.stats.selection import (
    BETAS,
    FOLDS,
    BetaRow,
    ValueChange,
    beta_ranges,
    beta_table,
)

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.tables import Table

MEAN = "mean"


class Outcome(NamedTuple):
    """What a beta's choices have on one measure, in its own units, and the baseline on the same queries."""

    value: float
    baseline: float
    p_value: float
    verdict: str  # better or worse than the baseline where p < alpha; empty where the baseline is chosen


@dataclass(frozen=True)
class Choice:
    """What one beta chooses."""

    beta: float
    chosen: str  # by all queries: the one to take
    by_fold: tuple[str, ...]  # by all queries but those of the fold
    relevance: Outcome
    fairness: Outcome
    others: dict[str, Outcome]
    acceptable: bool  # not the baseline, significantly fairer, and nothing significantly worse

    def folds(self) -> str:
        """
        >>> Choice(1.0, "a", ("b", "a", "b"), *[Outcome(0, 0, 0, "")] * 2, {}, False).folds()
        'b 2, a 1'
        """
        return ", ".join(f"{name} {count}" for name, count in Counter(self.by_fold).most_common())


class Bound(NamedTuple):
    """A system that reads the judgements by which it is scored: what it has, and never a choice."""

    name: str
    values: dict[str, float]  # by measure, the mean over the queries of the choices


@dataclass(frozen=True, eq=False)
class Choices:
    """The choice of each beta, and the stretches of betas that gain fairness at no significant loss."""

    relevance: str
    fairness: str
    others: tuple[str, ...]
    systems: tuple[str, ...]  # that are chosen from
    baseline: str
    rows: tuple[Choice, ...]
    ranges: tuple[tuple[float, float], ...]
    queries: int
    dropped: int
    folds: int
    seed: int
    alpha: float
    names: MeasureNames = field(default_factory=lambda: MeasureNames({}, {}))
    bounds: tuple[Bound, ...] = ()

    def __repr__(self) -> str:
        return self.to_table().to_text()

    def _repr_html_(self) -> str:
        return self.to_table().to_html()

    def to_table(self) -> Table:
        """The baseline, then one row for each beta: what it chooses, and what those choices are worth."""
        from evenrank.comparison.selection_table import choice_table

        return choice_table(self)


def select(
    systems: Comparison | Scores,
    *,
    relevance: str | Measure,
    fairness: str | Measure,
    betas: Sequence[float] = BETAS,
    baseline: str | None = None,
    others: Any = (),
    folds: int = FOLDS,
    seed: int = 0,
    alpha: float = 0.05,
) -> Choices:
    """Choose among the systems of a comparison, or of scores, for each of the betas.

    ``beta`` 0 looks at relevance alone, infinity at fairness alone; both measures are scaled from the worst
    system to the best. ``baseline`` is the system that the choices are tested against, the first if not
    said. ``others`` are further measures that take no part in the choice and must not get worse. Which way
    is better follows the measure. A system that reads the judgements by which it is scored is shown as a
    bound, and never chosen.
    """
    scores = systems if isinstance(systems, Scores) else getattr(systems, "scores", None)
    if not isinstance(scores, Scores):
        raise InputTypeError(f"select takes a Comparison or Scores, got {type(systems).__name__}")
    if len(scores.runs) < 2:
        raise ParameterError(f"there is nothing to choose: the only system is {scores.runs[0]!r}")
    own = scores.runs[0] if baseline is None else baseline
    if own not in scores.runs:
        raise ParameterError(f"no system is called {own!r}; there are {', '.join(scores.runs)}")
    if own in scores.informed:
        raise ParameterError(
            f"{own!r} reads the judgements by which it is scored, and is no baseline: name another one, "
            "baseline= (--baseline NAME)"
        )
    if not betas:
        raise ParameterError("there is no beta: name at least one, as [0, 1, inf]")
    tables = {(table.measure, table.column): table for table in tables_of(scores)}
    useful, fair = (_table(scores, tables, wanted) for wanted in (relevance, fairness))
    further = [_table(scores, tables, wanted) for wanted in (parse_measures(others) if others else ())]
    if useful.name == fair.name:
        raise ParameterError(f"relevance and fairness are both {fair.name}: a trade-off needs two measures")
    queries = [query for query in fair.query_ids if query in set(useful.query_ids)]
    choices = [place for place, name in enumerate(scores.runs) if name not in scores.informed]
    named = tuple(scores.runs[place] for place in choices)
    tables_used = (useful, fair, *further)
    leaning = [_leaning(table, queries) for table in tables_used]  # (S, Q) each
    u, f, *rest = (values[choices] for values in leaning)
    rows = beta_table(
        u, f, baseline=named.index(own), betas=betas, folds=folds, seed=seed, alpha=alpha,
        others={table.name: values for table, values in zip(further, rest, strict=True)},
    )  # fmt: skip
    asked = set(useful.query_ids) | set(fair.query_ids)
    there = rows[0].selection.chosen >= 0  # (Q,)
    counted = int(there.sum())
    return Choices(
        relevance=useful.name,
        fairness=fair.name,
        others=tuple(table.name for table in further),
        systems=named,
        baseline=own,
        rows=tuple(_choice(row, named, own, tables_used) for row in rows),
        ranges=beta_ranges(rows),
        queries=counted,
        dropped=len(asked) - counted,
        folds=folds,
        seed=seed,
        alpha=alpha,
        names=scores.names,
        bounds=tuple(
            Bound(
                name,
                {
                    table.name: float(np.nanmean(values[place, there])) * (-1 if table.lower_is_better else 1)
                    for table, values in zip(tables_used, leaning, strict=True)
                },
            )
            for place, name in enumerate(scores.runs)
            if name in scores.informed
        ),
    )


def _table(
    scores: Scores, tables: dict[tuple[Measure, str], MeasureTable], wanted: str | Measure
) -> MeasureTable:
    block = scores.block(wanted, scores.runs[0])
    if block.columns != ("",):
        raise ParameterError(f"{block.measure!r} has several columns: a system is chosen by one number")
    table = tables[block.measure, ""]
    if not table.has_better:
        raise ParameterError(f"{table.name}: {table.measure.direction.value}: nothing to choose by")
    if table.measure.aggregation != MEAN:
        raise ParameterError(f"{table.name} is the {table.measure.aggregation} over queries, not the mean")
    return table


def _leaning(table: MeasureTable, queries: Sequence[str]) -> Floats:
    """(S, Q): the values of these queries, higher better."""
    rows = {query: row for row, query in enumerate(table.query_ids)}
    values = np.full((len(table.systems), len(queries)), np.nan)
    for place, query in enumerate(queries):
        if query in rows:
            values[:, place] = table.values[rows[query]]
    return -values if table.lower_is_better else values


def _choice(row: BetaRow, systems: Sequence[str], baseline: str, tables: Sequence[MeasureTable]) -> Choice:
    useful, fair, *further = tables
    chosen = systems[row.chosen]
    # what single folds choose may differ from the baseline; the baseline that is chosen does not
    claims = chosen != baseline
    return Choice(
        beta=row.beta,
        chosen=chosen,
        by_fold=tuple(systems[place] for place in row.selection.choices),
        relevance=_own_units(row.utility, useful, claims=claims),
        fairness=_own_units(row.fairness, fair, claims=claims),
        others={table.name: _own_units(row.others[table.name], table, claims=claims) for table in further},
        acceptable=row.acceptable,
    )


def _own_units(change: ValueChange, table: MeasureTable, *, claims: bool) -> Outcome:
    sign = -1.0 if table.lower_is_better else 1.0
    verdict = "" if not claims else "better" if change.gained else "worse" if change.lost else ""
    return Outcome(sign * change.value, sign * change.baseline, change.test.p_value, verdict)


def beta_of(text: str) -> float:
    """A beta as it is written.

    >>> beta_of("0.5"), beta_of("inf"), beta_of("∞")
    (0.5, inf, inf)
    """
    written = text.strip().lower()
    try:
        beta = math.inf if written in ("inf", "infinity", "∞") else float(written)
    except ValueError:
        raise ParameterError(f"beta must be a number >= 0, or inf; got {text!r}") from None
    if not beta >= 0:
        raise ParameterError(f"beta must be a number >= 0, or inf; got {text!r}")
    return beta


__all__ = ["Choice", "Choices", "beta_of", "select"]
