"""How the attention in a list is divided: how far groups are from what they should get, and how unequally."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.attention import Attention
from evenrank.data.evidence_source import Evidence
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, flag, parameter
from evenrank.measures.base import EMPTY_LIST, NO_TARGET, Direction, Measure, Result, reasons
from evenrank.measures.divergences import DISTANCES, MOST
from evenrank.measures.evidence_attention import UNATTENDED, attention_parameter
from evenrank.measures.groups import (
    ATTRIBUTE,
    NO_LABEL,
    NO_LABEL_MEANS,
    GroupMeasure,
    attributes_of,
    only_attribute,
    without_labels,
)
from evenrank.measures.missing import UNDEFINED, UNIFORM, missing_parameter
from evenrank.measures.sums import divide, padded_sum


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class AttentionShareMeasure(Measure):
    """A measure of the share of attention that each group gets, and of the share that it should get.

    With ``attr`` a document gives its attention to groups by its membership, without it by the words in it;
    equally to all where it has neither.
    """

    family: ClassVar[str] = "words"
    undefined_when: ClassVar[Mapping[str, str]] = reasons(EMPTY_LIST, NO_TARGET) | UNATTENDED

    attr: str | None = parameter(
        None, ATTRIBUTE, "the attribute; None: the groups of the words, where there are any"
    )
    attention: Attention = attention_parameter()  # noqa: RUF009
    missing: str = missing_parameter("error", "neutral", UNIFORM, UNDEFINED, "drop", what="counts or a group")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing == UNDEFINED:
            object.__setattr__(self, "undefined_when", {**self.undefined_when, NO_LABEL: NO_LABEL_MEANS})

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        if self.attr is not None or "words" in sources or not attributes_of(sources):
            return self
        return replace(self, attr=only_attribute(repr(self), sources))

    @property
    def needs(self) -> frozenset[str]:
        own = frozenset({"ranked.words"}) if self.attr is None else self._groups().needs
        return own | self.attention.needs

    def evaluate(self, evidence: RankedEvidence) -> Result:
        evidence = self.prepared(evidence)
        source = "words" if self.attr is None else self._groups().source
        ranked = evidence.ranked
        return without_labels(self.compute(evidence), ranked.mask, ranked.known(source), self.missing)

    def _groups(self) -> GroupMeasure:
        return GroupMeasure(attr=self.attr, cutoff=self.cutoff)

    def membership(self, evidence: RankedEvidence) -> Floats:
        """(Q, K, G): how a document divides its attention over the groups; 0 in the padding."""
        if self.attr is not None:
            return self._groups().membership(evidence)
        counts = evidence.ranked["words.counts"]
        total = counts.sum(axis=2, keepdims=True)  # (Q, K, 1)
        shares = np.where(total > 0, divide(counts, total), 1 / counts.shape[2])
        return shares * evidence.ranked.mask[:, :, None]

    def shares(self, evidence: RankedEvidence) -> tuple[Floats, Floats, dict[str, Bools]]:
        """(Q, G) twice: what groups get and what they should get, and where there is neither."""
        weights = self.attention.at(evidence)  # (K,) or (Q, K)
        exposure = padded_sum(self.membership(evidence) * weights[..., None])  # (Q, G)
        achieved = divide(exposure, exposure.sum(axis=1, keepdims=True))
        target = evidence.query["words.target" if self.attr is None else f"{self._groups().source}.target"]
        undefined = {
            EMPTY_LIST: evidence.ranked.lengths == 0,
            NO_TARGET: np.asarray(~np.isfinite(target).all(axis=1)),
            **self.attention.undefined(evidence),
        }
        return achieved, np.nan_to_num(target), undefined


@declare
class AWRF(AttentionShareMeasure):
    """How far the share of attention that each group gets is from its target. 0 means that every group gets
    exactly its target share; 2, the largest value, means that all attention goes to groups with a target of
    0.

    The name stands for attention-weighted rank fairness. Other distances than L1 have other largest values.
    With ``attr`` a document gives its attention to groups by its membership, without it by the words in it;
    equally to all where it has neither. ``fairness=True`` (JSD only) is 1 - JSD, the form of the TREC Fair
    Ranking tracks.

    When to use: to see whether every group gets its fair share of attention; prefer GF where every beginning
    of the list should be fair, and UnderExposure where only what groups lack counts.
    """

    in_words = "attention away from target"
    formula = "distance(sum_r v_r a(d_r) / sum_r v_r, J), a_g(d) = c_g(d) / c(d), or membership"
    reference = (
        "Sapiezynski et al. 2019, WWW companion; "
        "Raj and Ekstrand 2022, SIGIR; Abolghasemi et al. 2024 (texfair-2024), Eq. 14"
    )
    direction = Direction.LOWER

    distance: str = parameter("L1", choice(*DISTANCES), "distance between achieved and target shares")
    fairness: bool = parameter(False, flag(), "give 1 - JSD, so that higher is fairer")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fairness:
            if self.distance != "JSD":
                raise ParameterError(
                    f"AWRF: fairness=True is 1 - JSD and needs distance='JSD', got {self.distance!r}"
                )
            object.__setattr__(self, "direction", Direction.HIGHER)

    def turned(self) -> Measure:
        return replace(self, distance="JSD", fairness=not self.fairness)

    def range(self) -> tuple[float, float]:
        return 0.0, MOST[self.distance]

    def compute(self, evidence: RankedEvidence) -> Result:
        achieved, target, undefined = self.shares(evidence)
        value = DISTANCES[self.distance](achieved, target)
        return Result(1 - value if self.fairness else value, undefined)


@declare
class UnderExposure(AttentionShareMeasure):
    """The share of attention that groups lack of what they should get, summed over the groups that get too
    little. 0 means that no group gets less than its target; 1, the largest value, means that all attention
    goes to groups with a target of 0.

    What some groups lack others have too much of, so with a target that sums to 1 it is exactly half of
    AWRF with the distance L1: a reader of one need not read the other. Use it where the question is how much
    is missing; prefer AWRF to compare with published values, and Skew or GroupShare to see which group lacks
    how much.

    When to use: where only what groups lack counts; prefer AWRF, of which it is half, where values are
    compared with other studies.
    """

    in_words = "attention that groups lack"
    formula = "sum_g max(0, q_g - p_g), p_g = sum_r v_r a_g(d_r) / sum_r v_r sum_h a_h(d_r)"
    reference = "Raj and Ekstrand 2022, Measuring fairness in ranked results, SIGIR"
    direction = Direction.LOWER

    def compute(self, evidence: RankedEvidence) -> Result:
        achieved, target, undefined = self.shares(evidence)
        lacking = np.maximum(target - achieved, 0.0).sum(axis=1)
        return Result(np.minimum(lacking, 1.0), undefined)  # targets may sum to a last bit more than 1


DOCUMENTS, GROUPS = "documents", "groups"
NO_EXPOSURE = "no document has exposure"


@declare
class Gini(GroupMeasure):
    """How unequally exposure is distributed over documents, or over groups. 0 means that all get the same;
    values close to 1 mean that one gets everything.

    ``by='documents'`` is one value for a whole run: the exposure of a document is the attention at its ranks,
    summed over the queries, for every document among the first k of any list. For a single query it would
    only depend on the length of the list. ``by='groups'`` is a value for each query, over the exposure of
    the groups.

    When to use: to see the inequality of exposure, whether few documents, items or groups get most of it,
    without a target; prefer AWRF where there is one, and EE_D for several rankings of a query.
    """

    in_words = "inequality of exposure"
    formula = "sum_ij |e_i - e_j| / (2 n sum_i e_i)"
    reference = "Gini 1912; LensKit, ExposureGini; Fleder and Hosanagar 2009, Management Science 55(5)"
    direction = Direction.LOWER
    undefined_when = reasons(EMPTY_LIST) | {
        NO_EXPOSURE: "no list has a document at a rank that gets attention"
    }

    by: str = parameter(DOCUMENTS, choice(DOCUMENTS, GROUPS), "one value for all queries, or over groups")
    attr: str | None = parameter(None, ATTRIBUTE, "the attribute, for by='groups'; None where there is one")
    attention: Attention = attention_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by == DOCUMENTS:
            object.__setattr__(self, "over_queries", True)

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        return self if self.by == DOCUMENTS else super().settled(sources)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.documents"}) if self.by == DOCUMENTS else super().needs

    def compute(self, evidence: RankedEvidence) -> Result:
        if self.by == DOCUMENTS:
            return self._of_documents(evidence)
        weights = self.attention.weights(evidence.ranked.depth)  # (K,)
        exposure = padded_sum(self.membership(evidence) * weights[:, None])  # (Q, L)
        exists = self.existing(evidence)  # (Q, L)
        values = np.array([gini(row[there]) for row, there in zip(exposure, exists, strict=True)])
        nothing = exposure.sum(axis=1) <= 0
        return Result(values, self.undefined(evidence) | {NO_EXPOSURE: nothing})

    def _of_documents(self, evidence: RankedEvidence) -> Result:
        ranked = evidence.ranked
        weights = self.attention.weights(ranked.depth)  # (K,)
        rank = np.nonzero(ranked.mask)[1]
        _, places = np.unique(ranked["documents"][ranked.mask], return_inverse=True)
        # in an order of their own, so that the sum does not depend on that of the queries
        order = np.lexsort((rank, places))
        exposure = np.bincount(places[order], weights=weights[rank[order]]).astype(np.float64)  # (D,)
        nothing = np.array([not len(rank)])
        return Result(
            np.array([gini(exposure)]),
            {EMPTY_LIST: nothing, NO_EXPOSURE: np.array([exposure.sum() <= 0]) & ~nothing},
        )


def gini(exposure: Floats) -> float:
    """``sum_ij |e_i - e_j| / (2 n sum e)``, from the sorted values; 0 where there is none.

    >>> gini(np.array([1.0, 1.0, 0.0, 2.0]))
    0.375
    """
    total, count = float(exposure.sum()), len(exposure)
    if total <= 0:
        return 0.0
    place = np.arange(1, count + 1)
    return max(0.0, float(((2 * place - count - 1) * np.sort(exposure)).sum() / (count * total)))
