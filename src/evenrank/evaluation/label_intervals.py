"""Intervals that include the error of labels: multiple imputation of what documents are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from evenrank.data.label_error import RankedLabels, drawn, is_uncertain
from evenrank.data.run import Run
from evenrank.errors import InputTypeError, ParameterError
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs, Known
from evenrank.measures import parse_measures
from evenrank.scores import ScoresBlock
from evenrank.stats.intervals import student_quantile
from evenrank.stats.weights import effective_number, variance_of_mean
from evenrank.tables import Interval, Table

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike

DRAWS = 50


class LabelInterval(NamedTuple):
    """One measure on one run: by the labels as they are, and by what documents probably are."""

    run: str
    measure: str
    column: str
    plain: float
    plain_low: float
    plain_high: float
    value: float  # the mean over drawn labels
    labels_low: float  # over labels alone
    labels_high: float
    low: float  # over labels and queries
    high: float


def label_intervals(
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    **known: Unpack[Known],
) -> list[LabelInterval]:
    """Intervals of measures of groups whose labels are uncertain.

    A membership is uncertain where documents have shares of several values: the probabilities of a
    classifier, raters who disagree, or labels that ``corrected`` has spread by their error rates. In each of
    ``draws`` rounds every document gets one value for all queries by chance: by its shares, or, where error
    rates are known, by them and by the shares of values where documents stand in the lists. The rounds are
    combined by Rubin's rules for multiple imputation.
    """
    inputs = Inputs.of(run, **known)
    uncertain = [group for group in inputs.groups if group.rates is not None or is_uncertain(group)]
    if not uncertain:
        raise ParameterError(
            "no label is uncertain: give shares of several values, votes of raters who disagree "
            "(votes = true under [groups.NAME]), or error rates of the labels (error = RATES)"
        )
    wanted = parse_measures(measures)
    observed = tuple(group.observed or group for group in inputs.groups)
    plain = evaluate(replace(inputs, groups=observed), wanted)
    generator = np.random.default_rng(seed)
    rows = []
    for name, ranking in inputs.runs.items():
        if not isinstance(ranking, Run):
            raise InputTypeError(f"run {name!r}: labels are drawn for one ranking a query, not for several")
        ranked = [None if group.rates is None else RankedLabels.of(ranking, group) for group in inputs.groups]
        rounds = []
        for _ in range(draws):
            groups = []
            for labels, group in zip(ranked, inputs.groups, strict=True):
                if labels is not None:
                    groups.append(labels.drawn(generator))
                else:
                    groups.append(drawn(group, generator) if is_uncertain(group) else group)
            one = replace(inputs, groups=tuple(groups), runs={name: ranking})
            rounds.append(evaluate(one, wanted).blocks)
        own = [block for block in plain.blocks if block.run == name]
        rows += [
            _interval(block, column, found)
            for block, found in zip(own, zip(*rounds, strict=True), strict=True)
            for column in range(len(block.columns))
        ]
    return rows


def _interval(plain: ScoresBlock, column: int, rounds: Sequence[ScoresBlock]) -> LabelInterval:
    """Rubin's rules: the variance is that within a round, over queries, and that between rounds."""
    estimates = np.array([block.aggregate(column) for block in rounds])
    estimates = estimates[np.isfinite(estimates)]
    own = plain.interval(column)
    name, value = plain.columns[column], float(estimates.mean()) if len(estimates) else math.nan
    about = (plain.run, repr(plain.measure), name, plain.aggregate(column), own.low, own.high, value)
    defined = [(block.defined(column), block.weights_of(column)) for block in rounds]
    queries = [(values, weights) for values, weights in defined if len(values) > 1]
    if len(estimates) < 2 or plain.measure.aggregation != "mean" or not queries:
        return LabelInterval(*about, math.nan, math.nan, math.nan, math.nan)
    between = (1 + 1 / len(estimates)) * float(estimates.var(ddof=1))
    within = float(np.mean([variance_of_mean(*found) for found in queries]))
    fewest = min(effective_number(np.ones(len(x)) if w is None else w) for x, w in queries)
    by_labels = between**0.5 * student_quantile(0.975, len(estimates) - 1)
    degrees = _degrees(within, between, len(estimates), fewest)
    both = (within + between) ** 0.5 * student_quantile(0.975, degrees)
    low, high = plain.range_of(plain.defined(column))
    ends = np.clip([value - by_labels, value + by_labels, value - both, value + both], low, high)
    return LabelInterval(*about, *ends.tolist())


def _degrees(within: float, between: float, rounds: int, queries: float) -> float:
    """Of the t distribution: Rubin's for many queries, and fewer for few (Barnard and Rubin 1999)."""
    share = between / (within + between) if within + between else 0.0
    observed = (1 - share) * (queries - 1) * queries / (queries + 2)
    imputed = (rounds - 1) / share**2 if share else math.inf
    return max(1.0, 1 / (1 / imputed + 1 / observed) if observed else imputed)


def label_table(rows: list[LabelInterval]) -> Table:
    ends = ("plain_low", "plain_high"), ("labels_low", "labels_high"), ("low", "high")
    rest = ["by the labels", "95% over queries", "corrected", "95% over labels", "95% over both"]
    cells = []
    for row in rows:
        plain, labels, both = (Interval(getattr(row, low), getattr(row, high)) for low, high in ends)
        measure = f"{row.measure} {row.column}".rstrip()
        cells.append((row.run, measure, row.plain, plain, row.value, labels, both))
    note = (
        "by the labels: as if every label were right; corrected: the mean over labels that are drawn by how "
        "likely each value is; over both: the queries could be others as well"
    )
    return Table.of(
        ["run", "measure", *rest],
        cells,
        words=2,
        notes=[note],
        records=[row._asdict() for row in rows],
        meaning=(
            "Where the interval over labels is wide, uncertain labels decide the value as much as "
            "the queries do."
        ),
    )
