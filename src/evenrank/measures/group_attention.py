"""The attention that groups get, and how far that of one group is from that of another; there is no target.

ECE and MA are of a reader who goes on with probability 1 - p. The ratios take the discount of DCG,
``1 / log2(1 + rank)``; their means over documents are weighted by membership.
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
from evenrank.measures.base import Direction, Result
from evenrank.measures.groups import EMPTY_LIST_MEANS, GroupMeasure
from evenrank.measures.neutrality import EMPTY_LIST
from evenrank.measures.relevance import NOT_JUDGED, divide
from evenrank.measures.sums import padded_sum

ABSENT = "a value is absent"
VALUE_ABSENT = "the value has no document in the list"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class AttentionMeasure(GroupMeasure):
    """A measure of the attention by group; there is no target."""

    undefined_when: ClassVar[dict[str, str]] = {EMPTY_LIST: EMPTY_LIST_MEANS}

    p: float = parameter(
        0.15, number(0, 1, open_low=True, open_high=True), "probability that the reader stops after a rank"
    )

    def weights(self, evidence: RankedEvidence) -> Floats:
        """(K,): p (1 - p)**(i - 1)."""
        return attention.rbp(p=1 - self.p).weights(evidence.ranked.depth)

    def exposure(self, evidence: RankedEvidence) -> Floats:
        """(Q, L): the attention that each value gets in all."""
        return padded_sum(self.membership(evidence) * self.weights(evidence)[:, None])

    def mean_attention(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        """(Q, L) twice: the mean attention, in percent, of a value's documents, and how many there are."""
        mass = padded_sum(self.membership(evidence))
        return 100 * divide(self.exposure(evidence), mass), mass

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        return {EMPTY_LIST: evidence.ranked.lengths == 0}


