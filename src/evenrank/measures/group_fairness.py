"""Group fairness: how near the documents that a reader has seen are to a target over groups, alone and with
relevance in one number."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.data.attribute import COMBINED, Attribute
from evenrank.data.evidence_source import Evidence
from evenrank.data.membership import evidence_name
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import (
    REFUSED,
    ParameterRule,
    choice,
    declare,
    grade,
    make,
    number,
    parameter,
    term_of,
    text,
)
from evenrank.measures.base import (
    EMPTY_LIST,
    NO_RELEVANT,
    NO_TARGET,
    NOT_JUDGED,
    Direction,
    Measure,
    reasons,
)
from evenrank.measures.combined import WeightedSum
from evenrank.measures.divergences import MAX, SIMILAR
from evenrank.measures.groups import ANY, GroupMeasure, attributes_of, check_divergence, only_attribute
from evenrank.measures.missing import UNDEFINED, UNIFORM, missing_parameter
from evenrank.measures.relevance import iRBU, stops, without_judgements
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


WEIGHT_TOLERANCE = 1e-9
DEFAULT_RELEVANCE: Measure = make(iRBU, {})  # type: ignore[assignment]


def _weights() -> ParameterRule:
    def accept(value: Any) -> Any:
        if value is None:
            return None
        try:
            weights = [float(part) for part in value.split(",")]
        except (AttributeError, ValueError):
            return REFUSED
        good = all(math.isfinite(weight) and weight >= 0 for weight in weights)
        return value if good and abs(sum(weights) - 1) <= WEIGHT_TOLERANCE else REFUSED

    return ParameterRule("numbers >= 0 that sum to 1, as '0.5,0.25,0.25', or None", accept)


@declare
class GFR(Measure):
    """The weighted mean of relevance and of group fairness (GF) for each attribute. 0 means that the list is
    neither relevant nor fair; values close to 1 mean that it is both.

    The name stands for group fairness and relevance. It is the sum ``w*iRBU@k + w*GF(attr='a')@k +
    w*GF(attr='b')@k`` for the attributes there are. Nominal ones are compared by ``div``, ordinal ones by
    ``ordinal_div``. Weights are equal unless given, relevance first and then the attributes in their order.
    Without judgements there is no relevance, and attention falls as in RBP. Several attributes are so looked
    at one by one and averaged; ``attrs='gender*country'`` looks at combined values instead.

    When to use: to have relevance and fairness to several attributes in one number; prefer them one by one
    where they should be told apart, and FAIR where unfair ranks should cost relevance.
    """

    in_words = "relevant and fair"
    family = "groups"
    formula = "w_0 relevance + sum_m w_m GF(attr=m), weights sum to 1"
    reference = "Sakai, Kim and Kang 2022 (gfr-2022), Eqs. 10-11"
    direction = Direction.HIGHER
    undefined_when: ClassVar[Mapping[str, str]] = PrefixMeasure.undefined_when

    attrs: str | None = parameter(None, text(optional=True), "attributes, separated by commas; None: all")
    relevance: Measure | None = parameter(
        DEFAULT_RELEVANCE, term_of("measure", optional=True), "the measure of relevance; None leaves it out"
    )
    weights: str | None = parameter(None, _weights(), "of relevance and each attribute; None: equal")
    div: str = parameter("JSD", choice(*SIMILAR), "distance for nominal attributes")
    ordinal_div: str = parameter("RNOD", choice(*SIMILAR), "distance for ordinal attributes")
    decay: str | None = parameter(None, DECAY, DECAY_MEANS)
    phi: float = parameter(0.85, PHI, PHI_MEANS)
    max_grade: float | None = parameter(
        None, grade(optional=True), "largest grade, of relevance too; None takes the judgements'"
    )
    missing: str = missing_parameter(UNIFORM, UNDEFINED, "drop", "error")

    @property
    def needs(self) -> frozenset[str]:
        """What can be said before it is settled which attributes there are."""
        judged = frozenset() if self.relevance is None else self.relevance.needs
        return judged | {f"ranked.{evidence_name(ANY)}"}

    @property
    def welcomes_judgements(self) -> bool:
        return True

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        attributes = attributes_of(sources)
        if not attributes:
            only_attribute(repr(self), sources)  # says what is missing
        # a combination repeats the attributes that it is made of
        single = [name for name in attributes if COMBINED not in name] or list(attributes)
        names = single if self.attrs is None else _split(self.attrs)
        if not names:
            raise ParameterError(f"{self!r}: attrs names no attribute; there are {', '.join(attributes)}")
        measures: list[Measure] = []
        if self.relevance is not None and ("relevance" in sources or self.weights is not None):
            own = self.relevance
            if self.max_grade is not None and getattr(own, "max_grade", self.max_grade) is None:
                own = replace(own, max_grade=self.max_grade)  # type: ignore[call-arg]
            measures.append(own if own.cutoff is not None or self.cutoff is None else own @ self.cutoff)
        for name in names:
            ordinal = name in attributes and attributes[name].ordinal
            measures.append(
                GF(
                    attr=name,
                    div=self.ordinal_div if ordinal else self.div,
                    decay=self.decay,
                    phi=self.phi,
                    max_grade=self.max_grade,
                    missing=self.missing,
                    cutoff=self.cutoff,
                )
            )
        weights = [1 / len(measures)] * len(measures)
        if self.weights is not None:
            weights = [float(part) for part in self.weights.split(",")]
            if len(weights) != len(measures):
                parts = ", ".join(map(repr, measures))
                raise ParameterError(
                    f"{self!r}: got {len(weights)} weights, but there are {len(measures)} parts, {parts}: "
                    "give one weight for each"
                )
        terms = [(weight, m) for weight, m in zip(weights, measures, strict=True) if weight > 0]
        return WeightedSum(terms=tuple(terms)).settled(sources)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
