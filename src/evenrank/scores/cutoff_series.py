"""Which scores make one line: the same measure on the same run, at several cut-offs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from evenrank.measures import Delegated, Measure, WeightedSum
from evenrank.measures.combined import CombinedMeasure
from evenrank.measures.missing import without_missing
from evenrank.scores import Scores
from evenrank.scores.names import full_name


class Point(NamedTuple):
    """One value of a line. ``low`` and ``high`` are its interval. ``title`` is the panel's name without the
    rule for documents without evidence, which stands in ``missing``: it is long, and the same in all panels.
    """

    panel: str
    title: str
    missing: str
    run: str
    cutoff: int
    value: float
    low: float
    high: float
    defined: int
    aggregation: str
    direction: str


def without_cutoff(measure: Measure) -> tuple[str, int] | None:
    """What the measure is called without its cut-off, and the cut-off; None where it has none.

    >>> from evenrank.measures import parse_measure
    >>> without_cutoff(parse_measure("TExFAIR(rbdf=False)@10"))
    ('TExFAIR(rbdf=False)', 10)
    """
    if isinstance(measure, CombinedMeasure):
        parts = [without_cutoff(part) for part in measure.measures]
        depths = {None if found is None else found[1] for found in parts}
        depth = depths.pop()
        if depth is None or depths:  # parts with other cut-offs make no common line
            return None
        names = [found[0] for found in parts if found is not None]
        if not isinstance(measure, WeightedSum):
            return "*".join(names), depth
        weights = [weight for weight, _ in measure.terms]
        return " + ".join(f"{weight!r}*{name}" for weight, name in zip(weights, names, strict=True)), depth
    if isinstance(measure, Delegated):
        name, at, depth_text = measure.text.rpartition("@")
        return (name, int(depth_text)) if at else None
    return None if measure.cutoff is None else (repr(replace(measure, cutoff=None)), measure.cutoff)


def points_of(scores: Scores) -> Iterator[Point]:
    """The values at all cut-offs, panel by panel, as the summary of the scores has them."""
    series = {measure: found for measure in scores.measures if (found := without_cutoff(measure)) is not None}
    labels: dict[str, str] = {}  # a label of one cut-off is that of the line
    for measure, (panel, cutoff) in series.items():
        if label := scores.labels.get(repr(measure)):
            labels.setdefault(panel, label.removesuffix(f"@{cutoff}"))
    rows = iter(scores.summary())  # block by block, column by column
    for block in scores.blocks:
        for column, row in zip(block.columns, rows, strict=False):
            if block.measure not in series:
                continue
            panel, cutoff = series[block.measure]
            rule = getattr(block.measure, "missing", None)
            plain = without_cutoff(without_missing(block.measure)) if rule else None
            bare = panel if plain is None else plain[0]
            missing = f"missing={rule!r}" if bare != panel else ""
            title = full_name(labels.get(panel, bare), column)
            yield Point(
                full_name(panel, column), title, missing, row.run, cutoff, row.value, row.low, row.high,
                row.defined, row.aggregation, row.direction,
            )  # fmt: skip
