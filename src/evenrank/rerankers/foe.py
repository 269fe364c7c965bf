"""Fairness of exposure: the largest utility, in expectation, of rankings that expose groups fairly.

A linear programme finds a doubly stochastic matrix: the chance of each document at each rank. It is then a
mixture of rankings (Birkhoff and von Neumann), of which one is drawn, or the most likely one taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank import attention
from evenrank.arrays import Floats, Int64s
from evenrank.attention import Attention
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, declare, integer, parameter, term_of
from evenrank.measures.groups import NO_TARGET
from evenrank.rerankers.base import Reordered
from evenrank.rerankers.relevant import GroupRelevance

PARITY, TREATMENT, IMPACT, TARGET = "parity", "treatment", "impact", "target"
NO_SOLUTION = "no mixture of rankings keeps the constraint"
ABSENT = "a group that should have exposure has no document"
NOTHING = 1e-9  # a chance below it is a rounding error of the solver


@declare
class FOE(GroupRelevance):
    """Gives the most relevant ranking, in expectation, under a constraint on the exposure that each group
    gets.

    The name stands for fairness of exposure. ``parity``: documents of all groups get the same exposure on
    average. ``treatment``: exposure in proportion to the average relevance of the group. ``impact``: the same
    for exposure times relevance, which is what is clicked. ``target``: each group gets its target share of
    all exposure. The constraint holds in expectation over draws, for the groups that the list has;
    ``draw='likely'`` takes the most likely ranking instead, for which it need not hold. Queries without a
    solution keep their order.
    """

    reference = "Singh and Joachims 2018, Fairness of exposure in rankings, KDD"
    constraint: str = parameter(PARITY, choice(PARITY, TREATMENT, IMPACT, TARGET), "what is to be equal")
    draw: str = parameter(
        "sample", choice("sample", "likely"), "a ranking drawn by its chance, or the likeliest"
    )
    attention: Attention = parameter(attention.log2(), term_of("attention"), "how attention falls with rank")
    seed: int = parameter(0, integer(0), "of the draw")

    @property
    def stochastic(self) -> bool:  # type: ignore[override]
        return self.draw == "sample"

    def ordered(self, evidence: RankedEvidence, generators: Sequence[np.random.Generator]) -> list[Reordered]:
        """The mixture of a query is found once; then each repetition draws from it."""
        mixtures, infeasible = self.mixtures(evidence)
        old = np.where(evidence.ranked.mask, np.arange(evidence.ranked.depth), -1)  # (Q, K)
        return [Reordered(self._drawn(old, mixtures, generator), infeasible) for generator in generators]

    def _drawn(
        self, old: Int64s, mixtures: Sequence[list[Part] | None], generator: np.random.Generator
    ) -> Int64s:
        places = old.copy()
        for query, mixture in enumerate(mixtures):
            if mixture is None:
                continue
            odds = np.array([part.chance for part in mixture])
            chosen = (
                int(np.argmax(odds))
                if self.draw == "likely"
                else int(generator.choice(len(odds), p=odds / odds.sum()))
            )
            places[query, : len(mixture[chosen].documents)] = mixture[chosen].documents
        return places

    def mixtures(
        self, evidence: RankedEvidence
    ) -> tuple[list[list[Part] | None], dict[str, npt.NDArray[np.bool_]]]:
        """For each query the rankings and their chances; None where the order stays, and why."""
        lists, target = self.lists(evidence), self.target_shares(evidence)
        weights = self.attention.weights(evidence.ranked.depth)
        lost = self.without_target(evidence) & (self.constraint == TARGET)
        there = lists.shares.sum(axis=1) > 0  # (Q, L)
        absent = ((target > 0) & ~there).any(axis=1) & there.any(axis=1) & (self.constraint == TARGET) & ~lost
        unsolved = np.zeros(len(evidence), dtype=bool)
        found: list[list[Part] | None] = []
        for query, size in enumerate(evidence.ranked.lengths.tolist()):  # one linear programme a query
            chances = None
            if size > 1 and not lost[query]:
                worth, groups = lists.worth[query, :size], lists.shares[query, :size]
                rows = exposure_rows(self.constraint, worth, groups, target[query])
                chances = best_chances(worth, groups, weights[:size], rows)
                unsolved[query] = chances is None
            found.append(None if chances is None else decompose(chances))
        return found, {NO_TARGET: lost, ABSENT: absent, NO_SOLUTION: unsolved}


class Chances(NamedTuple):
    """How many documents of each class of alike ones stand at each rank, in expectation."""

    expected: Floats  # (C, n)
    kinds: Int64s  # (n,): the class of a document

    @property
    def matrix(self) -> Floats:
        """(n, n): the chance of each document at each rank, doubly stochastic."""
        return np.asarray(self.expected[self.kinds] / np.bincount(self.kinds)[self.kinds][:, None])


class Part(NamedTuple):
    """One ranking of a mixture."""

    chance: float
    documents: Int64s  # (n,): the document at each rank


def exposure_rows(constraint: str, relevance: Floats, shares: Floats, target: Floats) -> Floats:
    """(C, n): coefficients f such that ``sum_i f_i exposure_i = 0``, for the groups that the list has."""
    size = shares.sum(axis=0)  # (L,): documents of each group
    there = np.flatnonzero(size > 0)
    if constraint == TARGET:
        wanted = target[there]
        # the groups that the list lacks cannot get their share: the others divide it
        wanted = wanted / wanted.sum() if wanted.sum() > 0 else wanted
        everyone = shares.sum(axis=1, keepdims=True)  # (n, 1)
        return np.asarray((shares[:, there] - everyone * wanted).T[1:])
    mean = (relevance @ shares)[there] / size[there]  # (G,): U(G)
    per_document = shares[:, there] / size[there]  # (n, G)
    if constraint in (TREATMENT, IMPACT):
        useful = mean > 0  # to a group without relevant documents nothing is due
        per_document = per_document[:, useful] / mean[useful]
        if constraint == IMPACT:
            per_document = per_document * relevance[:, None]
    return np.asarray((per_document[:, 1:] - per_document[:, :1]).T)


def best_chances(relevance: Floats, shares: Floats, weights: Floats, rows: Floats) -> Chances | None:
    """The doubly stochastic matrix of largest utility that keeps ``rows``; None where there is none.

    Documents of equal relevance and equal shares may change places without any loss, so the programme
    has one row for all of them.
    """
    import scipy.sparse  # which takes a third of a second, and few commands need it
    from scipy.optimize import linprog

    size = len(relevance)
    _, first, kinds, counts = np.unique(
        np.column_stack([relevance, shares]),
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    kinds = kinds.ravel()
    classes = len(counts)
    # X (classes, n): how many documents of a class stand at a rank, in expectation
    of_class = scipy.sparse.kron(scipy.sparse.identity(classes), np.ones((1, size)))  # (classes, classes n)
    of_rank = scipy.sparse.kron(np.ones((1, classes)), scipy.sparse.identity(size))  # (n, classes n)
    exposure = scipy.sparse.csr_matrix(
        np.einsum("rc,j->rcj", rows[:, first], weights).reshape(len(rows), classes * size)
    )
    solved = linprog(
        -np.outer(relevance[first], weights).ravel(),
        A_eq=scipy.sparse.vstack([of_class, of_rank, exposure]),
        b_eq=np.concatenate([counts, np.ones(size), np.zeros(len(rows))]),
        bounds=(0, 1),
        method="highs",
    )
    if solved.status != 0:
        return None
    return Chances(np.maximum(solved.x.reshape(classes, size), 0.0), kinds)


def decompose(chances: Chances) -> list[Part]:
    """Rankings and their chances whose mixture has these expectations, up to rounding (Birkhoff).

    Documents that are alike are not told apart: they stand in the order in which they stood.
    """
    from scipy.optimize import linear_sum_assignment

    left = chances.expected.copy()  # (C, n)
    kinds = chances.kinds
    parts: list[Part] = []
    for _ in range(left.size):  # each time one entry at least becomes 0
        open_to = np.where(left > NOTHING, left, -float(len(kinds)))[kinds]  # (n, n)
        documents, ranks = linear_sum_assignment(open_to, maximize=True)
        chance = float(left[kinds[documents], ranks].min())
        if chance <= NOTHING:
            break
        left[kinds[documents], ranks] -= chance
        order = np.empty(len(kinds), dtype=np.int64)
        order[ranks] = documents
        parts.append(Part(chance, in_old_order(order, kinds)))
    return parts


def in_old_order(documents: Int64s, kinds: Int64s) -> Int64s:
    """The ranking with documents that are alike in the order in which they stood."""
    slots = np.lexsort((np.arange(len(documents)), kinds[documents]))  # ranks, class after class
    order = np.empty_like(documents)
    order[slots] = np.lexsort((np.arange(len(kinds)), kinds))
    return order
