"""Clicks as judgements: how relevant a document is, from how often it was clicked where it was shown."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from evenrank.data.qrels import Qrels
from evenrank.errors import DataError, ParameterError, counted
from evenrank.io.tables import Role, read_roles, the_table

ETA = 1.0
_ROUNDING = 1e-9
STEPS = 100  # grades are whole numbers: relevance in steps of a hundredth
ROLES = (
    Role("query", "query"),
    Role("document"),
    Role("rank", "number"),
    Role("clicks", "number"),
    Role("impressions", "number", optional=True),
)


def read_clicks(
    source: object,
    *,
    eta: float = ETA,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> tuple[Qrels, str]:
    """Judgements from a table of clicks, and what they cannot say. Its columns are query, document, rank,
    clicks and perhaps impressions.

    A row says how often a document was shown at a rank (``impressions``, 1 without that column) and clicked
    there. People click more at the top, whatever stands there, so clicks are divided by how likely a rank is
    looked at: ``relevance = clicks / sum over impressions of rank^-eta``, at most 1. ``eta=0`` leaves the
    bias in. Grades are hundredths: 100 is a relevance of 1. Measures with linear gain, as nDCG, do not depend
    on the unit.

    >>> judged, _ = read_clicks({"query": ["q", "q"], "document": ["a", "b"], "rank": [1, 2],
    ...                          "clicks": [30, 20], "impressions": [100, 100]})
    >>> judged.to_dict()
    {'q': {'b': 40, 'a': 30}}
    """
    if isinstance(eta, bool) or not isinstance(eta, (int, float)) or not math.isfinite(eta) or eta < 0:
        raise ParameterError(f"eta must be a number >= 0, got {eta!r}")
    table = the_table(source, "clicks", format=format, mapping=("query", "document", "clicks"))
    found, report = read_roles(table, ROLES, columns), table.report
    ranks, clicks = found["rank"], found["clicks"]
    shown = found.get("impressions", np.ones(len(ranks)))
    for row, (rank, clicked, seen) in enumerate(zip(ranks, clicks, shown, strict=True)):
        if rank < 1 or rank != int(rank):
            report.add(row, f"rank {rank:g} is not a whole number >= 1")
        elif seen < 0 or clicked < 0 or clicked > seen:
            report.add(row, f"{clicked:g} clicks on {seen:g} impressions cannot be")
    report.check()
    pairs = pa.table({
        "query": found["query"].cast(pa.large_string()), "document": found["document"],
        "clicks": clicks, "looks": shown * ranks**-eta,
    }).group_by(["query", "document"], use_threads=False)  # fmt: skip
    sums = pairs.aggregate([("clicks", "sum"), ("looks", "sum")])
    sums = sums.filter(pa.compute.greater(sums.column("looks_sum"), 0))  # undefined without impressions
    if not len(sums):
        raise DataError(f"{table.name}: nothing was shown: the impressions are all 0")
    clicked, looks = (sums.column(name).to_numpy() for name in ("clicks_sum", "looks_sum"))
    grades = np.rint(STEPS * np.minimum(1.0, clicked / looks)).astype(np.int64)
    capped = int((clicked > looks * (1 + _ROUNDING)).sum())
    note = (
        f"{table.name}: relevance comes from clicks on "
        f"{counted(round(shown.sum()), 'impression', 'impressions')}, divided by rank^-{eta:g}, the assumed "
        "chance that a position is looked at. What was never shown has no judgement: nothing is known of it"
    )
    if capped:
        note += (
            f". {capped:,} of {len(sums):,} are above 1 and were cut to 1: ranks are looked at more often "
            "than assumed; a smaller eta fits better"
        )
    queries, documents = (sums.column(name).combine_chunks() for name in ("query", "document"))
    return Qrels.build(queries, documents, grades, source=table.name), note
