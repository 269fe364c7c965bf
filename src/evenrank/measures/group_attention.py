"""The attention that groups get, and how far that of one group is from that of another; there is no target.

ECE and MA are of a reader who goes on with probability 1 - p. The ratios EXP, EXPU and EXPRU take the
discount of DCG, ``1 / log2(1 + rank)``. Means over documents are weighted by membership.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, number, parameter
from evenrank.measures.base import EMPTY_LIST, NOT_JUDGED, Direction, Result, reasons
from evenrank.measures.groups import GroupMeasure
from evenrank.measures.sums import divide, padded_sum

ABSENT = "a value is absent"
NO_RELEVANCE = "a group has no relevant document"
MEAN_OF_NOTHING = {ABSENT: "a value has no document in the list, so its mean is one of nothing"}


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class AttentionMeasure(GroupMeasure):
    """A measure of the attention by group; there is no target."""

    direction: ClassVar[Direction] = Direction.NONE
    undefined_when: ClassVar[Mapping[str, str]] = reasons(EMPTY_LIST)

    p: float = parameter(
        0.15, number(0, 1, open_low=True, open_high=True), "probability that the reader stops after a rank"
    )

    def exposure(self, evidence: RankedEvidence) -> Floats:
        """(Q, L): the attention that each value gets in all, p (1 - p)**(i - 1) at rank i."""
        weights = attention.rbp(p=1 - self.p).weights(evidence.ranked.depth)  # (K,)
        return padded_sum(self.membership(evidence) * weights[:, None])

    def mean_attention(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        """(Q, L) twice: the mean attention, in percent, of a value's documents, and how many there are."""
        mass = padded_sum(self.membership(evidence))
        return 100 * divide(self.exposure(evidence), mass), mass


def smallest_over_largest(values: Floats, exists: Bools) -> Floats:
    """(Q,): the smallest of (Q, L) numbers over the largest, of the values that a query has."""
    least = np.where(exists, values, np.inf).min(axis=1)
    most = np.where(exists, values, -np.inf).max(axis=1)
    return divide(np.where(np.isfinite(least), least, 0.0), np.where(np.isfinite(most), most, 0.0))


def lacking(mass: Floats, exists: Bools) -> Bools:
    """(Q,): where a value that the query has has nothing."""
    return np.asarray(((mass == 0) & exists).any(axis=1))


@declare
class ECE(AttentionMeasure):
    """The attention that each group gets in total, with one column for each group. 0 means that the group
    gets none; 1 means that it gets all attention.

    The name stands for expected cumulative exposure.

    When to use: to see the total attention of each group; prefer MA for that of a document, and AWRF for
    the distance from a target.
    """

    in_words = "attention in total"
    formula = "ECE_g = sum_{i<=k} G_i(g) p (1 - p)**(i - 1)"
    reference = (
        "Sapiezynski, Zeng and Robertson 2019, WWW companion; Sakai, Kim and Kang 2022 (gfr-2022), Eq. 4"
    )

    def compute(self, evidence: RankedEvidence) -> Result:
        where = self.undefined(evidence)[EMPTY_LIST][:, None]
        return Result(self.exposure(evidence), {EMPTY_LIST: where}, self.value_names(evidence))


@declare
class MA(AttentionMeasure):
    """The attention, in percent, that a document of each group gets on average, with one column for each
    group. 0 means none; 100 means that readers see nothing else.

    The name stands for mean attention.

    When to use: to see the attention of a document of each group; prefer ABR for one ratio, and ECE for
    totals.
    """

    in_words = "attention of one document"
    formula = "MA_g = sum_i G_i(g) 100 p (1 - p)**(i - 1) / sum_i G_i(g)"
    reference = (
        "Ghosh, Dutt and Wilson 2021, When fair ranking meets uncertain inference, SIGIR; "
        "Sakai, Kim and Kang 2022 (gfr-2022), Eq. 2"
    )
    bounds = (0.0, 100.0)
    undefined_when = reasons(EMPTY_LIST) | {ABSENT: "the value has no document in the list"}

    def compute(self, evidence: RankedEvidence) -> Result:
        values, mass = self.mean_attention(evidence)
        where = self.undefined(evidence)[EMPTY_LIST][:, None]
        return Result(values, {EMPTY_LIST: where, ABSENT: mass == 0}, self.value_names(evidence))


@declare
class ABR(AttentionMeasure):
    """How equally documents of different groups are seen: the mean attention of the group that has the least,
    divided by that of the group that has the most. 1 means that all groups get the same; values close to 0
    mean that one group gets hardly any.

    The name stands for attention bias ratio.

    When to use: to see whether one group is ranked lower, by the mean attention of its documents, as one
    ratio; prefer AWRF where groups have a target, and EXPU where relevance should earn attention.
    """

    in_words = "equal attention of groups"
    formula = "min_g MA_g / max_g MA_g"
    reference = "Ghosh, Dutt and Wilson 2021, SIGIR; Sakai, Kim and Kang 2022 (gfr-2022), Eq. 3"
    direction = Direction.HIGHER
    undefined_when = reasons(EMPTY_LIST) | MEAN_OF_NOTHING

    def compute(self, evidence: RankedEvidence) -> Result:
        values, mass = self.mean_attention(evidence)
        exists = self.existing(evidence)
        absent = {ABSENT: lacking(mass, exists)}
        return Result(smallest_over_largest(values, exists), self.undefined(evidence) | absent)


