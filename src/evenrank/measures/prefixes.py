"""The groups among the first i documents, for every i: how far from the target, and which are too few.

Documents without membership have no group: they add to no share, unless ``missing`` says otherwise. A
prefix of such documents has no shares at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.data.attribute import TARGETS
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, parameter
from evenrank.measures.base import (
    EMPTY_LIST,
    NO_TARGET,
    Direction,
    Note,
    Result,
    reasons,
)
from evenrank.measures.divergences import kullback_leibler
from evenrank.measures.groups import GroupMeasure
from evenrank.measures.missing import NONE, UNDEFINED, UNIFORM, missing_parameter
from evenrank.measures.sums import divide, padded_sum

NO_GROUP = "no document has a group"
FEASIBLE = (
    "{count} of {of} lists are infeasible: some group has fewer documents than its target requires at "
    "{total} ranks in all; every list is feasible down to rank {least}"
)
FLOOR_TOLERANCE = 1e-9  # a product of shares and ranks may fall short of a whole number in the last bit

TARGET = choice(*TARGETS, optional=True)
TARGET_MEANS = "the target, where it is not to be the attribute's own"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class PrefixShareMeasure(GroupMeasure):
    """A measure of the shares of the first i documents, where some may have no group."""

    undefined_when: ClassVar[Mapping[str, str]] = reasons(EMPTY_LIST, NO_TARGET) | {
        NO_GROUP: "no document of the list has any value of the attribute"
    }

    target: str | None = parameter(None, TARGET, TARGET_MEANS)
    missing: str = missing_parameter(NONE, UNDEFINED, UNIFORM, "drop", "error")

    @property
    def own_target(self) -> str | None:
        return self.target

    def masses(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): the membership of the first i documents, summed over all values."""
        return np.cumsum(self.membership(evidence).sum(axis=2), axis=1)

    def divergences(self, evidence: RankedEvidence) -> tuple[Floats, Bools]:
        """(Q, K) twice: KL(D_i || D*), 0 where there is no D_i, and where there is one."""
        some = (self.masses(evidence) > 0) & evidence.ranked.mask
        apart = kullback_leibler(self.prefix_shares(evidence), self.target_shares(evidence)[:, None, :])
        return np.where(some, np.maximum(apart, 0.0), 0.0), some


def prefix_notes(some: Bools, mask: Bools, what: str) -> tuple[Note, ...]:
    """How many ranks have no document of any group down to them, and what becomes of them."""
    count = int((mask & ~some).sum())
    text = f"no document down to {{count}} of the ranks has a group: {what}"
    return (Note(text, count),) if count else ()


@declare
class KL(PrefixShareMeasure):
    """How far the groups among the first k documents are from the target. 0 means that they match the target
    exactly; infinity means that a group with a target of 0 is among them.

    The name stands for Kullback-Leibler divergence.

    When to use: for the first k documents as a set; prefer NDKL, which looks at every beginning of the
    list, and GF, which is bounded.
    """

    in_words = "groups away from target"
    formula = "KL(D_k || D*) = sum_g D_k(g) ln(D_k(g) / D*(g))"
    reference = "Gao, Ge and Shah 2021 (fair-2021), Eq. 8"
    direction = Direction.LOWER
    bounds = (0.0, np.inf)

    def compute(self, evidence: RankedEvidence) -> Result:
        apart, some = self.divergences(evidence)
        last = np.maximum(evidence.ranked.lengths - 1, 0)[:, None]  # (Q, 1)
        if not apart.shape[1]:
            apart, some = np.zeros((len(evidence), 1)), np.zeros((len(evidence), 1), dtype=bool)
        value = np.take_along_axis(apart, last, axis=1)[:, 0]
        return Result(value, {**self.undefined(evidence), NO_GROUP: ~np.asarray(some.any(axis=1))})


@declare
class nDRKL(PrefixShareMeasure):
    """How close the groups among the first documents are to the target, over all cut-offs, where the top
    counts most. 1 means that every part of the list from the top matches the target; values close to 0 mean
    that all are far from it.

    The name stands for normalised discounted reciprocal of the KL divergence. A prefix without group has no
    divergence and is left out, of the sum and of what it is divided by.

    When to use: as NDKL on a scale from 0 to 1; prefer GF, which weighs ranks by a model of the reader.
    """

    in_words = "groups near the target"
    formula = "1/Z sum_{i<=k} 1 / (log2(1 + i) (KL(D_i || D*) + 1)), Z = sum_{i<=k} 1 / log2(1 + i)"
    reference = "Gao, Ge and Shah 2021 (fair-2021), Eq. 8"
    direction = Direction.HIGHER

    def compute(self, evidence: RankedEvidence) -> Result:
        _, some = self.divergences(evidence)
        undefined = {**self.undefined(evidence), NO_GROUP: ~np.asarray(some.any(axis=1))}
        said = prefix_notes(some, evidence.ranked.mask, "left out")
        return Result(padded_sum(self.explain(evidence)), undefined, notes=said)

    def explain(self, evidence: RankedEvidence) -> Floats:
        apart, some = self.divergences(evidence)
        weights = attention.log2().weights(evidence.ranked.depth) * some  # (Q, K)
        return divide(weights / (apart + 1), padded_sum(weights)[:, None])


