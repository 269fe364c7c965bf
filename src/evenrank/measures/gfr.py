"""Group fairness and relevance in one number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from evenrank.data.attribute import COMBINED
from evenrank.data.evidence_source import Evidence
from evenrank.data.membership import evidence_name
from evenrank.errors import ParameterError
from evenrank.grammar import REFUSED, ParameterRule, choice, declare, grade, make, parameter, term_of, text
from evenrank.measures.base import Direction, Measure
from evenrank.measures.combined import WeightedSum
from evenrank.measures.divergences import SIMILAR
from evenrank.measures.group_fairness import DECAY, DECAY_MEANS, GF, PHI, PHI_MEANS, PrefixMeasure
from evenrank.measures.groups import ANY, attributes_of, only_attribute
from evenrank.measures.missing import UNDEFINED, UNIFORM, missing_parameter
from evenrank.measures.relevance import iRBU

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
