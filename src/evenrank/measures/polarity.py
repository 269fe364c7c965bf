"""Which of two sides a list leans to: the mean over ranks of G(a_1) - G(a_2), 1 for the first value.

Where the sides are two versions of the same document, a pair says which one a ranker prefers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats, Int64s
from evenrank.attention import Attention
from evenrank.data.evidence_source import Evidence
from evenrank.data.membership import evidence_name
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, grade, parameter, text
from evenrank.measures.base import EMPTY_LIST, NOT_JUDGED, Direction, Measure, Result, reasons
from evenrank.measures.evidence_attention import attention_parameter
from evenrank.measures.groups import GroupMeasure, only_attribute
from evenrank.measures.missing import NONE, missing_parameter
from evenrank.measures.relevance import ranks
from evenrank.measures.sums import divide, padded_sum

NONE_RETRIEVED = "no relevant document in the list"


class LeaningMeasure(GroupMeasure):
    """A signed measure of an attribute of two values; there is no target."""

    direction = Direction.SIGNED
    bounds = (-1.0, 1.0)
    two_values = True
    undefined_when = reasons(EMPTY_LIST)

    def leaning(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): +1 for a document of the first value, -1 for one of the second; 0 in the padding."""
        shares = self.membership(evidence)
        leaning: Floats = shares[:, :, 0] - shares[:, :, 1]
        return leaning


@declare
class OB(LeaningMeasure):
    """Which of two groups the first t documents lean to on average, over all t down to the cut-off. 1 means
    only documents of the first group, -1 only documents of the second; 0 means that they balance.

    The name stands for output bias.

    When to use: for the political or other leaning of the results to one of two sides, over cut-offs; prefer
    DUO for the order alone and AWRF for more groups.
    """

    in_words = "lean of the groups"
    formula = "1/k sum_{t<=k} 1/t sum_{i<=t} (G_i(a_1) - G_i(a_2)), over min(k, n) ranks"
    reference = "Kulshrestha et al. 2017, Quantifying search bias, CSCW"

    def explain(self, evidence: RankedEvidence) -> Floats:
        reciprocal = evidence.ranked.mask / ranks(evidence)  # (Q, K): 1/t
        # rank i is part of the means of all t >= i
        later = np.cumsum(reciprocal[:, ::-1], axis=1)[:, ::-1]  # (Q, K)
        lengths = evidence.ranked.lengths[:, None].astype(float)  # (Q, 1)
        return divide(self.leaning(evidence) * later, lengths)


@declare
class MeanPolarity(LeaningMeasure):
    """Which of two groups the documents lean to on average, weighted by the attention that they get. 1 means
    only documents of the first group, -1 only documents of the second; 0 means that they balance.

    With ``relevant=True`` only relevant documents count.

    When to use: for the mean leaning of the results to one of two sides or stances, by attention; prefer OB
    for an average over cut-offs and AWRF for a target.
    """

    name = "Polarity"
    in_words = "lean of the groups"
    formula = "sum_{i<=k} v_i (G_i(a_1) - G_i(a_2)) / sum_{i<=k} v_i"
    reference = "Gezici et al. 2021, Evaluation metrics for measuring bias in search engine results, IRJ 24"
    undefined_when = reasons(EMPTY_LIST) | {
        NOT_JUDGED: "the query has no judgements, and only relevant documents count",
        NONE_RETRIEVED: "only relevant documents count, and there is none",
    }

    attention: Attention = attention_parameter()
    relevant: bool = parameter(False, flag(), "count relevant documents only; the others get no attention")
    rel: float = parameter(1, grade(), "smallest grade that is relevant")

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | ({"ranked.relevance"} if self.relevant else set())

    def attended(self, evidence: RankedEvidence) -> Floats:
        """(Q, K): the attention of the ranks that count."""
        counts = evidence.ranked.mask
        if self.relevant:
            counts = counts & (evidence.ranked["relevance"] >= self.rel)
        return self.attention.weights(evidence.ranked.depth) * counts

    def explain(self, evidence: RankedEvidence) -> Floats:
        weights = self.attended(evidence)
        return divide(self.leaning(evidence) * weights, padded_sum(weights)[:, None])

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        reasons = super().undefined(evidence)
        if self.relevant:
            reasons[NOT_JUDGED] = ~evidence.query["relevance.judged"]
            reasons[NONE_RETRIEVED] = self.attended(evidence).sum(axis=1) == 0
        return reasons


