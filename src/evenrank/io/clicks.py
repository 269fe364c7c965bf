"""Clicks as judgements: how relevant a document is, from how often it was clicked where it was shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
    """Relevance from 0 to 1 of every query and document that was shown, and how often it was shown."""

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    relevance: tuple[float, ...]
    impressions: tuple[float, ...]
    eta: float | None = None  # None where propensities were given
    source: str | None = None
    capped: int = 0  # how many would be above 1: they were clicked more often than such a rank is looked at

    def qrels(self) -> Qrels:
        """Judgements in hundredths: 100 is a relevance of 1. Measures with linear gain, as nDCG, do not
        depend on the unit."""
        grades = [round(STEPS * value) for value in self.relevance]
        return Qrels.build(self.queries, self.documents, grades, source=self.source)

    def describe(self) -> str:
        """What was made of the clicks, and what they cannot say."""
        rule = "the given propensities" if self.eta is None else f"rank^-{self.eta:g}"
        seen = counted(round(sum(self.impressions)), "impression", "impressions")
        return (
            f"{self.source or 'clicks'}: relevance comes from clicks on {seen}, divided by {rule}, the "
            "assumed chance that a position is looked at. What was never shown has no judgement, and nothing "
            "is known of it"
            + (
                f". {self.capped:,} of {len(self.relevance):,} are above 1 and were cut to 1: ranks "
                "are looked at more often than assumed; a smaller eta or measured propensities fit better"
                if self.capped
                else ""
            )
        )


def read_clicks(
    source: object,
    *,
    eta: float = ETA,
    propensity: Mapping[int, float] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> ClickedRelevance:
    """Relevance from a table of clicks: columns query, document, rank, clicks and perhaps impressions.

    A row says how often a document was shown at a rank (``impressions``, 1 without that column) and clicked
    there. People click more at the top, whatever stands there, so clicks are divided by how likely a rank is
    looked at: ``relevance = clicks / sum over impressions of propensity(rank)``, at most 1. The propensity
    is ``rank^-eta``, or what ``propensity`` says for each rank (``propensity_from_swaps`` measures it).
    ``eta=0`` leaves the bias in.

    >>> found = read_clicks({"query": ["q", "q"], "document": ["a", "b"], "rank": [1, 2],
    ...                      "clicks": [30, 20], "impressions": [100, 100]})
    >>> found.relevance
    (0.3, 0.4)
    """
    if isinstance(eta, bool) or not isinstance(eta, (int, float)) or not math.isfinite(eta) or eta < 0:
        raise ParameterError(f"eta must be a number >= 0, got {eta!r}")
    table = the_table(source, "clicks", format=format, mapping=("query", "document", "clicks"))
    found, report, name = read_roles(table, ROLES, columns), table.report, table.name
    queries, documents = found["query"].to_pylist(), found["document"].to_pylist()
    ranks, clicks = found["rank"], found["clicks"]
    shown = found.get("impressions", np.ones(len(ranks)))
    for row, (rank, clicked, seen) in enumerate(zip(ranks, clicks, shown, strict=True)):
        if rank < 1 or rank != int(rank):
            report.add(row, f"rank {rank:g} is not a whole number >= 1")
        elif seen < 0 or clicked < 0 or clicked > seen:
            report.add(row, f"{clicked:g} clicks on {seen:g} impressions cannot be")
    report.check()
    looked_at = ranks**-eta if propensity is None else _looked_up(ranks, propensity, name)
    sums: dict[tuple[str, str], list[float]] = {}
    for query, document, *numbers in zip(queries, documents, clicks, shown * looked_at, shown, strict=True):
        total = sums.setdefault((query, document), [0.0, 0.0, 0.0])
        for place, value in enumerate(numbers):
            total[place] += float(value)
    known = {pair: total for pair, total in sums.items() if total[1] > 0}  # undefined without impressions
    if not known:
        raise DataError(f"{name}: nothing was shown: the impressions are all 0")
    return ClickedRelevance(
        tuple(query for query, _ in known),
        tuple(document for _, document in known),
        tuple(min(1.0, clicked / weight) for clicked, weight, _ in known.values()),
        tuple(count for _, _, count in known.values()),
        None if propensity is not None else float(eta),
        name,
        sum(clicked > weight * (1 + _ROUNDING) for clicked, weight, _ in known.values()),
    )


def propensity_from_swaps(swaps: Mapping[int, tuple[float, float, float, float]]) -> dict[int, float]:
    """How likely a rank is looked at, measured by showing the documents of ranks 1 and j in both orders.

    ``swaps`` has for each rank j the clicks at rank 1, how often that was shown, the clicks at rank j and
    how often that was shown. The propensity is the click rate at j over that at 1.

    >>> propensity_from_swaps({2: (40, 100, 20, 100)})
    {1: 1.0, 2: 0.5}
    """
    found = {1: 1.0}
    for rank, (first, shown_first, other, shown_other) in swaps.items():
        if not (first > 0 and shown_first > 0 and shown_other > 0):
            raise DataError(
                f"rank {rank}: the swaps have no click at rank 1, so there is no rate to divide by"
            )
        found[rank] = (other / shown_other) / (first / shown_first)
    return found


def _looked_up(
    ranks: npt.NDArray[np.float64], propensity: Mapping[int, float], name: str
) -> npt.NDArray[np.float64]:
    for rank, value in propensity.items():
        if not 0 < value <= 1:
            raise ParameterError(
                f"the propensity of rank {rank} must be above 0 and at most 1, got {value!r}"
            )
    unknown = sorted({int(rank) for rank in ranks} - set(propensity))
    if unknown:
        raise DataError(f"{name}: there is no propensity for rank {unknown[0]}")
    return np.array([propensity[int(rank)] for rank in ranks])
