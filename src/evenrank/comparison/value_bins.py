"""How values are spread: bins that all systems share, so that their histograms have one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenrank.arrays import Floats

BINS = 20


@dataclass(frozen=True)
class ValueBins:
    """``counts[s][b]`` values of system ``s`` lie from ``edges[b]`` up to ``edges[b + 1]``."""

    edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]


def value_bins(values: Floats, bins: int = BINS) -> ValueBins:
    """Equal bins from the smallest to the largest value of all columns (Q, S); NaN and infinite ones are out.

    >>> value_bins(np.array([[0.0, 1.0], [0.5, 1.0]]), 2)
    ValueBins(edges=(0.0, 0.5, 1.0), counts=((1, 1), (0, 2)))
    """
    known = values[np.isfinite(values)]
    if not len(known) or known.min() == known.max():
        return ValueBins((), ())
    edges = np.round(np.linspace(known.min(), known.max(), bins + 1), 6)
    edges[0], edges[-1] = min(edges[0], known.min()), max(edges[-1], known.max())
    counts = [np.histogram(column[np.isfinite(column)], edges)[0] for column in values.T]
    return ValueBins(tuple(edges.tolist()), tuple(tuple(row.tolist()) for row in counts))


def rounded(texts: Sequence[str]) -> Floats:
    """Numbers as they are written; what is none is NaN.

    >>> rounded(["0.5000", "undefined"]).tolist()
    [0.5, nan]
    """
    return np.array([_number(text) for text in texts], dtype=np.float64)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
