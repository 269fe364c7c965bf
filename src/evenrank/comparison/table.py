"""Values of several systems on the same queries, as one matrix for each measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenrank.errors import ParameterError
from evenrank.measures import Direction, Measure
from evenrank.scores import INFINITE, OK, Scores, ScoresBlock

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """One measure, or one column of it: (Q, S) values, NaN where undefined, and why."""

    measure: Measure
    column: str
    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats  # (Q, S)
    reasons: tuple[dict[str, int], ...]  # for each system, how many queries lack a value, by reason

    @property
    def name(self) -> str:
        return repr(self.measure) + (f"[{self.column}]" if self.column else "")

    @property
    def lower_is_better(self) -> bool:
        return self.measure.direction in (Direction.LOWER, Direction.DISTANCE)

    @property
    def has_better(self) -> bool:
        """True where one value is better than another."""
        return self.measure.direction in (Direction.HIGHER, Direction.LOWER)

    def place(self, system: str) -> int:
        if system not in self.systems:
            raise ParameterError(f"no system is called {system!r}; there are {', '.join(self.systems)}")
        return self.systems.index(system)


def tables_of(scores: Scores) -> tuple[Table, ...]:
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
            reasons: list[dict[str, int]] = [{} for _ in systems]
            for block in blocks:
                _fill(values, reasons, block, column, systems.index(block.run), place)
            tables.append(Table(measure, column, systems, queries, values, tuple(reasons)))
    return tuple(tables)


def _fill(
    values: Floats,
    reasons: list[dict[str, int]],
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
    counts = np.bincount(block.status[:, index], minlength=len(block.reasons))
    found = {
        reason: int(count)
        for reason, count in zip(block.reasons, counts, strict=True)
        if count and reason != OK
    }
    reasons[system].update(found)
    values[[r for r, code in zip(rows, block.status[:, index], strict=True) if code == 1], system] = np.where(
        np.isposinf(block.values[block.status[:, index] == 1, index]), np.inf, -np.inf
    )


def joined(parts: Sequence[tuple[str, Scores]]) -> Scores:
    """Scores of several evaluations as one; values with different backgrounds do not compare."""
    blocks: list[ScoresBlock] = []
    notes: dict[str, tuple[str, ...]] = {}
    backgrounds: dict[str, str] = {}
    for name, scores in parts:
        several = len(scores.runs) > 1
        for block in scores.blocks:
            called = f"{name}: {block.run}" if several else name
            blocks.append(replace(block, run=called))
            notes.setdefault(called, scores.notes.get(block.run, ()))
        background = (scores.provenance.get("background") or {}).get("sha256")
        if background is not None and any("background" in str(n) for m in scores.measures for n in m.needs):
            backgrounds[name] = background
    if len(set(backgrounds.values())) > 1:
        listed = ", ".join(f"{name} ({digest[:8]})" for name, digest in backgrounds.items())
        raise ParameterError(
            f"these scores have different backgrounds and do not compare: {listed}; "
            "evaluate all runs at once, with one background="
        )
    return Scores(tuple(blocks), notes)


__all__ = ["INFINITE", "Table", "joined", "tables_of"]
