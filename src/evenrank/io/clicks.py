"""Clicks as judgements: how relevant a document is, from how often it was clicked where it was shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True)
class ClickedRelevance:
    """Relevance from 0 to 1 of every query and document that was shown."""

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    relevance: tuple[float, ...]
    impressions: float
    eta: float
    source: str
    capped: int  # how many would be above 1: they were clicked more often than such a rank is looked at

    def qrels(self) -> Qrels:
        """Judgements in hundredths: 100 is a relevance of 1. Measures with linear gain, as nDCG, do not
        depend on the unit."""
        grades = [round(STEPS * value) for value in self.relevance]
        return Qrels.build(self.queries, self.documents, grades, source=self.source)

    def describe(self) -> str:
        """What was made of the clicks, and what they cannot say."""
        seen = counted(round(self.impressions), "impression", "impressions")
        return (
            f"{self.source}: relevance comes from clicks on {seen}, divided by rank^-{self.eta:g}, the "
            "assumed chance that a position is looked at. What was never shown has no judgement, and nothing "
            "is known of it"
            + (
                f". {self.capped:,} of {len(self.relevance):,} are above 1 and were cut to 1: ranks "
                "are looked at more often than assumed; a smaller eta fits better"
                if self.capped
                else ""
            )
        )


def read_clicks(
    source: object,
    *,
    eta: float = ETA,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> ClickedRelevance:
    """Relevance from a table of clicks: columns query, document, rank, clicks and perhaps impressions.

    A row says how often a document was shown at a rank (``impressions``, 1 without that column) and clicked
    there. People click more at the top, whatever stands there, so clicks are divided by how likely a rank is
    looked at: ``relevance = clicks / sum over impressions of rank^-eta``, at most 1. ``eta=0`` leaves the
    bias in.

    >>> found = read_clicks({"query": ["q", "q"], "document": ["a", "b"], "rank": [1, 2],
    ...                      "clicks": [30, 20], "impressions": [100, 100]})
    >>> found.relevance
    (0.3, 0.4)
    """
    if isinstance(eta, bool) or not isinstance(eta, (int, float)) or not math.isfinite(eta) or eta < 0:
        raise ParameterError(f"eta must be a number >= 0, got {eta!r}")
    table = the_table(source, "clicks", format=format, mapping=("query", "document", "clicks"))
    found, report, name = read_roles(table, ROLES, columns), table.report, table.name
    ranks, clicks = found["rank"], found["clicks"]
    shown = found.get("impressions", np.ones(len(ranks)))
    for row, (rank, clicked, seen) in enumerate(zip(ranks, clicks, shown, strict=True)):
        if rank < 1 or rank != int(rank):
            report.add(row, f"rank {rank:g} is not a whole number >= 1")
        elif seen < 0 or clicked < 0 or clicked > seen:
            report.add(row, f"{clicked:g} clicks on {seen:g} impressions cannot be")
    report.check()
    sums: dict[tuple[str, str], tuple[float, float]] = {}
    pairs = zip(found["query"].to_pylist(), found["document"].to_pylist(), strict=True)
    for pair, clicked, weight in zip(pairs, clicks.tolist(), (shown * ranks**-eta).tolist(), strict=True):
        before = sums.get(pair, (0.0, 0.0))
        sums[pair] = before[0] + clicked, before[1] + weight
    known = {pair: total for pair, total in sums.items() if total[1] > 0}  # undefined without impressions
    if not known:
        raise DataError(f"{name}: nothing was shown: the impressions are all 0")
    return ClickedRelevance(
        tuple(query for query, _ in known),
        tuple(document for _, document in known),
        tuple(min(1.0, clicked / weight) for clicked, weight in known.values()),
        float(shown.sum()),
        float(eta),
        name,
        sum(clicked > weight * (1 + _ROUNDING) for clicked, weight in known.values()),
    )
