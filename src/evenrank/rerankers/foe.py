"""Fairness of exposure: the largest utility, in expectation, of rankings that expose groups fairly.

What is wanted is a mixture of rankings: the chances with which one of them is drawn. These chances solve a
linear programme that has a row for each group and an unknown for each ranking. Nobody writes all of them
down: the ranking that would improve a mixture most is found by sorting the documents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.attention import Attention
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, integer, parameter
from evenrank.measures.base import NO_TARGET
from evenrank.measures.evidence_attention import attention_parameter
from evenrank.rerankers.base import Reordered
from evenrank.rerankers.relevant import GroupRelevance

PARITY, TREATMENT, IMPACT, TARGET = "parity", "treatment", "impact", "target"
NO_SOLUTION = "no mixture of rankings keeps the constraint"
ABSENT = "a group that should have exposure has no document"
NOTHING = 1e-10  # what is not larger is a rounding error of the solver
STEPS = 10_000  # of the solver at most; lists of 100 documents of five groups take about 30


@declare
class FOE(GroupRelevance):
    """Gives the most relevant ranking, in expectation, under a constraint on the exposure that each group
    gets.

    The name stands for fairness of exposure. ``parity``: documents of all groups get the same exposure on
    average. ``treatment``: exposure in proportion to the average relevance of the group. ``impact``: the same
    for exposure times relevance, which is what is clicked. ``target``: each group gets its target share of
    all exposure. The constraint holds in expectation over draws, for the groups that the list has;
    ``draw='likely'`` takes the most likely ranking of the mixture instead, for which it need not hold; of
    equally likely ones the one with most relevance. Queries without a solution keep their order, and so do
    documents that are alike in relevance and groups.
    """

    reference = "Singh and Joachims 2018, Fairness of exposure in rankings, KDD"
    constraint: str = parameter(PARITY, choice(PARITY, TREATMENT, IMPACT, TARGET), "what is to be equal")
    draw: str = parameter(
        "sample", choice("sample", "likely"), "a ranking drawn by its chance, or the likeliest"
    )
    attention: Attention = attention_parameter()
    seed: int = parameter(0, integer(0), "of the draw")

    @property
    def stochastic(self) -> bool:  # type: ignore[override]
        return self.draw == "sample"

    def ordered(self, evidence: RankedEvidence, generators: Sequence[np.random.Generator]) -> list[Reordered]:
        """The mixture of a query is found once; then each repetition draws from it."""
        lists, target, mask = self.lists(evidence), self.target_shares(evidence), evidence.ranked.mask
        lost = self.without_target(evidence) & (self.constraint == TARGET)
        there = lists.shares.sum(axis=1) > 0  # (Q, L)
        absent = ((target > 0) & ~there).any(axis=1) & there.any(axis=1) & (self.constraint == TARGET) & ~lost
        solvable = (evidence.ranked.lengths > 1) & ~lost
        chances, orders = best_mixtures(
            lists.worth[solvable],
            exposure_rows(self.constraint, lists.worth, lists.shares, target)[solvable],
            self.attention.weights(mask.shape[1]) * mask[solvable],
            mask[solvable],
        )
        solved = solvable.copy()
        solved[solvable] = chances.any(axis=1)
        chances, orders = chances[solved[solvable]], orders[solved[solvable]]
        infeasible = {NO_TARGET: lost, ABSENT: absent, NO_SOLUTION: solvable & ~solved}
        found = []
        for generator in generators:
            places = np.where(mask, np.arange(mask.shape[1]), -1)  # (Q, K)
            chosen = self._chosen(chances, generator)
            places[solved] = np.where(mask[solved], orders[np.arange(len(orders)), chosen], -1)
            found.append(Reordered(places, infeasible))
        return found

    def _chosen(self, chances: Floats, generator: np.random.Generator) -> Int64s:
        """(Q,): which ranking of each mixture."""
        if self.draw == "likely":
            return np.asarray(chances.round(9).argmax(axis=1))
        below = np.cumsum(chances, axis=1)  # (Q, S)
        return np.asarray((below <= generator.random((len(chances), 1)) * below[:, -1:]).sum(axis=1))


def exposure_rows(constraint: str, relevance: Floats, shares: Floats, target: Floats) -> Floats:
    """(Q, K, C): what a unit of exposure of each document adds to sums that are to be 0.

    There is one sum less than a list has groups: two groups are equal if their difference is 0.
    """
    size = shares.sum(axis=1)  # (Q, L): documents of each group
    there = size > 0
    if constraint == TARGET:
        # the groups that the list lacks cannot get their share: the others divide it
        wanted = target * there
        total = wanted.sum(axis=1, keepdims=True)
        wanted = wanted / np.where(total > 0, total, 1.0)
        values = shares - shares.sum(axis=2, keepdims=True) * wanted[:, None]  # (Q, K, L)
        reference = np.zeros_like(values[:, :, :1])
    else:
        values = shares / np.where(there, size, 1.0)[:, None]
        if constraint in (TREATMENT, IMPACT):
            mean = np.einsum("qk,qkl->ql", relevance, values)  # U(G)
            there &= mean > 0  # to a group without relevant documents nothing is due
            values = values / np.where(there, mean, 1.0)[:, None]
        if constraint == IMPACT:
            values = values * relevance[:, :, None]
        reference = np.take_along_axis(values, there.argmax(axis=1)[:, None, None], axis=2)  # (Q, K, 1)
    others = np.argsort(~there, axis=1, kind="stable")[:, 1 : there.sum(axis=1).max(initial=1)]  # (Q, C)
    rows = np.take_along_axis(values, others[:, None], axis=2) - reference
    return np.asarray(rows * np.take_along_axis(there, others, axis=1)[:, None])


def best_mixtures(worth: Floats, rows: Floats, weights: Floats, mask: Bools) -> tuple[Floats, Int64s]:
    """The mixtures of largest expected utility for which all sums are 0: chances (Q, S), rankings (Q, S, K).

    ``worth`` (Q, K) and ``rows`` (Q, K, C) say what a unit of exposure of each document adds to the utility
    and to the sums; ``weights`` (Q, K) is the exposure at each rank. Chances are 0 where no mixture will do.

    The rankings of a mixture are in the order of their utility. S is C + 1, since as many rankings suffice.

    The simplex method finds them. For the current mixture it knows what a unit of each sum costs; the ranking
    by worth less these costs is the one that improves it most (Dantzig and Wolfe, Decomposition principle
    for linear programs, 1960). It starts with the ranking by worth and, for each sum, a remainder that makes
    it 0. As long as there are remainders they are what is reduced. All queries take a step at a time; those
    that are done rest.
    """
    count, depth, sums = rows.shape
    # documents by worth, equal ones as they stood: so stand those whose worth less costs is equal, too
    places = np.argsort(np.where(mask, -worth, np.inf), axis=1, kind="stable")  # (Q, K)
    scale = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    rows = rows / np.where(scale > 0, scale, 1.0)
    effects = np.concatenate([rows, worth[:, :, None]], axis=2)  # (Q, K, C + 1): on sums and utility
    effects = np.take_along_axis(np.where(mask[:, :, None], effects, 0.0), places[:, :, None], axis=1)
    padding = ~np.take_along_axis(mask, places, axis=1)
    orders = np.tile(np.arange(depth), (count, sums + 1, 1))  # (Q, S, K)
    first = np.einsum("qkc,qk->qc", effects, weights)
    # a column for each remainder, then one for the ranking: its effects on the sums, and 1 for its chance
    basis = np.tile(np.eye(sums + 1), (count, 1, 1))  # (Q, C + 1, S)
    basis[:, range(sums), range(sums)] = np.where(first[:, :sums] > 0, -1.0, 1.0)
    basis[:, :sums, sums] = first[:, :sums]
    utility = np.zeros((count, sums + 1))  # (Q, S)
    utility[:, sums] = first[:, sums]
    remainder = np.tile(np.arange(sums + 1) < sums, (count, 1))  # (Q, S)
    chances = np.zeros((count, sums + 1))
    active = np.arange(count)
    for _ in range(STEPS):
        inverse = np.linalg.inv(basis[active])
        amounts = np.maximum(inverse[:, :, sums], 0.0)  # (A, S)
        left = remainder[active]
        unmet = (amounts * left).sum(axis=1) > NOTHING  # (A,): some sums are not 0 yet
        chances[active] = np.where(unmet[:, None] | left, 0.0, amounts)
        value = np.where(unmet[:, None], -left.astype(float), utility[active])
        costs = np.einsum("as,asc->ac", value, inverse)  # (A, C + 1); the last is what the mixture has
        price = np.where(unmet[:, None], 0.0, effects[active, :, sums])  # (A, K)
        for row in range(sums):  # not as a product of matrices, which may round equal documents differently
            price = price - costs[:, row, None] * effects[active, :, row]
        order = np.argsort(np.where(padding[active], np.inf, -price), axis=1, kind="stable")
        entering = np.einsum(
            "akc,ak->ac", np.take_along_axis(effects[active], order[:, :, None], axis=1), weights[active]
        )
        gain = np.where(unmet, 0.0, entering[:, sums]) - costs[:, sums]
        gain -= (costs[:, :sums] * entering[:, :sums]).sum(axis=1)
        better = gain > NOTHING * np.maximum(1.0, np.abs(entering[:, sums]))
        if not better.any():
            break
        column = np.concatenate([entering[:, :sums], np.ones((len(active), 1))], axis=1)
        change = np.einsum("asc,ac->as", inverse, column)  # what leaves for a unit of what enters
        ratio = np.divide(amounts, change, out=np.full(change.shape, np.inf), where=change > NOTHING)
        ratio[left & ~unmet[:, None] & (np.abs(change) > NOTHING)] = -1.0  # a remainder of 0 must stay 0
        leaving = ratio.argmin(axis=1)
        active, leaving, order = active[better], leaving[better], order[better]
        basis[active, :, leaving] = column[better]
        utility[active, leaving] = entering[better, sums]
        orders[active, leaving] = order
        remainder[active, leaving] = False
    best_first = np.argsort(-utility, axis=1, kind="stable")  # (Q, S)
    orders = np.take_along_axis(places[:, None], orders, axis=2)
    return np.take_along_axis(chances, best_first, 1), np.take_along_axis(orders, best_first[:, :, None], 1)
