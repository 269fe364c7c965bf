"""The attention that groups get from a reader who goes on with probability 1 - p."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, number, parameter
from evenrank.measures.base import Direction, Result
from evenrank.measures.groups import EMPTY_LIST_MEANS, GroupMeasure
from evenrank.measures.neutrality import EMPTY_LIST
from evenrank.measures.relevance import divide
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
    reference = "Sapiezynski, Zeng and Robertson 2019, WWW companion; gfr-2022, Eq. 4"
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
        "Ghosh, Dutt and Wilson 2021, When fair ranking meets uncertain inference, SIGIR; gfr-2022, Eq. 2"
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
    reference = "Ghosh, Dutt and Wilson 2021, SIGIR; gfr-2022, Eq. 3"
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