@declare
class ECE(AttentionMeasure):
    """The attention that each group gets in total, with one column for each group. 0 means that the group
    gets none; 1 means that it gets all attention.

    The name stands for expected cumulative exposure.

    When to use: to see the total attention of each group; prefer MA for that of a document, and AWRF for
    the distance from a target.
    """

    in_words = "attention in total"
    answers = (
        "how much attention or exposure does each group get",
        "exposure of each seller, brand or source",
    )
    formula = "ECE_g = sum_{i<=k} G_i(g) p (1 - p)**(i - 1)"
    reference = (
        "Sapiezynski, Zeng and Robertson 2019, WWW companion; Sakai, Kim and Kang 2022 (gfr-2022), Eq. 4"
    )
    direction = Direction.NONE

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
    answers = (
        "average attention of a document of each group",
        "do documents of one seller stand higher on average",
    )
    formula = "MA_g = sum_i G_i(g) 100 p (1 - p)**(i - 1) / sum_i G_i(g)"
    reference = (
        "Ghosh, Dutt and Wilson 2021, When fair ranking meets uncertain inference, SIGIR; "
        "Sakai, Kim and Kang 2022 (gfr-2022), Eq. 2"
    )
    direction = Direction.NONE
    bounds = (0.0, 100.0)
    undefined_when: ClassVar[dict[str, str]] = {**AttentionMeasure.undefined_when, ABSENT: VALUE_ABSENT}

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

    When to use: to compare the mean attention of a document between groups, as one ratio; prefer AWRF where
    groups have a target, and EXPU where relevance should earn attention.
    """

    in_words = "equal attention of groups"
    answers = (
        "is one group ranked lower than the others",
        "worst group compared with the best",
        "equal attention for all groups",
    )
    formula = "min_g MA_g / max_g MA_g"
    reference = "Ghosh, Dutt and Wilson 2021, SIGIR; Sakai, Kim and Kang 2022 (gfr-2022), Eq. 3"
    direction = Direction.HIGHER
    undefined_when: ClassVar[dict[str, str]] = {
        **AttentionMeasure.undefined_when,
        ABSENT: "a value has no document in the list, so its mean is one of nothing",
    }

    def compute(self, evidence: RankedEvidence) -> Result:
        values, mass = self.mean_attention(evidence)
        exists = self.existing(evidence)
        least = np.where(exists, values, np.inf).min(axis=1)
        most = np.where(exists, values, -np.inf).max(axis=1)
        absent = np.asarray(((mass == 0) & exists).any(axis=1))
        ratio = divide(np.where(np.isfinite(least), least, 0.0), np.where(np.isfinite(most), most, 0.0))
        return Result(ratio, {**self.undefined(evidence), ABSENT: absent})


NO_RELEVANCE = "a group has no relevant document"
REFERENCE = "Singh and Joachims 2018, Fairness of exposure in rankings, KDD; FairRankTune, {}('MinMaxRatio')"
UNDEFINED = {
    EMPTY_LIST: EMPTY_LIST_MEANS,
    ABSENT: "a value has no document in the list, so its mean is one of nothing",
}
UNDEFINED_RELEVANCE = {
    NOT_JUDGED: "the query has no judgements",
    **UNDEFINED,
    NO_RELEVANCE: "the documents of a value in the list have no relevance, so nothing can be divided by it",
}


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class ExposureRatio(GroupMeasure):
    """The smallest of a number that every group has, over the largest."""

    direction: ClassVar[Direction] = Direction.HIGHER
    undefined_when: ClassVar[Mapping[str, str]] = UNDEFINED
    by_relevance: ClassVar[bool] = False

    @property
    def needs(self) -> frozenset[str]:
        judged = {"ranked.relevance", "judged.relevance"} if self.by_relevance else set()
        return frozenset({f"ranked.{self.source}", *judged})

    def by_group(self, exposure: Floats, grades: Floats, membership: Floats) -> Floats:
        """(Q, L): the number of each group, from (Q, K, 1) twice and (Q, K, L)."""
        raise NotImplementedError(f"{type(self).__name__} has no kernel")

    def compute(self, evidence: RankedEvidence) -> Result:
        ranked, exists = evidence.ranked, self.existing(evidence)
        membership = self.membership(evidence)  # (Q, K, L)
        grades = np.zeros((*ranked.mask.shape, 1))
        if self.by_relevance:
            grades = np.maximum(ranked["relevance"], 0).astype(float)[:, :, None]
        exposure = attention.log2().weights(ranked.depth)[:, None]  # (K, 1)
        values = self.by_group(exposure, grades, membership)  # (Q, L)
        least = np.where(exists, values, np.inf).min(axis=1)
        most = np.where(exists, values, -np.inf).max(axis=1)
        return Result(divide(least, most), self._undefined(evidence, membership, grades, exists))

    def _undefined(
        self, evidence: RankedEvidence, membership: Floats, grades: Floats, exists: Bools
    ) -> dict[str, Bools]:
        absent = np.asarray(((padded_sum(membership) == 0) & exists).any(axis=1))
        found = {EMPTY_LIST: evidence.ranked.lengths == 0, ABSENT: absent}
        if not self.by_relevance:
            return found
        nothing = np.asarray(((padded_sum(membership * grades) == 0) & exists).any(axis=1))
        return {NOT_JUDGED: ~evidence.query["relevance.judged"], **found, NO_RELEVANCE: nothing}


@declare
class EXP(ExposureRatio):
    """How equally documents of different groups are exposed: the mean exposure of a document of the group
    that has the least, divided by that of the group that has the most. 1 means that all groups get the same;
    values close to 0 mean that one group gets hardly any.

    Use it for equal exposure without a target and without relevance. Prefer ABR for a reader who stops with
    a fixed probability, EXPU where groups differ in relevance, and AWRF where there is a target.

    When to use: to compare the exposure of a document between groups, without judgements; prefer EXPU or
    EXPRU where groups differ in relevance.
    """

    in_words = "equal exposure of groups"
    answers = (
        "is one group ranked lower than the others, by the discount of DCG",
        "ratio of exposure between the worst and the best group",
    )
    formula = "min_g x_g / max_g x_g, x_g = sum_i G_i(g) v_i / sum_i G_i(g)"
    reference = REFERENCE.format("EXP")

    def by_group(self, exposure: Floats, grades: Floats, membership: Floats) -> Floats:
        return divide(padded_sum(membership * exposure), padded_sum(membership))


@declare
class EXPU(ExposureRatio):
    """How equally documents of different groups are exposed for their relevance: the mean exposure of a
    group's documents over their mean grade, for the group that has the least, divided by the group that has
    the most. 1 means that exposure is in proportion to relevance for all groups; values close to 0 mean that
    one group gets hardly any for what it is worth.

    Use it where groups differ in relevance and exposure should follow it. Prefer EXP without judgements,
    EXPRU where relevance should count at the rank where it stands, and EE_L for several rankings of a query.

    When to use: where a group's exposure should be in proportion to its relevance; prefer EXPRU to weigh
    documents one by one, and EXP without judgements.
    """

    in_words = "exposure by usefulness"
    answers = (
        "exposure of groups in proportion to their relevance",
        "disparate treatment of groups",
    )
    formula = "min_g x_g / max_g x_g, x_g = sum_i G_i(g) v_i / sum_i G_i(g) grade_i"
    reference = REFERENCE.format("EXPU")
    undefined_when: ClassVar[Mapping[str, str]] = UNDEFINED_RELEVANCE
    by_relevance = True

    def by_group(self, exposure: Floats, grades: Floats, membership: Floats) -> Floats:
        return divide(padded_sum(membership * exposure), padded_sum(membership * grades))


@declare
class EXPRU(ExposureRatio):
    """How equally the relevance of different groups is seen: the mean of exposure times grade of a group's
    documents over their mean grade, for the group that has the least, divided by the group that has the
    most. 1 means that relevant documents of all groups are seen equally; values close to 0 mean that those
    of one group are hardly seen.

    The name stands for exposure and realised utility: exposure times grade stands in for clicks. Use it where
    only relevant documents need exposure. Prefer EXPU where every document of a group counts.

    When to use: where exposure should go to the relevant documents within each group; prefer EXPU where
    it should be in proportion to the group's relevance, and EXP without judgements.
    """

    in_words = "equal relevance by group"
    answers = (
        "are the relevant documents of all groups seen equally",
        "disparate impact: clicks of groups in proportion to their relevance",
    )
    formula = "min_g x_g / max_g x_g, x_g = sum_i G_i(g) v_i grade_i / sum_i G_i(g) grade_i"
    reference = REFERENCE.format("EXPRU")
    undefined_when: ClassVar[Mapping[str, str]] = UNDEFINED_RELEVANCE
    by_relevance = True

    def by_group(self, exposure: Floats, grades: Floats, membership: Floats) -> Floats:
        return divide(padded_sum(membership * exposure * grades), padded_sum(membership * grades))
