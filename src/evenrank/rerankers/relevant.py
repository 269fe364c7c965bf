"""What re-rankers by relevance and groups share: where relevance comes from, and membership at every rank."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.data.evidence_source import Evidence
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, flag, make, parameter
from evenrank.measures.fair import FAIR
from evenrank.measures.fair_lists import ListArrays
from evenrank.measures.groups import ATTRIBUTE, ATTRIBUTE_MEANS
from evenrank.measures.prefixes import TARGET, TARGET_MEANS
from evenrank.measures.relevance import nDCG
from evenrank.rerankers.base import Reordered, Reranker
from evenrank.rerankers.grouped import STAY, around_unlabelled

PSEUDO_MEANS = "relevance from the ranking; None: where there are no judgements"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class GroupRelevance(Reranker):
    """A re-ranker of documents that are relevant and belong to groups.

    Relevance is the grade of the judgements; without them, 1/log2(1 + rank) of the ranking.
    """

    attr: str | None = parameter(None, ATTRIBUTE, ATTRIBUTE_MEANS)
    target: str | None = parameter(None, TARGET, TARGET_MEANS)
    pseudo: bool | None = parameter(None, flag(optional=True), PSEUDO_MEANS)
    missing: str = parameter(
        STAY,
        choice(STAY, "none", "uniform", "error"),
        "documents without membership: at their rank, of no group, equally of all values, or an error",
    )

    @property
    def measure(self) -> FAIR:
        """The measure that sees the same: it knows where relevance and membership come from."""
        missing = "none" if self.missing == STAY else self.missing
        own = {"attr": self.attr, "target": self.target, "pseudo": self.pseudo, "missing": missing}
        measure: FAIR = make(FAIR, {"irm": make(nDCG, {}), **own})  # type: ignore[assignment]
        return measure

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(need for need in self.measure.needs if need.startswith("ranked."))

    def settled(self, sources: Mapping[str, Evidence]) -> Reranker:
        measure = self.measure.settled(sources)
        attr, pseudo = getattr(measure, "attr", None), getattr(measure, "pseudo", None)
        return dataclasses.replace(self, attr=attr, pseudo=pseudo)

    def lists(self, evidence: RankedEvidence) -> ListArrays:
        """What is known of the documents; a query without judgements has the relevance of its ranking."""
        lists = self.measure.lists(evidence)
        if self.pseudo:
            return lists
        unjudged = ~evidence.query["relevance.judged"]  # (Q,)
        if not unjudged.any():
            return lists
        ranking = dataclasses.replace(self.measure, pseudo=True).lists(evidence)
        return ListArrays(
            *(
                np.where(unjudged.reshape(-1, *[1] * (own.ndim - 1)), other, own)
                for own, other in zip(lists, ranking, strict=True)
            )
        )

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        (only,) = self.reorder_often(evidence, [generator])
        return only

    def reorder_often(
        self, evidence: RankedEvidence, generators: Sequence[np.random.Generator]
    ) -> list[Reordered]:
        if self.missing != STAY:
            return self.ordered(evidence, generators)
        source = self.measure.source
        return around_unlabelled(evidence, source, lambda labelled: self.ordered(labelled, generators))

    def ordered(self, evidence: RankedEvidence, generators: Sequence[np.random.Generator]) -> list[Reordered]:
        """All repetitions at once, of the documents that take part."""
        raise NotImplementedError(f"{type(self).__name__} does not order documents")

    def target_shares(self, evidence: RankedEvidence) -> Floats:
        """(Q, L): the share that each group should have, 0 for all where there is no target."""
        return self.measure.target_shares(evidence)

    def without_target(self, evidence: RankedEvidence) -> Bools:
        return np.asarray(~np.isfinite(evidence.query[f"{self.measure.source}.target"]).all(axis=1))
