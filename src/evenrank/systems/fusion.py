"""Several systems as one, by the ranks that they give."""

from __future__ import annotations

from collections.abc import Sequence

from evenrank.data.run import Run
from evenrank.errors import ParameterError
from evenrank.grammar import declare, number, parameter
from evenrank.systems.base import Retriever, Texts, check_depth, check_texts, run_of
from evenrank.systems.declared import DEPTH, FUSION, SystemSettings, SystemTerm, systems_value

DECIMALS = 12  # sums of the same ranks in another order are equal


class ReciprocalRankFusion:
    """A document scores the sum over the systems of 1 / (k + its rank there).

    Cormack, Clarke and Buettcher 2009, Reciprocal rank fusion outperforms Condorcet.
    """

    def __init__(
        self,
        systems: Sequence[Retriever],
        *,
        k: float = 60.0,
        depths: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        if len(systems) < 2:
            raise ParameterError(f"RRF fuses two systems or more, got {len(systems)}")
        self._systems, self._k = tuple(systems), k
        self._depths = tuple(depths or [DEPTH] * len(systems))
        self.name = name or f"rrf({','.join(system.name for system in systems)})"

    def index(self, documents: Texts) -> None:
        for system in self._systems:
            system.index(documents)

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        asked, k = check_texts(queries, "queries"), check_depth(k)
        runs = [
            system.retrieve(asked, depth) for system, depth in zip(self._systems, self._depths, strict=True)
        ]
        return fused(runs, list(asked), self._k, self.name).head(k)

    @property
    def notes(self) -> list[str]:
        return [note for system in self._systems for note in getattr(system, "notes", [])]


def fused(runs: Sequence[Run], queries: Sequence[str], k: float, name: str) -> Run:
    """One run from the ranks of several."""
    lists = []
    for query in queries:
        scores: dict[str, float] = {}
        for run in runs:
            for rank, document in enumerate(run.documents(query) if query in run else (), 1):
                scores[document] = scores.get(document, 0.0) + 1 / (k + rank)
        rounded = [round(score, DECIMALS) for score in scores.values()]
        lists.append((query, list(scores), rounded))
    return run_of(lists, name)


@declare
class RRFTerm(SystemTerm):
    """Reciprocal rank fusion of systems, RRF(BM25,Dense(model=minilm)): 1 / (k + rank), summed."""

    name = "RRF"
    family = FUSION
    listed = "systems"

    systems: tuple[SystemTerm, ...] = parameter(
        ("BM25", "RM3"), systems_value(2), "the systems, without a name: RRF(BM25,Dense(model=minilm))"
    )
    k: float = parameter(60.0, number(0), "how little the first ranks stand out")

    @property
    def parts(self) -> tuple[SystemTerm, ...]:
        return self.systems

    def make(self, settings: SystemSettings) -> ReciprocalRankFusion:
        made = [system.make(settings) for system in self.systems]
        depths = [system.depth_of_lists for system in self.systems]
        return ReciprocalRankFusion(made, k=self.k, depths=depths)
