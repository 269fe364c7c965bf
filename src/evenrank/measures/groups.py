"""What measures of groups share: membership at every rank, the target, and the attribute they are about.

Membership is (Q, K, L): query, rank, value of the attribute. The target is (Q, L).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.data.attribute import Attribute
from evenrank.data.combining import combined_attribute
from evenrank.data.evidence_source import Evidence
from evenrank.data.membership import Membership, evidence_name, split_name
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence
from evenrank.grammar import parameter, text
from evenrank.measures.base import EMPTY_LIST, NO_TARGET, Measure, Result, reasons
from evenrank.measures.divergences import ORDERED, over_values
from evenrank.measures.missing import NONE, UNDEFINED, UNIFORM, counted_as, missing_parameter
from evenrank.measures.sums import divide

NO_LABEL = "no labelled document"
NO_LABEL_MEANS = "none of the first k documents has a group (missing='undefined')"
ANY = "*"  # no attribute is called so
ATTRIBUTE = text(optional=True)
ATTRIBUTE_MEANS = "the attribute; None where there is only one. 'a*b' combines the values of two"


def attributes_of(sources: Mapping[str, Evidence]) -> dict[str, Attribute]:
    """The attributes that there is membership for, by name."""
    return {m.attribute.name: m.attribute for m in sources.values() if isinstance(m, Membership)}


def attribute_named(
    name: str, sources: Mapping[str, Evidence], target: str | None = None
) -> Attribute | None:
    """The attribute of this name, or the combination it stands for; None where there is no membership."""
    found = sources.get(evidence_name(name))
    if isinstance(found, Membership):
        return found.attribute if target is None else found.attribute.with_target(target)
    parts = [sources.get(evidence_name(part)) for part in split_name(name)]
    known = [part.attribute for part in parts if isinstance(part, Membership)]
    return combined_attribute(known, target) if len(known) == len(parts) > 1 else None


def only_attribute(measure: str, sources: Mapping[str, Evidence]) -> str:
    names = list(attributes_of(sources))
    if not names:
        raise ParameterError(
            f"{measure} needs groups: pass groups= (--groups NAME=FILE), as read_groups gives"
        )
    if len(names) > 1:
        raise ParameterError(
            f"{measure}: there are several attributes, {', '.join(names)}: name one, as "
            f"{_with_attribute(measure, names[0])}"
        )
    return names[0]


def _with_attribute(term: str, attribute: str) -> str:
    """``DetGreedy(attr='size', top=10)`` of ``DetGreedy(top=10)``, ``GF(attr='size')@10`` of ``GF@10``."""
    head, bracket, rest = term.partition("(")
    if bracket:
        return f"{head}(attr={attribute!r}, {rest}"
    name, mark, cutoff = term.partition("@")
    return f"{name}(attr={attribute!r}){mark}{cutoff}"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class GroupMeasure(Measure):
    """A measure of how the documents of a list belong to groups."""

    family: ClassVar[str] = "groups"
    undefined_when: ClassVar[Mapping[str, str]] = reasons(EMPTY_LIST, NO_TARGET)
    two_values: ClassVar[bool] = False  # for binary sets only

    attr: str | None = parameter(None, ATTRIBUTE, ATTRIBUTE_MEANS)
    missing: str = missing_parameter(UNIFORM, UNDEFINED, "drop", "error")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing == UNDEFINED:
            object.__setattr__(self, "undefined_when", {**self.undefined_when, NO_LABEL: NO_LABEL_MEANS})

    @property
    def own_target(self) -> str | None:
        """A kind of target that is this measure's alone; None for the attribute's."""
        return None

    @property
    def source(self) -> str:
        """The evidence it reads; ``group:*`` as long as it is not settled which."""
        return evidence_name(self.attr or ANY, self.own_target)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"ranked.{self.source}"})

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        chosen = self.attr if self.attr is not None else only_attribute(repr(self), sources)
        settled = dataclasses.replace(self, attr=chosen)
        attribute = attribute_named(chosen, sources, self.own_target)
        if attribute is not None:
            settled.check_attribute(attribute)
        return settled

    def check_attribute(self, attribute: Attribute) -> None:
        """Refuse an attribute that this measure cannot be about."""
        if self.two_values and len(attribute.values) != 2:
            raise ParameterError(
                f"{self!r} is for attributes of two values; {attribute.name!r} has {len(attribute.values)}: "
                f"{attribute.listed()}"
            )

    def evaluate(self, evidence: RankedEvidence) -> Result:
        """Lists of documents without a group are equally of all groups: they are counted, or undefined."""
        evidence = self.prepared(evidence)
        result = self.compute(evidence)
        if self.over_queries or self.source not in evidence.ranked:
            return result
        ranked = evidence.ranked
        return without_labels(result, ranked.mask, ranked.known(self.source), self.missing)

    def membership(self, evidence: RankedEvidence, ranked: Ranked | None = None) -> Floats:
        """(Q, K, L): the shares of the document at each rank; 0 in the padding."""
        ranked = evidence.ranked if ranked is None else ranked
        shares: Floats = ranked[self.source]
        unknown = ranked.mask & ~ranked.known(self.source)  # (Q, K)
        if counted_as(self) == NONE or not unknown.any():
            return shares
        even = self.even(evidence)
        even = even[(slice(None),) + (None,) * (shares.ndim - 2)]
        return np.where(unknown[..., None], even, shares)

    def reference_membership(self, evidence: RankedEvidence, block: str) -> Floats:
        """(Q, D, L): the same for the documents of a block that are not those of the list."""
        documents = evidence.reference[block]
        shares = documents.padded(self.source)
        if counted_as(self) != UNIFORM:
            return shares
        unknown = documents.mask() & ~documents.known(self.source)
        return np.where(unknown[:, :, None], self.even(evidence)[:, None, :], shares)

    def even(self, evidence: RankedEvidence) -> Floats:
        """(Q, L): the shares of a document that is equally of all values of its query."""
        exists = evidence.query[f"{self.source}.exists"].astype(float)
        return divide(exists, exists.sum(axis=1, keepdims=True))

    def existing(self, evidence: RankedEvidence) -> Bools:
        """(Q, L): the values that a query has; an error where one place stands for several of them."""
        count = evidence.query[f"{self.source}.exists"]  # how many values a place stands for
        if (count > 1).any():
            raise ParameterError(
                f"{self!r}: {self.attr!r} has so many values that those outside of a query's pool are "
                "counted together, and it needs each of them: give the target 'present'"
            )
        return np.asarray(count > 0)

    def prefix_shares(self, evidence: RankedEvidence) -> Floats:
        """(Q, K, L): the distribution over values of the first k documents, for every k."""
        name = f"{self.source} prefix shares, missing {self.missing}"
        return evidence.ranked.shared(name, lambda: prefix_shares(self.membership(evidence)))

    def target_shares(self, evidence: RankedEvidence) -> Floats:
        """(Q, L): the share that each value should have; 0 for all where there is no target."""
        return np.nan_to_num(evidence.query[f"{self.source}.target"])

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        found = super().undefined(evidence)
        if NO_TARGET in self.undefined_when:
            found[NO_TARGET] = ~np.asarray(np.isfinite(evidence.query[f"{self.source}.target"]).all(axis=1))
        return found

    def value_names(self, evidence: RankedEvidence) -> tuple[str, ...]:
        names = evidence.labels.get(f"{self.source}.values")
        if names is None:
            raise ParameterError(
                f"{self!r} has a column for each value, and {self.attr!r} has other values for every query"
            )
        return names


def without_labels(result: Result, there: Bools, known: Bools, missing: str) -> Result:
    """The result, and which lists have no labelled document; with ``missing='undefined'`` they have no value.

    ``there`` and ``known`` (Q, K) mark the documents that are looked at, and those with a label.
    """
    without = np.asarray(there.any(axis=1) & ~(there & known).any(axis=1))  # (Q,)
    if missing == UNDEFINED:
        return dataclasses.replace(result, undefined={**result.undefined, NO_LABEL: without})
    return dataclasses.replace(result, unlabelled=without) if missing in (NONE, UNIFORM) else result


def check_divergence(measure: Measure, div: str, attribute: Attribute) -> None:
    """Refuse a distance that sees the order of values where they have none."""
    if div in ORDERED and not attribute.ordinal and len(attribute.values) > 2:
        raise ParameterError(
            f"{measure!r}: {div} needs values with an order, and {attribute.name!r} is nominal: "
            "use div='JSD', or declare it ordinal"
        )


def prefix_shares(membership: Floats) -> Floats:
    """(Q, K, L): the distribution over values of the first k documents; 0 where they have none."""
    mass = np.cumsum(membership, axis=1)
    total = over_values(mass)[:, :, None]
    return mass / total if (total > 0).all() else divide(mass, total)
