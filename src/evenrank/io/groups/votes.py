"""Votes of raters who may disagree: the share of votes that each value of a document has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from evenrank.arrays import Int64s
from evenrank.ids import encode_first_seen, take
from evenrank.io.groups.entries import Entries
from evenrank.io.row_problems import RowProblems


def check_votes(entries: Entries, raters: pa.LargeStringArray, report: RowProblems) -> None:
    """Each rater votes once on a document (of a query), for one label."""
    where = "row" if report.lines is None else "line"
    first: dict[tuple[int, str], int] = {}
    for row, (unit, rater) in enumerate(zip(_units(entries).tolist(), raters.to_pylist(), strict=True)):
        before = first.setdefault((unit, rater), row)
        if before != row:
            place = before + 1 if report.lines is None else report.lines[before]
            report.add(row, f"rater {rater!r} votes twice (first on {where} {place})")
    labels = np.bincount(entries.rows, minlength=len(entries.documents))
    for row in np.flatnonzero(labels > 1).tolist():
        report.add(row, "a vote is one label, not several")
    report.check()


def shares_of_votes(entries: Entries) -> Entries:
    """One entry for each value that a document has votes for, with the share of its votes.

    >>> from evenrank.ids import as_strings
    >>> votes = Entries(as_strings(["d", "d", "d"]), None, np.arange(3), as_strings(["f", "m", "f"]), None,
    ...                 RowProblems("votes"))
    >>> found = shares_of_votes(votes)
    >>> found.values.to_pylist(), found.shares.round(3).tolist()
    (['f', 'm'], [0.667, 0.333])
    """
    units = _units(entries)[entries.rows]  # (E,)
    codes, labels = encode_first_seen(entries.values)
    keys, places, votes = np.unique(
        units * max(1, len(labels)) + codes, return_index=True, return_counts=True
    )
    total = np.bincount(units)[keys // max(1, len(labels))]
    order = np.argsort(places)  # values keep the order in which the file names them
    kept = places[order]
    return replace(
        entries, rows=entries.rows[kept], values=take(entries.values, kept), shares=(votes / total)[order]
    )


def _units(entries: Entries) -> Int64s:
    """(R,): the document of each row, or the pair of query and document."""
    documents, found = encode_first_seen(entries.documents)
    if entries.queries is None:
        return np.asarray(documents, dtype=np.int64)
    queries, _ = encode_first_seen(entries.queries)
    return np.asarray(queries, dtype=np.int64) * len(found) + documents
