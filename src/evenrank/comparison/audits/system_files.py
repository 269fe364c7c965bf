"""Which run is which system, of which class: a table, the run's own name, a record beside it, or scores."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenrank.comparison.audits.audited import RunLabel
from evenrank.errors import DataError, EvenrankWarning
from evenrank.io.cells import id_cells
from evenrank.io.run_record import RECORD_SUFFIX, read_record
from evenrank.io.tables import the_table
from evenrank.scores import Scores


def read_systems(path: str) -> dict[str, RunLabel]:
    """A table with the columns ``run``, ``class``, perhaps ``system``; runs of one system are seeds."""
    table = the_table(path, "systems")
    missing = [column for column in ("run", "class") if column not in table.names]
    if missing:
        raise DataError(
            f"{table.name}: has no column {missing[0]!r}: a table of systems has run, class and system"
        )
    cells = [
        id_cells(table.column(column), column, table.report).to_pylist()
        for column in ("run", "class", "system" if "system" in table.names else "run")
    ]
    table.report.check()
    return {run: RunLabel(system, kind) for run, kind, system in zip(*cells, strict=True)}


def labelled_systems(files: Mapping[str, tuple[str, Mapping[str, Any]]]) -> dict[str, RunLabel]:
    """By the name of the run: ``class`` and ``system`` of its table in the project file, else the class that
    ``evenrank retrieve`` recorded beside it."""
    found = {}
    for name, (path, options) in files.items():
        kind = options.get("class") or _recorded_class(path)
        system = options.get("system")
        if kind is not None or system is not None:
            found[name] = RunLabel(system or name, kind or "")
    return found


def _recorded_class(path: str) -> str | None:
    """The class that a record beside a run names, if the run is still the one that it was written for."""
    record, changed = read_record(path)
    kind = str(record.get("class") or "")
    if changed and kind:
        warnings.warn(
            EvenrankWarning(
                f"{path} has changed since {Path(path).name}{RECORD_SUFFIX} was written beside it, so the "
                f"class {kind!r} that is recorded there is not used: if you know it, say "
                f"class = {json.dumps(kind)} in the table [data.runs.NAME] of the project file"
            ),
            stacklevel=2,
        )
    return None if changed else kind or None


def recorded_system(path: str) -> tuple[str, str] | None:
    """The system that made a run and its class, by the record beside it; None where that is not known."""
    record, changed = read_record(path)
    system, kind = (record.get(key) for key in ("system", "class"))
    return None if changed or not system or not kind else (str(system), str(kind))


def with_systems(scores: Scores, labels: Mapping[str, RunLabel]) -> Scores:
    """The same scores, whose files say which run is which system."""
    if not labels:
        return scores
    named = {run: {"system": label.system, "class": label.system_class} for run, label in labels.items()}
    return replace(scores, describe_inputs=lambda: {**scores.provenance, "systems": named})


def scored_systems(corpora: Mapping[str, Scores]) -> dict[str, RunLabel]:
    """What files of scores say about their runs; of two that differ, the first counts."""
    found: dict[str, RunLabel] = {}
    for scores in corpora.values():
        named = scores.provenance.get("systems")
        for run, facts in named.items() if isinstance(named, dict) else ():
            if isinstance(facts, dict) and {"system", "class"} <= facts.keys():
                found.setdefault(run, RunLabel(str(facts["system"]), str(facts["class"])))
    return found
