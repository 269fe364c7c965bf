"""Values of several systems on the same queries, as one matrix for each measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.errors import ParameterError
from evenrank.measures import Direction, Measure
from evenrank.scores import INFINITE, OK, Scores, ScoresBlock
from evenrank.scores.names import arrow, full_name
from evenrank.scores.notes import ScoresNote
from evenrank.stats.difference import DifferenceInterval, mean_difference, resampled_difference
from evenrank.stats.weights import weighted_mean

MISSING = "the query is missing"
JUDGEMENTS = {"relevance": "judgements", "intents": "judgements by intent"}  # kinds of evidence


@dataclass(frozen=True, eq=False)
class MeasureTable:
    """One measure, or one column of it: (Q, S) values, NaN where undefined, and why."""

    measure: Measure
    column: str
    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats  # (Q, S)
    why: tuple[dict[int, str], ...]  # for each system, the rows that lack a finite value, and the reason
    shown: str = ""  # what people see instead of its name
    bounds: tuple[float, float] | None = None  # where groups and targets leave less than the measure's range
    weights: Floats | None = None  # (Q,): of the queries; None where each counts once

    def range_of(self, values: Floats) -> tuple[float, float]:
        """The range for intervals over these values."""
        return self.bounds or self.measure.range_of(values)

    @property
    def name(self) -> str:
        return full_name(repr(self.measure), self.column)

    @property
    def heading(self) -> str:
        return f"{self.shown or self.name} {arrow(self.measure.direction.value)}".rstrip()

    @property
    def lower_is_better(self) -> bool:
        return self.measure.direction in (Direction.LOWER, Direction.DISTANCE)

    @property
    def has_better(self) -> bool:
        """True where one value is better than another."""
        return self.measure.direction in (Direction.HIGHER, Direction.LOWER)

    def reason(self, row: int, place: int) -> str:
        """Why a system has no finite value for the query of a row."""
        return self.why[place].get(row, MISSING)

    def difference(self, system: str, other: str, *, seed: int = 0) -> DifferenceInterval:
        """What a system has more than another over the queries of both, with its 95% interval."""
        own, others = (self.values[:, self.place(each)] for each in (system, other))
        if self.measure.aggregation == "mean":
            bounds = self.range_of(np.concatenate([own, others]))
            return mean_difference(own, others, bounds, weights=self.weights)
        return resampled_difference(own, others, self.measure.aggregate, seed=seed)

    def mean(self, values: Floats, kept: Bools) -> float:
        """The aggregate of those values (Q,) that are kept; NaN where none is."""
        if self.weights is not None:
            return weighted_mean(values[kept], self.weights[kept])
        return float(self.measure.aggregate(values[kept])) if kept.any() else math.nan

    def place(self, system: str) -> int:
        if system not in self.systems:
            raise ParameterError(f"no system is called {system!r}; there are {', '.join(self.systems)}")
        return self.systems.index(system)


def tables_of(scores: Scores) -> tuple[MeasureTable, ...]:
    """A table for every measure and column, over all queries that any system has."""
    systems = scores.runs
    tables = []
    for measure in scores.measures:
        blocks = [block for block in scores.blocks if block.measure == measure]
        columns = tuple(dict.fromkeys(column for block in blocks for column in block.columns))
        queries = tuple(dict.fromkeys(query for block in blocks for query in block.query_ids))
        place = {query: row for row, query in enumerate(queries)}
        for column in columns:
            values = np.full((len(queries), len(systems)), np.nan)
            why: list[dict[int, str]] = [{} for _ in systems]
            for block in blocks:
                _fill(values, why, block, column, systems.index(block.run), place)
            shown = scores.names.of(repr(measure), column)
            own = [block.bounds for block in blocks if block.bounds is not None]
            bounds = (min(low for low, _ in own), max(high for _, high in own)) if own else None
            tables.append(
                MeasureTable(
                    measure, column, systems, queries, values, tuple(why), shown, bounds,
                    _weights(blocks, place) if any(block.weights is not None for block in blocks) else None,
                )
            )  # fmt: skip
    return tuple(tables)


def _weights(blocks: Sequence[ScoresBlock], place: dict[str, int]) -> Floats:
    """(Q,): what the queries weigh; those of systems that were scored without weights count once."""
    weights = np.ones(len(place))
    for block in blocks:
        if block.weights is not None:
            weights[[place[query] for query in block.query_ids]] = block.weights
    return weights


def _fill(
    values: Floats,
    why: list[dict[int, str]],
    block: ScoresBlock,
    column: str,
    system: int,
    place: dict[str, int],
) -> None:
    if column not in block.columns:
        return
    index = block.columns.index(column)
    rows = [place[query] for query in block.query_ids]
    values[rows, system] = block.values[:, index]
    for row in np.flatnonzero(block.status[:, index]).tolist():
        if (reason := block.reasons[block.status[row, index]]) != OK:
            why[system][rows[row]] = reason
    values[[r for r, code in zip(rows, block.status[:, index], strict=True) if code == 1], system] = np.where(
        np.isposinf(block.values[block.status[:, index] == 1, index]), np.inf, -np.inf
    )


def joined(parts: Sequence[tuple[str, Scores]]) -> Scores:
    """Scores of several evaluations as one.

    Values with other backgrounds or judgements do not compare, nor do those of a measure that became another
    one with other evidence. Other words, groups or opinions may be those of other documents: that is said.
    """
    blocks: list[ScoresBlock] = []
    notes: dict[str, tuple[ScoresNote, ...]] = {}
    labels = {name: label for _, scores in parts for name, label in scores.labels.items()}
    backgrounds: dict[str, str] = {}
    judgements: dict[str, dict[str, str]] = {kind: {} for kind in JUDGEMENTS}
    others: dict[str, dict[str, str]] = {}
    for name, scores in parts:
        several = len(scores.runs) > 1
        for block in scores.blocks:
            called = f"{name}: {block.run}" if several else name
            blocks.append(replace(block, run=called))
            notes.setdefault(called, scores.notes_by_run.get(block.run, ()))
        needs = [need for measure in scores.measures for need in measure.needs]
        background = (scores.provenance.get("background") or {}).get("sha256")
        if background is not None and any("background" in need for need in needs):
            backgrounds[name] = background
        for kind, digests in judgements.items():
            digest = ((scores.provenance.get("evidence") or {}).get(kind) or {}).get("sha256")
            if digest is not None and any(need.endswith(f".{kind}") for need in needs):
                digests[name] = digest
        for kind, facts in (scores.provenance.get("evidence") or {}).items():
            if kind not in JUDGEMENTS and any(need.endswith(f".{kind}") for need in needs):
                others.setdefault(kind, {})[name] = facts["sha256"]
    _same("backgrounds", backgrounds, "evaluate all runs at once, with one background=")
    for kind, digests in judgements.items():
        _same(JUDGEMENTS[kind], digests, "evaluate all runs with the same ones")
    _same_meaning(parts)
    for kind, digests in others.items():
        if len(set(digests.values())) > 1:
            said = f"{kind}: not the same for all systems, which is right only if documents differ, not data"
            notes = {called: (*own, ScoresNote("joined", said)) for called, own in notes.items()}
    return Scores(tuple(blocks), notes, labels=labels)


def _same_meaning(parts: Sequence[tuple[str, Scores]]) -> None:
    """A measure that leaves something open must have become the same one everywhere."""
    became: dict[str, dict[str, str]] = {}
    for name, scores in parts:
        meaning = scores.provenance.get("measures") or {}
        for measure in map(repr, scores.measures):
            became.setdefault(measure, {})[name] = meaning.get(measure, measure)
    for measure, meanings in became.items():
        if len(set(meanings.values())) > 1:
            listed = "; ".join(f"{name}: {meaning}" for name, meaning in meanings.items())
            raise ParameterError(
                f"{measure} means different things in these scores and does not compare: {listed}; "
                "name all its parameters, or evaluate all runs at once"
            )


def _same(what: str, digests: dict[str, str], way_out: str) -> None:
    if len(set(digests.values())) > 1:
        listed = ", ".join(f"{name} ({digest[:8]})" for name, digest in digests.items())
        raise ParameterError(f"these scores have different {what} and do not compare: {listed}; {way_out}")


__all__ = ["INFINITE", "MeasureTable", "joined", "tables_of"]
