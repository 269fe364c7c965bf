"""Which run is which system, of which class: a table, or the records beside the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from evenrank.comparison.audits.audited import RunLabel
from evenrank.errors import DataError
from evenrank.io.cells import id_cells
from evenrank.io.tables import any_table

RECORD = ".system.json"  # evenrank retrieve writes it beside a run


def read_systems(path: str) -> dict[str, RunLabel]:
    """A table with the columns ``run``, ``class``, perhaps ``system``; runs of one system are seeds."""
    table = any_table(path, "systems", "systems", format=None)
    if table is None:
        raise DataError(f"{path}: is no table of systems, with the columns run, class and perhaps system")
    frame, report, _, name = table
    missing = [column for column in ("run", "class") if column not in frame.names]
    if missing:
        raise DataError(f"{name}: has no column {missing[0]!r}: a table of systems has run, class and system")
    cells = [
        id_cells(frame.column(column), column, report).to_pylist()
        for column in ("run", "class", "system" if "system" in frame.names else "run")
    ]
    report.check()
    return {run: RunLabel(system, kind) for run, kind, system in zip(*cells, strict=True)}


def recorded_systems(paths: Mapping[str, str]) -> dict[str, RunLabel]:
    """What ``evenrank retrieve`` recorded beside runs, by the name of the run."""
    found = {}
    for name, path in paths.items():
        record = Path(path + RECORD)
        if record.is_file():
            try:
                kind = json.loads(record.read_text(encoding="utf-8"))["class"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            found[name] = RunLabel(name, str(kind))
    return found
