"""What PyTerrier does not know about a measure: how its queries combine, and which way is better.

``pt.Experiment`` takes our measures as they are (``evenrank.plugins.ir_measures``). Its own means add
up every query, so one undefined query makes the mean NaN, and it marks the largest value as the best.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import ir_measures

from evenrank.errors import ParameterError
from evenrank.measures import Direction, parse_measure

if TYPE_CHECKING:
    import pandas

__all__ = ["direction", "means"]


def means(per_query: pandas.DataFrame, eval_metrics: Iterable[Any]) -> pandas.DataFrame:
    """One row a system, one column a measure, from ``pt.Experiment(.., eval_metrics, perquery=True)``.

    Each measure combines its own queries; those where it is undefined are left out.
    """
    import pandas

    by_name = _by_name(eval_metrics)
    rows: dict[str, dict[str, float]] = {name: {} for name in per_query["name"].unique()}
    for key, values in per_query.groupby(["name", "measure"], sort=False)["value"]:
        system, name = map(str, key)
        if name not in by_name:
            raise ParameterError(f"{name!r} is in the table, but not among eval_metrics")
        aggregator = by_name[name].aggregator()
        for value in values.dropna().tolist():
            aggregator.add(value)
        rows[system][name] = aggregator.result()
    return pandas.DataFrame(
        [
            {"name": system, **{name: row[name] for name in by_name if name in row}}
            for system, row in rows.items()
        ]
    )


def direction(measure: Any) -> Direction:
    """What a larger value means; for measures of ir_measures it is taken to be better."""
    return parse_measure(str(measure)).direction


def _by_name(eval_metrics: Iterable[Any]) -> dict[str, Any]:
    """Measures under the names that PyTerrier gives them: trec_eval's for a string, else their own."""
    named: dict[str, Any] = {}
    for metric in eval_metrics:
        if not isinstance(metric, str):
            named[str(metric)] = metric
        elif metric != "mrt":  # the response time is no measure and not by query
            family = ir_measures.parse_trec_measure(metric)
            named.update({metric: family[0]} if len(family) == 1 else {str(one): one for one in family})
    return named
