"""Documents that are relevant, and relevant to groups that were not served before."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.grammar import declare
from evenrank.rerankers.aspects import AspectReranker


@declare
class xQuAD(AspectReranker):
    """Takes at each rank a document that is relevant and belongs to groups that the documents before it have
    served least. ``lam=0`` keeps the order by score; ``lam=1`` counts the groups alone.

    The name stands for explicit query aspect diversification; groups are the aspects and their targets how
    likely each is. The next document has the largest ``(1 - lam) P(d|q) + lam sum_g q_g P(d|g) prod_s (1 -
    P(s|g))`` over the documents s that stand already. P(d|q) is the score as a share of all scores (above the
    smallest one where a score is negative), P(d|g) that times membership. It does not apportion: a group with
    a large target comes early but need not get its share. Use PM2 or the Det family where shares matter.
    """

    reference = "Santos, Macdonald and Ounis 2010, Exploiting query reformulations for web search, WWW, Eq. 3"

    def values(self, likely: Floats, by_group: Floats, target: Floats, state: Floats, free: Bools) -> Floats:
        """``state`` is the logarithm of prod_s (1 - P(s|g))."""
        fresh = (by_group * (target * np.exp(state))[:, None, :]).sum(axis=2)  # (Q, K)
        return np.asarray((1 - self.lam) * likely + self.lam * fresh)

    def after(self, state: Floats, taken: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(state + np.log1p(-np.minimum(taken, 1.0)))
