"""The shares of the first places that groups get and should get, and how far apart the two are: Skew."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.attention import Attention, uniform
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, parameter
from evenrank.measures.base import (
    EMPTY_LIST,
    NO_TARGET,
    REASONS,
    Direction,
    Result,
    reasons,
)
from evenrank.measures.evidence_attention import UNATTENDED, attention_parameter
from evenrank.measures.groups import GroupMeasure
from evenrank.measures.missing import NONE, UNDEFINED, missing_parameter
from evenrank.measures.sums import divide, padded_sum

LIST, TARGET = "list", "target"
NO_GROUP = "no group"


@declare
class GroupShare(GroupMeasure):
    """How much of the first k places each group gets, with one column for each group: its share of the
    places, or with an attention such as log2 its share of the attention in them. 0 means that it gets
    nothing; 1 means that it gets all.

    Places of documents without a group count for none, and a list of such documents alone is undefined, as
    in the verdicts of an audit. ``of='target'`` is the share that each group should have, to show beside it.
    The mean uses the weights of queries, where they have some.

    When to use: to see the share of the first page that each group gets, as of small sellers, brands, sources
    or genders; prefer AWRF or GF for one number that weighs ranks.
    """

    in_words = "share of the group"
    formula = "p(g) = sum_{i<=k} v_i G_i(g) / sum_{i<=k} v_i sum_h G_i(h), v_i = 1 or attention"
    reference = "Sakai, Kim and Kang 2022, arXiv 2204.00280, Figure 8"
    direction = Direction.NONE
    weighs_queries = True
    undefined_when: ClassVar[dict[str, str]] = {
        **reasons(EMPTY_LIST),
        NO_GROUP: "no document of the list is of any value",
        NO_TARGET: f"{REASONS[NO_TARGET]} (of='target')",
        **UNATTENDED,
    }

    # never ``uniform``: a share is what the labels show, as in verdicts, and not what they may be
    missing: str = missing_parameter(NONE, UNDEFINED, "drop", "error")
    of: str = parameter(LIST, choice(LIST, TARGET), "the shares of the list, or those that it should have")
    attention: Attention = attention_parameter(uniform(), more="; uniform: every document counts alike")

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | (self.attention.needs if self.of == LIST else frozenset())

    def compute(self, evidence: RankedEvidence) -> Result:
        names = self.value_names(evidence)
        if self.of == TARGET:
            where = self.undefined(evidence)[NO_TARGET][:, None]
            return Result(self.target_shares(evidence), {NO_TARGET: where}, names)
        weights = self.attention.at(evidence)  # (K,) or (Q, K)
        mass = padded_sum(self.membership(evidence) * weights[..., None])  # (Q, L)
        total = mass.sum(axis=1, keepdims=True)  # (Q, 1)
        empty = (evidence.ranked.lengths == 0)[:, None]
        lacking = self.attention.undefined(evidence)
        undefined = {EMPTY_LIST: empty, **{reason: where[:, None] for reason, where in lacking.items()}}
        return Result(divide(mass, total), {**undefined, NO_GROUP: (total <= 0) & ~empty}, names)


NOT_CONCERNED = "neither there nor wanted"
REFERENCE = "Geyik, Ambler and Kenthapadi 2019, Fairness-aware ranking in search and recommendation, KDD"


class SkewMeasure(GroupMeasure):
    """A measure of the ratios of achieved and wanted shares."""

    def skews(self, evidence: RankedEvidence) -> tuple[Floats, Bools]:
        """(Q, L): ln(p_g / q_g) of the whole list, and where a value is neither there nor wanted."""
        target = self.target_shares(evidence)  # (Q, L)
        shares = self.prefix_shares(evidence)  # (Q, K, L)
        achieved = shares[:, -1] if shares.shape[1] else np.zeros_like(target)
        with np.errstate(divide="ignore", invalid="ignore"):
            skews = np.log(achieved) - np.log(target)
        return skews, (achieved == 0) & (target == 0)


@declare
class Skew(SkewMeasure):
    """How over- or under-represented each group is among the first k documents, compared with its target. 0
    means exactly as the target says; positive values, up to infinity, mean too many documents, negative
    values, down to minus infinity, too few.

    It is the logarithm of the share over the target. It is minus infinity for a group that is wanted and
    absent, and plus infinity for one that is there with a target of 0.

    When to use: to see which groups are over- or under-represented among the first k; prefer MinSkew and
    MaxSkew for two numbers, and NDKL for one.
    """

    in_words = "group against target"
    formula = "Skew_g = ln(p_g / q_g), p the shares among the first k, q the target"
    reference = REFERENCE
    direction = Direction.SIGNED
    bounds = (-np.inf, np.inf)
    by_value = True
    undefined_when = reasons(EMPTY_LIST, NO_TARGET) | {
        NOT_CONCERNED: "the value has no document in the list and a target of 0"
    }

    def compute(self, evidence: RankedEvidence) -> Result:
        skews, neither = self.skews(evidence)
        whole = {reason: where[:, None] for reason, where in self.undefined(evidence).items()}
        return Result(skews, {**whole, NOT_CONCERNED: neither}, self.value_names(evidence))


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class ExtremeSkew(SkewMeasure):
    """The skew of one value, and over queries the mean of it or the extreme."""

    extreme: ClassVar[str] = ""

    over: str = parameter("mean", choice("mean", "extreme"), "over queries: the mean, or the worst of them")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.over == "extreme":
            object.__setattr__(self, "aggregation", self.extreme)

    def aggregate(self, values: Floats) -> Floats:
        worst = {"min": np.min, "max": np.max}.get(self.aggregation, np.mean)
        return np.asarray(worst(values, axis=-1))


@declare
class MinSkew(ExtremeSkew):
    """How under-represented the worst-off group is among the first k documents, compared with its target. 0
    means that no group has too few documents; minus infinity means that a group with a target is absent.

    A mean leaves infinite values out and so keeps only the better lists: the number of infinite ones stands
    beside it, and it is minus infinity where there are no others. ``over='extreme'`` is the least over
    queries, as in Gao, Ge and Shah 2021: minus infinity as soon as one list lacks a wanted value.

    When to use: to see how under-represented the worst-off group is; read it beside MaxSkew, and prefer NDKL
    for all groups and ranks.
    """

    in_words = "most under-represented group"
    formula = "min_g ln(p_g / q_g)"
    reference = f"{REFERENCE}; Gao, Ge and Shah 2021 (fair-2021)"
    direction = Direction.HIGHER
    bounds = (-np.inf, 0.0)
    extreme = "min"

    def compute(self, evidence: RankedEvidence) -> Result:
        skews, neither = self.skews(evidence)
        worst = np.where(neither, np.inf, skews).min(axis=1)
        value = np.minimum(worst, 0.0)  # equal shares may differ in the last bit
        return Result(value, self.undefined(evidence))


@declare
class MaxSkew(ExtremeSkew):
    """How over-represented the group with the largest advantage is among the first k documents, compared with
    its target. 0 means that no group has too many documents; infinity means that a group with a target of 0
    is there.

    ``over='extreme'`` is the most over queries, as in Gao, Ge and Shah 2021. (The values of its Table 4 are
    above what shares can give: counts were divided there, not proportions.)

    When to use: to see how over-represented the largest group is, whether one seller or source dominates;
    read it beside MinSkew, and prefer NDKL for all groups and ranks.
    """

    in_words = "most over-represented group"
    formula = "max_g ln(p_g / q_g)"
    reference = f"{REFERENCE}; Gao, Ge and Shah 2021 (fair-2021)"
    direction = Direction.LOWER
    bounds = (0.0, np.inf)
    extreme = "max"

    def compute(self, evidence: RankedEvidence) -> Result:
        skews, neither = self.skews(evidence)
        most = np.where(neither, -np.inf, skews).max(axis=1)
        return Result(np.maximum(most, 0.0), self.undefined(evidence))
