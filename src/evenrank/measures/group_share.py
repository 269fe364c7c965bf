"""The distribution over values that a list achieves, and the one that it should."""

from __future__ import annotations

from typing import ClassVar

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
