"""Group fairness: how near the documents that a reader has seen are to a target over groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Evidence
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, grade, number, parameter
from evenrank.measures.base import (
    EMPTY_LIST,
    NO_RELEVANT,
    NO_TARGET,
    NOT_JUDGED,
    Direction,
    Measure,
    reasons,
)
from evenrank.measures.divergences import MAX, SIMILAR
from evenrank.measures.groups import GroupMeasure, check_divergence
from evenrank.measures.relevance import stops, without_judgements
from evenrank.measures.sums import divide, padded_sum

CASCADE, RBP_DECAY, LOG_DECAY = "ERR", "RBP", "log2"
DECAYS = (CASCADE, RBP_DECAY, LOG_DECAY)
DECAY = choice(*DECAYS, optional=True)
DECAY_MEANS = "how the reader stops: as in ERR, in RBP, by log2's shares; None: ERR with judgements, else RBP"
PHI, PHI_MEANS = number(0, 1, open_low=True, open_high=True), "patience of the reader of RBP"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class PrefixMeasure(GroupMeasure):
    """A mean over the ranks at which a reader may stop of something that the documents above say."""

    undefined_when: ClassVar[Mapping[str, str]] = {
        NOT_JUDGED: "the query has no judgements, and the reader of ERR stops by them",
        NO_RELEVANT: "no judged document of the query is relevant, so the reader of ERR never stops",
        EMPTY_LIST: "the run has no documents for the query, and the reader does not stop by judgements",
        **reasons(NO_TARGET),
    }

    div: str = parameter("JSD", choice(*SIMILAR), "distance; NMD and RNOD see the order, MAX the worst value")
    decay: str | None = parameter(None, DECAY, DECAY_MEANS)
    phi: float = parameter(0.85, PHI, PHI_MEANS)
    max_grade: float | None = parameter(
        None, grade(optional=True), "largest grade, for the reader of ERR; None takes the judgements'"
    )

    @property
    def needs(self) -> frozenset[str]:
        judged = {"ranked.relevance", "judged.relevance"} if self.decay == CASCADE else set()
        return frozenset({f"ranked.{self.source}", *judged})

    @property
    def welcomes_judgements(self) -> bool:
        return self.decay is None

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        decay = self.decay or (CASCADE if "relevance" in sources else RBP_DECAY)
        return dataclasses.replace(super().settled(sources), decay=decay)  # type: ignore[call-arg]

    def check_attribute(self, attribute: Attribute) -> None:
        super().check_attribute(attribute)
        check_divergence(self, self.div, attribute)

    def weights(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): the chance that the reader stops at a rank; 0 below the list."""
        name = f"stops, {self.decay}, phi {self.phi}, largest grade {self.max_grade}"
        return evidence.ranked.shared(name, lambda: self._weights(evidence))

    def _weights(self, evidence: RankedEvidence) -> Floats:
        ranked = evidence.ranked
        if self.decay == CASCADE:
            return stops(evidence, self.max_grade)
        if self.decay == LOG_DECAY:
            weights = attention.log2().weights(ranked.depth) * ranked.mask
            return divide(weights, padded_sum(weights)[:, None])
        return attention.rbp(p=self.phi).weights(ranked.depth) * ranked.mask

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        found = super().undefined(evidence)
        if self.decay != CASCADE:
            return found
        return without_judgements(evidence) | {NO_TARGET: found[NO_TARGET]}

    def similarity(self, evidence: RankedEvidence, target: Floats) -> Floats:
        """(Q, K): 1 - divergence of the first k documents from a target (Q, L)."""
        if self.div == MAX:
            self.existing(evidence)
        return 1 - SIMILAR[self.div](self.prefix_shares(evidence), target[:, None, :])


@declare
class GF(PrefixMeasure):
    """How close the groups among the documents seen so far are to the target, averaged over the ranks at
    which a reader may stop. 0 means as far as possible from the target; values close to 1 mean that every
    part of the list from the top matches it.

    The name stands for group fairness. The share of a value among the first k documents is their mean
    membership of it. NMD and RNOD take the order of the values into account and are for ordinal attributes,
    or those of two values. MAX is the largest difference of any one value (Pitoura et al. 2022): the
    worst-off value decides. There is no ideal to divide by: a reader who never stops adds nothing.

    When to use: for fairness to groups, such as sellers, brands or ordered ratings, in every part of the list
    that a reader may see; prefer AWRF for attention as a whole and GFR to add relevance.
    """

    in_words = "groups near the target"
    formula = "sum_{i<=k} decay_i (1 - div(p_i, target)), p_i = mean membership of ranks 1..i"
    reference = "Sakai, Kim and Kang 2022 (gfr-2022), Eqs. 7-9"
    direction = Direction.HIGHER

    def explain(self, evidence: RankedEvidence) -> Floats:
        name = f"{self.source} similarity, {self.div}, missing {self.missing}"
        similarity = evidence.ranked.shared(
            name, lambda: self.similarity(evidence, self.target_shares(evidence))
        )
        return self.weights(evidence) * similarity


@declare
class dGF(PrefixMeasure):
    """Which of two groups the list leans to from the top. Values close to 1 mean only documents of the first
    group, values close to -1 only documents of the second; 0 means that neither leads.

    It is GF with the first value as the whole target, minus GF with the second. The paper calls it polarity.
    Positive where the list leans to the first value of an attribute of two.

    When to use: to see which of two groups GF's distance favours; prefer GF for how far, and OB or
    Polarity for plain leanings.
    """

    in_words = "lean of the groups"
    formula = "GF(target all a_1) - GF(target all a_2)"
    reference = "Sakai, Kim and Kang 2022 (gfr-2022), Section 4.1"
    direction = Direction.SIGNED
    bounds = (-1.0, 1.0)
    two_values = True

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        return {reason: where for reason, where in super().undefined(evidence).items() if reason != NO_TARGET}

    def explain(self, evidence: RankedEvidence) -> Floats:
        queries = len(evidence)
        first, second = (np.tile(side, (queries, 1)) for side in np.eye(2))  # (Q, 2)
        lean = self.similarity(evidence, first) - self.similarity(evidence, second)
        return self.weights(evidence) * lean
