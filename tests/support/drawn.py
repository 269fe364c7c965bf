"""Scores with given values, and what a chart draws of them."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import evenrank as er

UNDEFINED = "nothing to count"  # the reason why a value is not there
HOSTILE = (
    "</script><script>alert(1)</script>",
    "a run with a very long name " * 12,
    "\u202eright to left שלום عربي",
    "👩‍🔬🏆 run",
    "=cmd|' /C calc'!A0",
    "datum.value; [x] {{y}} \\n \n\x1b[2J",
    "",
)


def made(
    runs: Mapping[str, Mapping[str, Sequence[float] | Mapping[str, Sequence[float]]]],
    queries: Sequence[str] = (),
    provenance: Mapping[str, Any] | None = None,
    notes: Mapping[str, Sequence[str]] | None = None,
    reason: str = UNDEFINED,
) -> er.Scores:
    """``{run: {measure: values}}`` as scores, read from a file of them: NaN is undefined for this reason.

    Values are of one query after the other, or ``{column: values}``.
    """
    blocks: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    for run, measures in runs.items():
        for name, given in measures.items():
            columns = given if isinstance(given, Mapping) else {"": given}
            count = len(next(iter(columns.values())))
            ids = tuple(queries or (f"q{place}" for place in range(count)))[:count]
            blocks.append({"run": run, "measure": name, "columns": [*columns], "queries": count})
            for place, query in enumerate(ids):
                for column, values in columns.items():
                    said = {"run": run, "query": query, "measure": name, "column": column}
                    written.append(said | _value(float(values[place]), reason))
    head = {
        "kind": "evenrank scores",
        "version": 1,
        "provenance": dict(provenance or {}),
        "notes": {run: list(said) for run, said in (notes or {}).items()},
        "blocks": blocks,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in (head, *written)), encoding="utf-8")
        return er.Scores.read(path)


def _value(value: float, reason: str) -> dict[str, Any]:
    if math.isfinite(value):
        return {"value": value, "status": "ok"}
    if math.isnan(value):
        return {"value": None, "status": reason}
    return {"value": "Infinity" if value > 0 else "-Infinity", "status": "infinite"}


def layers(chart: Any) -> list[dict[str, Any]]:
    """The layers of a chart of one panel, each with its own rows."""
    whole = chart.to_dict()
    return [{"data": whole.get("data"), **layer} for layer in whole["layer"]]


def marks(found: Sequence[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    return (layer for layer in found if layer["mark"]["type"] == kind)


def rows(layer: dict[str, Any]) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = layer["data"]["values"]
    return values
