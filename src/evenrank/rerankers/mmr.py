"""Documents that are relevant and unlike those before them."""

from __future__ import annotations

import numpy as np

from evenrank import attention
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, number, parameter
from evenrank.measures.relevance import divide
from evenrank.rerankers.base import Reordered
from evenrank.rerankers.grouped import Closed, GroupReranker

_TIE = 1e-12  # equal sums differ in the last bit


@declare
class MMR(GroupReranker):
    """Takes at each rank a document that is relevant and unlike those before it. ``lam=1`` counts relevance
    alone and keeps the order; ``lam=0`` counts difference alone.

    The name stands for maximal marginal relevance. The next document has the largest ``lam rel(d) - (1 - lam)
    max_s sim(d, s)`` over the documents s that stand already. ``rel`` comes from the ranking, 1 / log2(1 +
    rank); ``sim`` is the cosine of memberships. Of equal ones the first stands first, so that ``lam=1``
    changes nothing, but for documents without a group, which go where ``missing`` says.
    """

    reference = "Carbonell and Goldstein 1998, The use of MMR, diversity-based reranking, SIGIR, Eq. 1"

    lam: float = parameter(0.5, number(0, 1), "weight of relevance; the rest is that of being different")

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        groups = self.groups(evidence)
        closed = Closed.of(evidence, groups)
        count, width = groups.shape
        shares = np.take_along_axis(evidence.ranked[self.source], closed.places[:, :, None], axis=1)
        lengths = np.sqrt((shares**2).sum(axis=2, keepdims=True))
        direction = divide(shares, lengths)  # (Q, K, L)
        relevance = attention.log2().weights(width)[closed.places]  # (Q, K)
        there = np.arange(width) < closed.sizes[:, None]
        nearest = np.zeros((count, width))  # the similarity to the nearest that stands already
        order = np.tile(np.arange(width), (count, 1))
        every = np.arange(count)
        for rank in range(int(closed.sizes.max(initial=0))):
            value = np.where(there, self.lam * relevance - (1 - self.lam) * nearest, -np.inf)
            best = value.max(axis=1, keepdims=True, initial=-np.inf)
            chosen = (value >= best - _TIE).argmax(axis=1)
            now = every[rank < closed.sizes]
            order[now, rank] = chosen[now]
            there[now, chosen[now]] = False
            like = np.matmul(direction, direction[every, chosen][:, :, None])[:, :, 0]  # (Q, K)
            nearest = np.maximum(nearest, like)
        return Reordered(self.embedded(evidence, closed, order))
