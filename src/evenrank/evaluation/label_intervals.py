"""Intervals that include the error of labels: labels are drawn again together with the queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from evenrank.data.label_error import drawn, is_uncertain
from evenrank.data.membership import Membership
from evenrank.data.ranked_labels import RankedLabels
from evenrank.data.run import Run
from evenrank.errors import InputTypeError, ParameterError
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs, Known
from evenrank.measures import parse_measures
from evenrank.scores.scores import aggregated
from evenrank.stats.intervals import expanded_level
from evenrank.tables import Interval, Table

if TYPE_CHECKING:
    from evenrank.measures.registry import MeasureLike

DRAWS = 200


class LabelInterval(NamedTuple):
    """One measure on one run: by the labels as they are, and by what documents probably are."""

    run: str
    measure: str
    column: str
    plain: float
    plain_low: float
    plain_high: float
    value: float  # the mean over drawn labels
    labels_low: float  # over drawn labels alone
    labels_high: float
    low: float  # over drawn labels and drawn queries
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
    ``draws`` rounds the queries are drawn with replacement and every document gets one value by chance: by
    its shares, or, where error rates are known, by them and by the shares of values at its ranks.
    """
    inputs = Inputs.of(run, **known)
    uncertain = [group for group in inputs.groups if is_uncertain(group)]
    if not uncertain:
        raise ParameterError(
            "no label is uncertain: give shares of several values, votes of raters who disagree "
            "(--groups NAME=FILE:votes), or error rates of the labels (--groups NAME=FILE:error=RATES)"
        )
    wanted = parse_measures(measures)
    plain = evaluate(_with_groups(inputs, [group.observed or group for group in inputs.groups]), wanted)
    generator = np.random.default_rng(seed)
    values: list[list[Any]] = [[] for _ in plain.blocks]
    for name, ranking in inputs.runs.items():
        if not isinstance(ranking, Run):
            raise InputTypeError(f"run {name!r}: labels are drawn for one ranking a query, not for several")
        own = [place for place, block in enumerate(plain.blocks) if block.run == name]
        ranked = [None if group.rates is None else RankedLabels.of(ranking, group) for group in inputs.groups]
        places = {query: place for place, query in enumerate(ranking.query_ids)}
        for _ in range(draws):
            chosen = generator.integers(0, len(ranking.query_ids), len(ranking.query_ids))
            groups = [
                labels.drawn(chosen, generator)
                if labels is not None
                else drawn(group, generator)
                if is_uncertain(group)
                else group
                for labels, group in zip(ranked, inputs.groups, strict=True)
            ]
            one = replace(_with_groups(inputs, groups), runs={name: ranking})
            for place, block in zip(own, evaluate(one, wanted).blocks, strict=True):
                drawn_rows = [places.get(query, -1) for query in block.query_ids]
                times = np.bincount(chosen, minlength=len(places))
                weights = np.array([times[row] if row >= 0 else 1 for row in drawn_rows])
                values[place].append((block.values, weights))
    rows = []
    for block, found in zip(plain.blocks, values, strict=True):
        stacked = np.stack([table for table, _ in found])  # (D, Q, C)
        times = np.stack([often for _, often in found])  # (D, Q): how often each query was drawn
        queries = stacked.shape[1]
        for column, name in enumerate(block.columns):
            table = stacked[:, :, column]
            of_labels = _means(block.measure, table)
            again = [np.repeat(row, often) for row, often in zip(table, times, strict=True)]
            of_both = _means(block.measure, again)
            interval = block.interval(column)
            rows.append(
                LabelInterval(
                    block.run,
                    repr(block.measure),
                    name,
                    block.aggregate(column),
                    interval.low,
                    interval.high,
                    float(np.nanmean(of_labels)),
                    *_percentiles(of_labels, 0.95),
                    *_percentiles(of_both, expanded_level(0.95, max(2, queries))),
                )
            )
    return rows


def label_table(rows: list[LabelInterval]) -> Table:
    head = [
        "run",
        "measure",
        "by the labels",
        "95% over queries",
        "corrected",
        "95% over labels",
        "95% over both",
    ]
    cells = [
        (
            row.run, row.measure + (f" {row.column}" if row.column else ""), row.plain,
            Interval(row.plain_low, row.plain_high), row.value, Interval(row.labels_low, row.labels_high),
            Interval(row.low, row.high),
        )
        for row in rows
    ]  # fmt: skip
    note = (
        "by the labels: as if every label were right; corrected: the mean over labels that are drawn by how "
        "likely each value is; over both: queries are drawn again as well"
    )
    return Table.of(
        head,
        cells,
        words=2,
        notes=[note],
        records=[row._asdict() for row in rows],
        meaning=(
            "Where the interval over labels is wide, uncertain labels decide the value as much as "
            "the queries do."
        ),
    )


def _with_groups(inputs: Inputs, groups: list[Membership]) -> Inputs:
    return replace(inputs, groups=tuple(groups))


def _means(measure: Any, values: Any) -> Any:
    return np.array([aggregated(measure, row[np.isfinite(row)], row[np.isinf(row)]) for row in values])


def _percentiles(values: Any, level: float) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return float("nan"), float("nan")
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
