"""Greedy orders: the next document is the one that adds most, to relevance and fairness or to novelty."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from evenrank.arrays import Bools, Int64s
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, integer, number, parameter
from evenrank.measures.base import NO_TARGET
from evenrank.measures.divergences import kullback_leibler
from evenrank.measures.diversity import alpha_nDCG
from evenrank.measures.fair import FAIR
from evenrank.measures.greedy import Divergence, greedy_order
from evenrank.rerankers.base import Reordered
from evenrank.rerankers.relevant import GroupRelevance


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class GreedyReranker(GroupRelevance):
    """A re-ranker by the gain of alpha-nDCG, of documents that are relevant to groups."""

    alpha: float = parameter(0.5, number(0, 1), "how much a repeated group loses")

    @property
    def measure(self) -> FAIR:
        """The measure that this order is greedy for."""
        return dataclasses.replace(super().measure, irm=alpha_nDCG(alpha=self.alpha, rel=1, cutoff=None))

    def order(
        self, evidence: RankedEvidence, explore: Bools | None, divergence: Divergence | None, smoothing: float
    ) -> Int64s:
        """(Q, R, K)."""
        lists = self.lists(evidence)
        return greedy_order(
            lists.relevant, lists.shares, self.target_shares(evidence), evidence.ranked.lengths,
            alpha=self.alpha, smoothing=smoothing, explore=explore, divergence=divergence,
        )  # fmt: skip


@declare
class FAIR_greedy(GreedyReranker):
    """Takes at each rank the document with the best balance of relevance and fairness to groups. With
    probability epsilon it takes the fairest document: 0 never does so, 1 always.

    Unfairness is the KL divergence of the groups so far from the target. ``smoothing=1`` is the divisor of
    the measure FAIR; 0 is the one that the paper's box prints. Relevance comes from judgements, or,
    without them, from the ranking. Greedy choices do not find the best list: of small pools the order for
    epsilon 0 misses 4% of the best FAIR on average with labels, half a percent with mixtures
    (benchmarks/rerank.md). Queries without a target keep their order.
    """

    reference = "Gao, Ge and Shah 2021 (fair-2021), Algorithm 1"
    epsilon: float = parameter(0.0, number(0, 1), "how often fairness alone decides")
    smoothing: float = parameter(1.0, number(0), "added to the divergence that the gain is divided by")
    seed: int = parameter(0, integer(0), "of the random choices")

    @property
    def stochastic(self) -> bool:  # type: ignore[override]
        """With epsilon 0 and 1 nothing is left to chance."""
        return 0 < self.epsilon < 1

    def ordered(self, evidence: RankedEvidence, generators: Sequence[np.random.Generator]) -> list[Reordered]:
        """All repetitions at once: they differ only in where fairness alone decides."""
        shape = evidence.ranked.rows.shape
        explore = np.stack([each.random(shape) < self.epsilon for each in generators], axis=1)  # (Q, R, K)
        places = self.order(evidence, explore, kullback_leibler, self.smoothing)
        lost = self.without_target(evidence)  # (Q,): what is unfair is not known, so nothing moves
        old = np.where(evidence.ranked.mask, np.arange(shape[1]), -1)
        places = np.where(lost[:, None, None], old[:, None, :], places)
        return [Reordered(places[:, place], {NO_TARGET: lost}) for place in range(len(generators))]


@declare
class Ideal_alpha_nDCG(GreedyReranker):
    """Takes at each rank the document with the largest gain of alpha_nDCG: the greedy ideal order of the
    list's own documents.
    """

    reference = "Clarke et al. 2008, SIGIR; Gao, Ge and Shah 2021 (fair-2021), IDCG"
    missing: str = parameter(
        "none",
        choice("none", "uniform", "error"),
        "documents without membership: of no group, equally of all values, or an error",
    )

    def ordered(self, evidence: RankedEvidence, generators: Sequence[np.random.Generator]) -> list[Reordered]:
        order = self.order(evidence, None, None, 1.0)[:, 0]
        return [Reordered(order) for _ in generators]
