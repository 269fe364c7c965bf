"""Bringing rows into rank order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Int64s, integers, values_of
from evenrank.ids import move, take


@dataclass(frozen=True)
class Order:
    """Where the rows of the input go.

    ``rows`` has the row of the input for every place. In most files nothing moves but a few documents
    of equal score, next to each other: then only ``places`` and the rows that come there are kept, and
    the columns are changed there alone.
    """

    rows: Int64s | None = None  # (N,)
    places: Int64s | None = None  # (M,), ascending: whole blocks of neighbours
    origins: Int64s | None = None  # (M,)

    def apply(self, column: npt.NDArray[Any], *, own: bool = False) -> npt.NDArray[Any]:
        """The column in this order; one that is the caller's ``own`` may be changed in place."""
        if self.rows is not None:
            return column[self.rows]
        if self.places is None or self.origins is None:
            return column
        moved = column[self.origins]
        if moved.tobytes() == column[self.places].tobytes():  # equal scores are, but for 0.0 and -0.0
            return column
        column = column if own else column.copy()
        column[self.places] = moved
        return column

    def apply_to_strings(self, strings: pa.LargeStringArray) -> pa.LargeStringArray:
        if self.rows is not None:
            return take(strings, self.rows)
        if self.places is None or self.origins is None:
            return strings
        return move(strings, self.places, self.origins)


def rank_order(
    codes: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float64],
    doc_ids: pa.LargeStringArray,
    *,
    by_id: bool,
) -> Order:
    """By query, then score descending, then document id descending or, without ``by_id``, as they come."""
    rows = None
    if not _falls(codes, scores):
        rows = np.lexsort((-scores, codes))  # stable, so equal scores keep the order of the file
        codes, scores = codes[rows], scores[rows]
    if not by_id:
        return Order(rows)
    # a row and the next one belong to the same query and have the same score
    tied = (codes[1:] == codes[:-1]) & (scores[1:] == scores[:-1])
    if not tied.any():
        return Order(rows)
    member = np.zeros(len(codes), dtype=bool)
    member[1:] |= tied
    member[:-1] |= tied
    places = np.flatnonzero(member)
    begins = np.ones(len(places), dtype=bool)
    begins[1:] = ~tied[places[1:] - 1]
    group = np.cumsum(begins)  # one number for each block of equal scores
    origins = places if rows is None else rows[places]
    table = pa.table({"group": integers(group), "document": take(doc_ids, origins)})
    keys = [("group", "ascending"), ("document", "descending")]
    moved = origins[values_of(pc.sort_indices(table, sort_keys=keys))]
    if rows is None:
        return Order(None, places, moved) if (moved != places).any() else Order()
    rows[places] = moved
    return Order(rows)


def _falls(codes: npt.NDArray[np.int32], scores: npt.NDArray[np.float64]) -> bool:
    """Whether queries come one after another and no score rises within one."""
    before, after = codes[:-1], codes[1:]
    if (after < before).any():
        return False
    return not ((scores[1:] > scores[:-1]) & (after == before)).any()
