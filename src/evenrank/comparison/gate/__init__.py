"""Did a run get worse than its baseline by more than is allowed, beyond what the choice of queries explains?

For every measure the differences of the queries give two bounds of the mean difference. If even the better
one is worse than allowed, the run is worse. If even the worse one is within what is allowed, it is safe.
Else the queries cannot tell, and the rule says what becomes of that. A floor or a ceiling is held against
the bounds of the value itself in the same way, and needs no baseline. The bounds of a group's share are those
of its verdict, where the caller has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats
from evenrank.comparison.gate.rules import FAIL, Gate, GateRule
from evenrank.comparison.measure_table import MeasureTable, tables_of
from evenrank.errors import ParameterError, counted
from evenrank.inputs import Inputs
from evenrank.measures import Direction
from evenrank.scores import Scores
from evenrank.stats.difference import difference_bounds, mean_bounds
from evenrank.stats.intervals import mean_interval
from evenrank.stats.paired import paired_differences
from evenrank.stats.ties import TOLERANCE
from evenrank.tables import Table, number

__all__ = ["Gate", "GateRule", "apply_gate"]

WORSE, SAFE, UNCLEAR, TOO_FEW, NOT_COMPARED = "worse", "safe", "unclear", "too few", ""
BEYOND = "beyond"  # a floor or a ceiling
LOSSES = 3  # queries that are named
COLUMNS_NAMED = 10


class Loss(NamedTuple):
    """A query that became worse."""

    query: str
    baseline: float
    now: float


@dataclass(frozen=True)
class RuleResult:
    """What one rule found. Values are over the queries that both have, in the measure's own units.

    ``low`` and ``high`` bound ``difference``, which is now less baseline, each at ``alpha``; where the rule
    has a floor or a ceiling they bound ``value``. That is the run's own, over all its queries, which limits
    are for. Without a baseline ``baseline`` and ``difference`` are NaN.
    """

    rule: GateRule
    baseline: float
    now: float
    difference: float
    low: float
    high: float
    allowed: float  # how much worse it may be; NaN where only a limit is set
    alpha: float
    value: float
    queries: int
    lost: int  # queries for which only the baseline has a finite value
    gained: int  # queries for which only the run has
    neither: int  # queries for which none of them has
    finding: str
    problems: tuple[str, ...]  # why it fails; none where it passes
    losses: tuple[Loss, ...]  # the queries that lost most
    label: str = ""  # what people see instead of the rule's name
    level: float = math.nan  # that the bounds hold at together, where they are those of a verdict

    @property
    def name(self) -> str:
        return self.label or self.rule.name

    @property
    def failed(self) -> bool:
        return bool(self.problems)


@dataclass(frozen=True)
class GateResult:
    gate: Gate
    verdicts: tuple[RuleResult, ...]

    @property
    def failed(self) -> bool:
        return any(verdict.failed for verdict in self.verdicts)

    def __repr__(self) -> str:
        return self.to_table().to_text()

    def _repr_html_(self) -> str:
        return self.to_table().to_html()

    def to_table(self) -> Table:
        """One row for each rule: what was found, and what is allowed."""
        from evenrank.comparison.gate.render import gate_table

        return gate_table(self)


def apply_gate(
    scores: Scores | Inputs,
    gate: Gate,
    *,
    now: str = "now",
    baseline: str | None = "baseline",
    intervals: Mapping[str, tuple[float, float]] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GateResult:
    """Hold the run called ``now`` against the one called ``baseline``, rule by rule.

    Rules that are limits alone need no baseline: it may be None then. ``Inputs`` are evaluated by the
    measures of the rules. ``intervals`` are those of the verdicts on shares of groups, by the name of a rule
    with a floor or a ceiling: NaN where there is too little for a verdict.
    """
    if isinstance(scores, Inputs):
        from evenrank.evaluation import evaluate

        scores = evaluate(scores, list(dict.fromkeys(rule.measure for rule in gate.rules)))
    if baseline is None and gate.compares:
        compared = next(rule.name for rule in gate.rules if rule.compares)
        raise ParameterError(f"{compared}: is compared with a baseline, and none is given")
    for name in (now, baseline):
        if name is not None and name not in scores.runs:
            raise ParameterError(f"no run is called {name!r}; there are {', '.join(scores.runs)}")
    tables = tables_of(scores)
    verdicts = []
    for done, rule in enumerate(gate.rules):
        if progress is not None:
            progress(done, len(gate.rules))
        table = _table(scores, tables, rule, now)
        is_labelled = not {repr(table.measure), table.name}.isdisjoint(scores.labels)
        verdict = _verdict(table, rule, gate, now, baseline, (intervals or {}).get(rule.name))
        verdicts.append(replace(verdict, label=table.shown if is_labelled else ""))
    return GateResult(gate, tuple(verdicts))


def _table(scores: Scores, tables: tuple[MeasureTable, ...], rule: GateRule, run: str) -> MeasureTable:
    measure = scores.block(rule.measure, run).measure  # as it was evaluated, with its rule for missing ones
    of_measure = {table.column: table for table in tables if table.measure == measure}
    if rule.column in of_measure:
        return of_measure[rule.column]
    if list(of_measure) == [""]:
        raise ParameterError(f"{rule.name}: {rule.measure!r} has one value and no columns")
    columns = list(of_measure)
    some = ", ".join(columns[:COLUMNS_NAMED]) + (", .." if len(columns) > COLUMNS_NAMED else "")
    raise ParameterError(
        f"{rule.name}: name one of the columns, as {rule.measure!r}[{columns[0]}]; they are {some}"
    )


def _verdict(
    table: MeasureTable,
    rule: GateRule,
    gate: Gate,
    now: str,
    baseline: str | None,
    interval: tuple[float, float] | None,
) -> RuleResult:
    new = table.values[:, table.place(now)]
    alone = baseline is None
    old = np.full(len(new), np.nan) if baseline is None else table.values[:, table.place(baseline)]
    both = np.isfinite(new) & np.isfinite(old)
    lost, gained = int((np.isfinite(old) & ~both).sum()), int((np.isfinite(new) & ~both).sum())
    gains = paired_differences(new, old, lower_is_better=rule.lower_is_better).values  # (n,) of both
    own = new[np.isfinite(new)]
    values = [table.mean(old, both), table.mean(new, both), table.mean(new, np.isfinite(new))]
    alpha, level = gate.alpha_of(rule), math.nan
    allowed = rule.margin(values[0]) if rule.compares else math.nan
    finding, low, high = NOT_COMPARED, math.nan, math.nan
    if rule.compares:
        bounds = mean_bounds(
            gains,
            difference_bounds(table.range_of(np.concatenate([old[both], new[both]]))),
            alpha=alpha,
            resamples=gate.resamples,
            seed=gate.seed,
        )
        finding = _finding(gains, rule.fewest, bounds.lower, bounds.upper, allowed)
        low, high = (-bounds.upper, -bounds.lower) if rule.lower_is_better else (bounds.lower, bounds.upper)
    elif rule.bounded:
        if interval is None:
            low, high = _own_bounds(table, new, gate, alpha)
        else:
            low, high = interval
            alpha, level = rule.alpha, 1 - rule.alpha
        fewest = rule.fewest if interval is None else rule.at_least or 0  # a verdict has limits of its own
        finding = _within(rule, low, high, enough=len(own) >= fewest and not math.isnan(low))
    problems = [
        *_compared(rule, finding, len(own) if rule.bounded else len(gains)),
        *([] if rule.bounded else _lost(rule, lost, len(gains))),
        *_limit(rule, values[2]),
    ]
    return RuleResult(
        rule=rule,
        baseline=values[0],
        now=values[1],
        difference=values[1] - values[0],
        low=low,
        high=high,
        allowed=allowed,
        alpha=alpha,
        value=values[2],
        queries=len(own) if alone or rule.bounded else len(gains),
        lost=0 if rule.bounded else lost,
        gained=0 if alone or rule.bounded else gained,
        neither=len(new) - len(own) if alone or rule.bounded else len(both) - len(gains) - lost - gained,
        finding=finding,
        problems=tuple(problems),
        losses=() if rule.bounded else _losses(table, old, new, both, rule),
        level=level,
    )


def _own_bounds(table: MeasureTable, values: Floats, gate: Gate, alpha: float) -> tuple[float, float]:
    """Where the mean over other queries lies; where these have weights, as in the interval of a table."""
    there = np.isfinite(values)
    own = values[there]
    if table.weights is not None:
        weights = table.weights[there]
        return mean_interval(own, table.range_of(own), level=1 - 2 * alpha, weights=weights)[:2]
    found = mean_bounds(own, table.range_of(own), alpha=alpha, resamples=gate.resamples, seed=gate.seed)
    return found.lower, found.upper


def _finding(gains: Floats, at_least: int, lower: float, upper: float, allowed: float) -> str:
    if len(gains) < at_least:
        return TOO_FEW
    if not gains.any():
        return SAFE  # a change that changes the value of no query did no harm to any
    edge = -allowed - TOLERANCE * max(1.0, allowed)  # what was summed in another order is not worse
    return WORSE if upper < edge else SAFE if lower >= edge else UNCLEAR


def _within(rule: GateRule, low: float, high: float, *, enough: bool) -> str:
    if not enough:
        return TOO_FEW
    floor = -math.inf if rule.floor is None else rule.floor - TOLERANCE
    ceiling = math.inf if rule.ceiling is None else rule.ceiling + TOLERANCE
    if high < floor or low > ceiling:
        return BEYOND
    return SAFE if low >= floor and high <= ceiling else UNCLEAR


def _compared(rule: GateRule, finding: str, queries: int) -> list[str]:
    if finding == WORSE:
        return ["worse by more than allowed"]
    if finding == BEYOND:
        return ["shown to lie beyond its limit"]
    if finding == TOO_FEW and rule.too_few == FAIL:
        what = "with a value" if rule.bounded else "to compare"
        if queries < rule.fewest:
            return [f"{counted(queries, 'query', 'queries')} {what}, fewer than {rule.fewest:,}"]
        return ["too few documents of the group, or too few that get attention, for a verdict"]
    if finding == UNCLEAR and rule.unclear == FAIL:
        return ["not shown to be within what is allowed"]
    return []


def _lost(rule: GateRule, lost: int, kept: int) -> list[str]:
    if lost <= rule.allowed_lost * (lost + kept) + TOLERANCE:
        return []
    return [f"{lost:,} of {counted(lost + kept, 'query', 'queries')} lost their value"]


def _limit(rule: GateRule, value: float) -> list[str]:
    if rule.limit is None:
        return []
    if math.isnan(value):
        return ["no value to hold against the limit"]
    room = TOLERANCE * max(1.0, abs(rule.limit))
    if rule.measure.direction is Direction.SIGNED:
        beyond, side = abs(value) > rule.limit + room, "further from 0 than"
    elif rule.lower_is_better:
        beyond, side = value > rule.limit + room, "above"
    else:
        beyond, side = value < rule.limit - room, "below"
    return [f"{number(value)} is {side} the limit {rule.limit:g}"] if beyond else []


def _losses(
    table: MeasureTable, old: Floats, new: Floats, both: np.ndarray, rule: GateRule
) -> tuple[Loss, ...]:
    """The queries that lost most, the worst first. Of a signed measure those that moved away from 0 most."""
    if rule.measure.direction is Direction.SIGNED:
        old_cost, new_cost = np.abs(old), np.abs(new)
    else:
        old_cost, new_cost = (old, new) if rule.lower_is_better else (-old, -new)
    places = np.flatnonzero(both)
    worse = new_cost[places] - old_cost[places]
    order = np.argsort(-worse, kind="stable")[:LOSSES]
    return tuple(
        Loss(table.query_ids[places[k]], float(old[places[k]]), float(new[places[k]]))
        for k in order.tolist()
        if worse[k] > TOLERANCE
    )
