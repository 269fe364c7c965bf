"""Numbers of documents, as prices and ages, as ordered groups: so many of about equal size, or by edges."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Floats, Int64s
from evenrank.errors import DataError, EvenrankWarning, ParameterError
from evenrank.ids import as_strings
from evenrank.io.cells import is_missing, one_array, score_cells
from evenrank.io.groups.entries import empty_cells, filled
from evenrank.io.row_problems import RowProblems

Bins = int | tuple[float, ...]
CURE = (
    "bins=4 makes four ordered groups of about the same size of them, bins=10,50 groups between these edges "
    "(in Python bins=[10, 50], in the shell FILE:bins=4)"
)
MANY = 20  # different numbers, of which more are probably quantities and not the names of groups


def checked_bins(name: str, bins: int | Sequence[float]) -> Bins:
    """How many groups, or the edges between them.

    >>> checked_bins("price", 4), checked_bins("price", [10, 49.5])
    (4, (10.0, 49.5))
    """
    what = f"attribute {name!r}: bins must be a number of groups >= 2, or rising edges between them"
    if isinstance(bins, int) and not isinstance(bins, bool):
        if bins < 2:
            raise ParameterError(f"{what}, got {bins}")
        return bins
    try:
        edges = tuple(float(edge) for edge in bins)  # type: ignore[union-attr]
    except (TypeError, ValueError):
        raise ParameterError(f"{what}, got {bins!r}") from None
    rising = all(one < two for one, two in pairwise(edges))
    if not edges or not rising or not all(map(math.isfinite, edges)):
        raise ParameterError(f"{what}, got {bins!r}")
    return edges


def binned(
    cells: Any, name: str, bins: Bins, report: RowProblems, *, text: bool
) -> tuple[Int64s, pa.LargeStringArray, tuple[str, ...]]:
    """The rows that have a number, the group of each, and the groups from the lowest to the highest.

    The names of groups say which numbers they hold.
    """
    cells = one_array(cells)
    missing = empty_cells(cells)  # (R,)
    if isinstance(cells, pa.Array) and pa.types.is_floating(cells.type):
        missing = pc.is_null(cells, nan_is_null=True).to_numpy(zero_copy_only=False)
    whole = filled(cells, missing, text=text) if missing.any() else cells
    found = score_cells(whole, report, name, text=text)
    report.check()
    rows = np.flatnonzero(~missing)
    numbers = found[rows]
    if not len(numbers):
        raise DataError(f"{report.source}: no document has a number of {name!r}")
    codes, names = _by_size(numbers, name, bins) if isinstance(bins, int) else _by_edges(numbers, bins)
    return rows, as_strings([names[code] for code in codes.tolist()]), names


def _by_size(numbers: Floats, name: str, count: int) -> tuple[Int64s, tuple[str, ...]]:
    """Groups of about the same size, which end at numbers that documents have: equal ones stay together."""
    edges = np.unique(np.quantile(numbers, np.arange(1, count) / count, method="inverted_cdf"))
    edges = edges[edges < numbers.max()]
    if not len(edges):
        raise DataError(f"attribute {name!r}: all documents have the same number, {_shown(numbers[0])}")
    if len(edges) + 1 < count:
        warnings.warn(
            f"attribute {name!r}: {len(edges) + 1} groups instead of {count}, since many documents have the "
            "same number",
            EvenrankWarning,
            stacklevel=2,
        )
    codes = np.searchsorted(edges, numbers, side="left")
    highest = [*edges.tolist(), float(numbers.max())]
    lowest = [float(numbers[codes == code].min()) for code in range(len(highest))]
    names = (
        _shown(low) if low == high else f"{_shown(low)} to {_shown(high)}"
        for low, high in zip(lowest, highest, strict=True)
    )
    return codes, tuple(names)


def _by_edges(numbers: Floats, edges: tuple[float, ...]) -> tuple[Int64s, tuple[str, ...]]:
    """Groups between edges; a number at an edge is in the group above it."""
    between = (f"{_shown(one)} to below {_shown(two)}" for one, two in pairwise(edges))
    names = (f"below {_shown(edges[0])}", *between, f"{_shown(edges[-1])} or more")
    return np.searchsorted(np.array(edges), numbers, side="right"), names


def _shown(number: float) -> str:
    return np.format_float_positional(number, trim="-")


def refuse_quantities(labels: Sequence[str], name: str, source: str) -> None:
    """Say of labels that are many different numbers how they become groups.

    Numbers with a part behind the point are no labels then. Whole ones may be: as those of brands.
    """
    if len(labels) <= MANY:
        return
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return
    if not np.isfinite(numbers).all():
        return
    lowest, highest = _shown(numbers.min()), _shown(numbers.max())
    found = f"{source}: {name!r} has {len(labels):,} different numbers, {lowest} to {highest}"
    if (numbers % 1 != 0).any():
        raise DataError(f"{found}: {CURE}")
    told = f"{found}: each is a group of its own; where they are quantities, {CURE}"
    warnings.warn(told, EvenrankWarning, stacklevel=2)


def refuse_fractions(cells: Any, name: str, source: str) -> None:
    """The same of a typed column of numbers, in which one with a part behind the point is never a label."""
    cells = one_array(cells)
    if isinstance(cells, pa.Array):
        cells = cells.to_numpy(zero_copy_only=False) if pa.types.is_floating(cells.type) else ()
    found = [cell for cell in cells if not is_missing(cell)]
    if not all(isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool) for cell in found):
        return
    numbers = np.array(found, np.float64)
    if (np.isfinite(numbers) & (numbers % 1 != 0)).any():
        raise DataError(f"{source}: {name!r} has numbers with a part behind the point, not labels: {CURE}")
