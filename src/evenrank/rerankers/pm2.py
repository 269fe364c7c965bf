"""Seats for groups in proportion to their targets."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.grammar import declare
from evenrank.measures.relevance import divide
from evenrank.rerankers.aspects import TIE, AspectReranker


@declare
class PM2(AspectReranker):
    """Gives groups seats in proportion to their targets, as an election does, and fills each seat with the
    document that is most relevant to the group, and somewhat to others. ``lam=1`` looks at the group of the
    seat alone.

    The name stands for proportionality model 2. The quotient of a group is ``q_g / (2 s_g + 1)`` for s_g
    seats so far (Sainte-Lague); the group g* of the largest one that has documents left gets the next rank.
    Its document has the largest ``lam qt_g* P(d|g*) + (1 - lam) sum_{g != g*} qt_g P(d|g)``, and takes for
    every group a part of a seat. P(d|q) is the score as a share of all scores (above the smallest one where a
    score is negative), P(d|g) that times membership. Use it where groups should have shares and
    documents may belong to several; prefer DetGreedy for one label each.
    """

    reference = "Dang and Croft 2012, Diversity by proportionality, SIGIR, Algorithm 2"

    def values(self, likely: Floats, by_group: Floats, target: Floats, state: Floats, free: Bools) -> Floats:
        """``state`` is s_g, the seats so far."""
        quotient = target / (2 * state + 1)  # (Q, L)
        left = np.asarray(((by_group > 0) & free[:, :, None]).any(axis=1))  # (Q, L)
        rated = np.where(left, quotient, -np.inf)
        best = rated.max(axis=1, keepdims=True, initial=-np.inf)
        chosen = np.argmax(rated >= best - TIE, axis=1)  # (Q,): the first of the largest
        weight = (1 - self.lam) * quotient
        every = np.arange(len(target))
        weight[every, chosen] = self.lam * quotient[every, chosen]
        some = left.any(axis=1, keepdims=True)  # without any, all are worth the same and keep their order
        return np.asarray((by_group * weight[:, None, :]).sum(axis=2) * some)

    def after(self, state: Floats, taken: Floats) -> Floats:
        return np.asarray(state + divide(taken, taken.sum(axis=1, keepdims=True)))
