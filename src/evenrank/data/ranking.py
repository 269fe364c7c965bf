"""Bringing rows into rank order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Int64s, integers, values_of
from evenrank.ids import take


def rank_order(
    codes: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float64],
    doc_ids: pa.LargeStringArray,
    *,
    by_id: bool,
) -> Int64s | None:
    """By query, then score descending, then document id descending or, without ``by_id``, as they come.

    The row of the input for every place; None where the rows stand in this order already.
    """
    rows = None
    if not _falls(codes, scores):
        rows = np.lexsort((-scores, codes))  # stable, so equal scores keep the order of the file
        codes, scores = codes[rows], scores[rows]
    if not by_id:
        return rows
    # a row and the next one belong to the same query and have the same score
    tied = (codes[1:] == codes[:-1]) & (scores[1:] == scores[:-1])
    if not tied.any():
        return rows
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
        if (moved == places).all():
            return None
        rows = np.arange(len(codes))
    rows[places] = moved
    return rows


def _falls(codes: npt.NDArray[np.int32], scores: npt.NDArray[np.float64]) -> bool:
    """Whether queries come one after another and no score rises within one."""
    before, after = codes[:-1], codes[1:]
    if (after < before).any():
        return False
    return not ((scores[1:] > scores[:-1]) & (after == before)).any()