REFERENCE = "Singh and Joachims 2018, Fairness of exposure in rankings, KDD; FairRankTune, {}('MinMaxRatio')"
WITHOUT_RELEVANCE = "the documents of a value in the list have no relevance, so nothing can be divided by it"
OF_RELEVANCE = reasons(NOT_JUDGED, EMPTY_LIST) | MEAN_OF_NOTHING | {NO_RELEVANCE: WITHOUT_RELEVANCE}


class ExposureRatio(GroupMeasure):
    """The smallest of a number that every group has over the largest: sum_i G_i(g) a_i / sum_i G_i(g) b_i."""

    direction = Direction.HIGHER
    undefined_when: ClassVar[Mapping[str, str]] = reasons(EMPTY_LIST) | MEAN_OF_NOTHING
    realised: ClassVar[bool] = False  # a_i is exposure times grade, not exposure alone
    by_relevance: ClassVar[bool] = False  # b_i is the grade, not 1

    @property
    def needs(self) -> frozenset[str]:
        judged = {"ranked.relevance", "judged.relevance"} if self.by_relevance else set()
        return frozenset({f"ranked.{self.source}", *judged})

    def compute(self, evidence: RankedEvidence) -> Result:
        ranked, exists = evidence.ranked, self.existing(evidence)
        membership = self.membership(evidence)  # (Q, K, L)
        exposed = membership * attention.log2().weights(ranked.depth)[:, None]
        there = padded_sum(membership)  # (Q, L)
        found = self.undefined(evidence) | {ABSENT: lacking(there, exists)}
        if self.by_relevance:
            grades = np.maximum(ranked["relevance"], 0).astype(float)[:, :, None]  # (Q, K, 1)
            exposed = exposed * grades if self.realised else exposed
            there = padded_sum(membership * grades)
            nothing = {NO_RELEVANCE: lacking(there, exists)}
            found = {NOT_JUDGED: ~evidence.query["relevance.judged"], **found, **nothing}
        return Result(smallest_over_largest(divide(padded_sum(exposed), there), exists), found)


@declare
class EXP(ExposureRatio):
    """How equally documents of different groups are exposed: the mean exposure of a document of the group
    that has the least, divided by that of the group that has the most. 1 means that all groups get the same;
    values close to 0 mean that one group gets hardly any.

    When to use: to see whether one group is ranked lower, by the exposure of its documents, without
    judgements; prefer EXPU or EXPRU where groups differ in relevance, ABR for a reader who stops with a fixed
    probability, and AWRF where there is a target.
    """

    in_words = "equal exposure of groups"
    formula = "min_g x_g / max_g x_g, x_g = sum_i G_i(g) v_i / sum_i G_i(g)"
    reference = REFERENCE.format("EXP")


@declare
class EXPU(ExposureRatio):
    """How equally documents of different groups are exposed for their relevance: the mean exposure of a
    group's documents over their mean grade, for the group that has the least, divided by the group that has
    the most. 1 means that exposure is in proportion to relevance for all groups; values close to 0 mean that
    one group gets hardly any for what it is worth.

    When to use: where a group's exposure should be in proportion to its relevance; prefer EXPRU to weigh
    documents one by one, EXP without judgements, and EE_L for several rankings of a query.
    """

    in_words = "exposure by usefulness"
    formula = "min_g x_g / max_g x_g, x_g = sum_i G_i(g) v_i / sum_i G_i(g) grade_i"
    reference = REFERENCE.format("EXPU")
    undefined_when = OF_RELEVANCE
    by_relevance = True


@declare
class EXPRU(ExposureRatio):
    """How equally the relevance of different groups is seen: the mean of exposure times grade of a group's
    documents over their mean grade, for the group that has the least, divided by the group that has the
    most. 1 means that relevant documents of all groups are seen equally; values close to 0 mean that those
    of one group are hardly seen.

    The name stands for exposure and realised utility: exposure times grade stands in for clicks.

    When to use: where exposure should go to the relevant documents within each group; prefer EXPU where
    it should be in proportion to the group's relevance, and EXP without judgements.
    """

    in_words = "equal relevance by group"
    formula = "min_g x_g / max_g x_g, x_g = sum_i G_i(g) v_i grade_i / sum_i G_i(g) grade_i"
    reference = REFERENCE.format("EXPRU")
    undefined_when = OF_RELEVANCE
    by_relevance = True
    realised = True