NO_PAIR = "no pair"
REFERENCE = "Krieg et al. 2023, Grep-BiasIR: a dataset for investigating gender bias in retrieval, CHIIR"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class VersionMeasure(GroupMeasure):
    """A measure of two documents that differ in one thing only, such as the gender of a person in them.

    ``attr`` says which version a document is, ``pair`` which documents are versions of the same.
    """

    two_values: ClassVar[bool] = True
    undefined_when: ClassVar[Mapping[str, str]] = reasons(EMPTY_LIST) | {
        NO_PAIR: "the list does not have both versions of any document"
    }

    pair: str | None = parameter(
        None, text(optional=True), "the attribute that versions of a document share; None: all of a query"
    )
    missing: str = missing_parameter(NONE, "error", what="a version")

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        if self.attr is None and self.pair is not None:
            others = {name: s for name, s in sources.items() if name != evidence_name(self.pair)}
            return dataclasses.replace(self, attr=only_attribute(repr(self), others)).settled(sources)
        return super().settled(sources)

    @property
    def needs(self) -> frozenset[str]:
        pairs = set() if self.pair is None else {f"ranked.{evidence_name(self.pair)}"}
        return super().needs | pairs

    def pairs(self, evidence: RankedEvidence) -> Bools:
        """(Q, K, K): where one rank has the first version of a document and the other rank the second."""
        ranked = evidence.ranked
        version = largest_share(ranked[self.source])  # (Q, K)
        same = ranked.mask[:, :, None] & ranked.mask[:, None, :]
        if self.pair is not None:
            content = largest_share(ranked[evidence_name(self.pair)])
            same = same & (content[:, :, None] == content[:, None, :]) & (content >= 0)[:, :, None]
        return np.asarray(same & (version == 0)[:, :, None] & (version == 1)[:, None, :])

    def unpaired(self, evidence: RankedEvidence, pairs: Bools) -> dict[str, Bools]:
        return self.undefined(evidence) | {NO_PAIR: ~np.asarray(pairs.any(axis=(1, 2)))}


def largest_share(membership: Floats) -> Int64s:
    """(Q, K): the value of which a document has the largest share, of equal ones the first; -1 for none."""
    if not membership.shape[2]:
        return np.full(membership.shape[:2], -1)
    return np.where(membership.max(axis=2) > 0, membership.argmax(axis=2), -1)


@declare
class PairPreference(VersionMeasure):
    """Which of two versions of the same document stands higher, over all pairs in a list. 1 means always the
    first version, -1 always the second; 0 means that neither is preferred.

    When to use: to count which version of a document stands higher; prefer VersionExposure where it matters
    by how much, and dGF where documents of two groups are not versions of each other.
    """

    in_words = "wins against other groups"
    formula = "(#{pairs: first version above} - #{pairs: second version above}) / #{pairs}"
    reference = REFERENCE
    direction = Direction.SIGNED
    bounds = (-1.0, 1.0)

    def compute(self, evidence: RankedEvidence) -> Result:
        pairs = self.pairs(evidence)
        above = np.triu(np.ones(pairs.shape[1:], dtype=bool), 1)
        first, second = (pairs & above).sum(axis=(1, 2)), (pairs & above.T).sum(axis=(1, 2))
        value = divide((first - second).astype(float), (first + second).astype(float))
        return Result(value, self.unpaired(evidence, pairs))


@declare
class VersionExposure(VersionMeasure):
    """How much more exposure the first version of documents gets than the second, over the documents of which
    a list has both, as the logarithm of the ratio. 0 means that both get the same; positive values mean that
    the first version gets more (0.69: twice as much), negative values that the second does.

    Exposure is the discount of DCG, summed over the list.

    When to use: to see how much more exposure one version of a document gets; prefer PairPreference to
    count who stands higher.
    """

    in_words = "exposure by version"
    formula = "ln(E_1 / E_2), E_a the sum of v_i over documents of version a whose other version is there"
    reference = REFERENCE
    direction = Direction.SIGNED
    bounds = (-np.inf, np.inf)

    def compute(self, evidence: RankedEvidence) -> Result:
        pairs = self.pairs(evidence)
        weights = attention.log2().weights(evidence.ranked.depth)  # (K,)
        first = padded_sum(np.asarray(pairs.any(axis=2)) * weights)
        second = padded_sum(np.asarray(pairs.any(axis=1)) * weights)
        some = first > 0  # then the second has some, too
        ratio = np.where(some, np.log(np.where(some, first, 1.0)) - np.log(np.where(some, second, 1.0)), 0.0)
        return Result(ratio, self.unpaired(evidence, pairs))
