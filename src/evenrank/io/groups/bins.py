"""Numbers of documents, as prices and ages, as ordered groups: so many of about equal size, or by edges."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.errors import DataError, EvenrankWarning, ParameterError

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
    if isinstance(bins, int) and not isinstance(bins, bool) and bins >= 2:
        return bins
    try:
        edges = tuple(float(edge) for edge in bins)  # type: ignore[union-attr]
    except (TypeError, ValueError):
        edges = ()
    if not edges or not all(map(math.isfinite, edges)) or not all(one < two for one, two in pairwise(edges)):
        raise ParameterError(
            f"attribute {name!r}: bins must be a number of groups >= 2, or rising edges between them, "
            f"got {bins!r}"
        )
    return edges


def binned(numbers: Floats, name: str, bins: Bins) -> tuple[Int64s, tuple[str, ...]]:
    """The group of each number, and the groups from the lowest to the highest: their names say which numbers
    they hold. A number at an edge is in the group above it."""
    if isinstance(bins, int):
        return _of_like_size(numbers, name, bins)
    between = (f"{_shown(one)} to below {_shown(two)}" for one, two in pairwise(bins))
    names = (f"below {_shown(bins[0])}", *between, f"{_shown(bins[-1])} or more")
    return np.searchsorted(np.array(bins), numbers, side="right"), names


def _of_like_size(numbers: Floats, name: str, count: int) -> tuple[Int64s, tuple[str, ...]]:
    """Groups end at numbers that documents have: equal ones stay together."""
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
    names = []
    for code in range(len(edges) + 1):
        low, high = (_shown(end) for end in (numbers[codes == code].min(), numbers[codes == code].max()))
        names.append(low if low == high else f"{low} to {high}")
    return codes, tuple(names)


def _shown(number: float) -> str:
    return np.format_float_positional(number, trim="-")


def refuse_quantities(labels: Sequence[str], name: str, source: str) -> None:
    """Say of labels that are shares, or many different numbers, how they become groups. Many with a part
    behind the point are no labels; whole ones may be, as those of brands."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return
    fractions = (numbers % 1 != 0).any()
    shares = fractions and numbers.min() >= 0 and numbers.max() <= 1
    if not np.isfinite(numbers).all() or (len(labels) <= MANY and not shares):
        return
    lowest, highest = _shown(numbers.min()), _shown(numbers.max())
    found = f"{source}: {name!r} has {len(labels):,} different numbers, {lowest} to {highest}"
    if fractions:
        raise DataError(f"{found}: {CURE}; name columns of shares, or labels, with values= (FILE:values=A,B)")
    told = f"{found}: each is a group of its own; where they are quantities, {CURE}"
    warnings.warn(told, EvenrankWarning, stacklevel=2)
