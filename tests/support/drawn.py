"""Scores with given values, and what a chart draws of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import evenrank as er
from evenrank.scores import ScoresBlock

REASONS = ("ok", "infinite", "no relevant document")
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
    runs: Mapping[str, Mapping[str, Sequence[float]]],
    queries: Sequence[str] = (),
    provenance: Mapping[str, Any] | None = None,
) -> er.Scores:
    """``{run: {measure: values}}`` as scores: NaN is undefined."""
    blocks = []
    for run, measures in runs.items():
        for name, given in measures.items():
            values = np.array(given, dtype=np.float64)[:, None]
            status = np.select([np.isnan(values), np.isinf(values)], [2, 1], 0).astype(np.int16)
            ids = tuple(queries or (f"q{place}" for place in range(len(values))))
            blocks.append(ScoresBlock(run, er.parse_measure(name), ids, ("",), values, status, REASONS))
    return er.Scores(tuple(blocks), {}, lambda: provenance or {})


def layers(chart: Any) -> list[dict[str, Any]]:
    """The layers of a chart of one panel, each with its own rows."""
    whole = chart.to_dict()
    return [{"data": whole.get("data"), **layer} for layer in whole["layer"]]


def marks(found: Sequence[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    return (layer for layer in found if layer["mark"]["type"] == kind)


def rows(layer: dict[str, Any]) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = layer["data"]["values"]
    return values