class FeasibilityMeasure(PrefixShareMeasure):
    """A count of what is too few among the first i documents: fewer of g than floor(q_g i)."""

    reference = "Geyik, Ambler and Kenthapadi 2019, KDD; Gao, Ge and Shah 2021 (fair-2021)"
    direction = Direction.LOWER
    bounds = (0.0, np.inf)
    undefined_when = reasons(EMPTY_LIST, NO_TARGET)

    def too_few(self, evidence: RankedEvidence) -> Bools:
        """(Q, K, L): where a value has fewer documents among the first i than its floor."""
        rank = np.arange(1, evidence.ranked.depth + 1)[:, None]  # (K, 1)
        floors = np.floor(self.target_shares(evidence)[:, None, :] * rank + FLOOR_TOLERANCE)  # (Q, K, L)
        have = np.cumsum(self.membership(evidence), axis=1)
        short: Bools = (have < floors - FLOOR_TOLERANCE) & evidence.ranked.mask[:, :, None]
        return short


def feasible_ranks(short: Bools, mask: Bools) -> Bools:
    """(Q, K): the ranks down to which no group has too few documents at any rank."""
    return np.asarray(~np.logical_or.accumulate(short, axis=1) & mask)


@declare
class FeasibleDepth(FeasibilityMeasure):
    """The rank down to which every group has as many documents as its target requires, at every rank on the
    way. 0 means that a group has too few at the first rank already; the largest value is the length of the
    list.

    Use it to say how much of a list keeps a quota; prefer InfeasibleIndex to count the ranks that break it,
    wherever they are.

    When to use: to see how far down a list keeps every group's quota; prefer InfeasibleIndex for how
    often it fails.
    """

    in_words = "ranks before a group lacks"
    formula = "max{i <= k: n_g(j) >= floor(q_g j) for all j <= i and all g}"
    direction = Direction.HIGHER

    def explain(self, evidence: RankedEvidence) -> Floats:
        short = np.asarray(self.too_few(evidence).any(axis=2))
        return feasible_ranks(short, evidence.ranked.mask).astype(float)


@declare
class InfeasibleIndex(FeasibilityMeasure):
    """The number of ranks at which some group has fewer documents so far than its target requires. 0 means
    that every group has enough at every rank; the largest value is the number of ranks.

    A list is feasible where this is 0. FeasibleDepth says down to which rank a list is feasible, and
    InfeasibleCount counts every group that falls short.

    When to use: to count the ranks at which a quota or minimum share is violated; prefer NDKL or GF for how
    far from the target.
    """

    in_words = "ranks where a group lacks"
    formula = "#{i <= k: n_g(i) < floor(q_g i) for some g}"

    def compute(self, evidence: RankedEvidence) -> Result:
        """With the summary that a reader needs to say whether the lists are feasible."""
        undefined = self.undefined(evidence)
        short = np.asarray(self.too_few(evidence).any(axis=2))  # (Q, K)
        defined = ~np.any([*undefined.values()], axis=0)  # (Q,)
        notes: tuple[Note, ...] = ()
        if defined.any():
            ranks = short[defined].sum(axis=1)
            least = feasible_ranks(short, evidence.ranked.mask).sum(axis=1)[defined].min()
            notes = (
                Note(FEASIBLE, int((ranks > 0).sum()), len(ranks), 0.0, float(ranks.sum()), float(least)),
            )
        return Result(padded_sum(short.astype(float)), undefined, notes=notes)

    def explain(self, evidence: RankedEvidence) -> Floats:
        return self.too_few(evidence).any(axis=2).astype(float)


@declare
class InfeasibleCount(FeasibilityMeasure):
    """The number of times, over ranks and groups, that a group has fewer documents so far than its target
    requires. 0 means that every group has enough at every rank; the largest value is the number of ranks
    times the number of groups.

    When to use: to count how often a quota is violated, by rank and group; prefer InfeasibleIndex to count
    ranks, and GF for how far.
    """

    in_words = "lacks by rank and group"
    formula = "#{(i, g), i <= k: n_g(i) < floor(q_g i)}"

    def explain(self, evidence: RankedEvidence) -> Floats:
        return np.asarray(self.too_few(evidence).sum(axis=2), dtype=np.float64)


@declare
class NDKL(GroupMeasure):
    """How far the groups among the first documents are from the target, over all cut-offs, where the top
    counts most. 0 means that every part of the list from the top matches the target; infinity means that a
    group with a target of 0 is in the list.

    The name stands for normalised discounted Kullback-Leibler divergence. The mean is
    over the documents there are, up to the cut-off.

    When to use: to compare with studies of re-ranking that use it; prefer GF, which is bounded and knows
    ordinal groups.
    """

    in_words = "groups away from target"
    formula = "sum_i KL(p_i || q) / log2(1 + i), divided by sum_i 1 / log2(1 + i), i <= min(k, n)"
    reference = "Geyik, Ambler and Kenthapadi 2019, KDD; Sakai, Kim and Kang 2022 (gfr-2022), Eq. 1"
    direction = Direction.LOWER
    bounds = (0.0, float("inf"))

    def explain(self, evidence: RankedEvidence) -> Floats:
        target = self.target_shares(evidence)[:, None, :]  # (Q, 1, L)
        apart = kullback_leibler(self.prefix_shares(evidence), target)  # (Q, K)
        weights = attention.log2().weights(evidence.ranked.depth) * evidence.ranked.mask  # (Q, K)
        shares = divide(weights, padded_sum(weights)[:, None])
        # below the list, the divergence of the whole list stands: it may be infinite, and counts nothing
        apart[~evidence.ranked.mask] = 0.0
        return apart.clip(min=0.0) * shares
