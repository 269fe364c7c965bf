"""Rankings in which every group has at least its share of every prefix, as well ordered as that allows.

All four take documents by their old order and keep, for the first i ranks and every group,
``n_g(i) >= floor(i p_g)`` as long as the group has documents; a group without any left takes no further
part. They differ in who may stand where no minimum is due.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare
from evenrank.measures.prefixes import FLOOR_TOLERANCE
from evenrank.measures.sums import divide
from evenrank.rerankers.grouped import TIE, Members, QuotaReranker, followed

TOO_FEW = "a group has fewer documents than its minimum"
MISSED = "a minimum was missed though there were documents"

REFERENCE = "Geyik, Ambler and Kenthapadi 2019, Fairness-aware ranking in search and recommendation, KDD"


def minimum(ranks: Floats | float, target: Floats) -> Floats:
    """``floor(i p)``, also where the product falls short of a whole number in the last bit."""
    return np.floor(ranks * target + FLOOR_TOLERANCE)


def maximum(ranks: Floats | float, target: Floats) -> Floats:
    return np.ceil(ranks * target - FLOOR_TOLERANCE)


def due(numbers: Floats, target: Floats) -> Floats:
    """``n / p``: where the minimum of a group asks for its n-th document; never for a target of 0."""
    return divide(numbers, target) + np.where(target > 0, 0.0, np.inf)


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Deterministic(QuotaReranker):
    """A re-ranker that keeps the minimum of every group at every prefix."""

    def fill(
        self, evidence: RankedEvidence, members: Members, ranks: Int64s
    ) -> tuple[Int64s, Mapping[str, Bools]]:
        target = self.target(evidence)  # (Q, L)
        chosen = self.chosen(members, target, ranks)
        last = minimum(ranks[:, None].astype(float), target)  # a minimum only grows
        return chosen, {
            TOO_FEW: np.asarray((members.sizes < last).any(axis=1)),
            MISSED: missed(chosen, members, target),
        }

    def chosen(self, members: Members, target: Floats, ranks: Int64s) -> Int64s:
        """(Q, K): the place at each of the first ``ranks``, -1 behind them."""
        raise NotImplementedError(f"{type(self).__name__} does not choose")


def missed(chosen: Int64s, members: Members, target: Floats) -> Bools:
    """(Q,): where some prefix has fewer of a group than its minimum, and the group had more."""
    taken = np.zeros(target.shape)
    found = np.zeros(len(chosen), dtype=bool)
    every = np.arange(len(chosen))
    for rank in range(chosen.shape[1]):
        there = every[chosen[:, rank] >= 0]
        taken[there, members.groups[there, chosen[there, rank]]] += 1
        least = np.minimum(minimum(rank + 1, target[there]), members.sizes[there])
        found[there] |= (taken[there] < least).any(axis=1)
    return found


class RankByRank(Deterministic):
    """Groups below their minimum come first; among the others a rule chooses."""

    def urgency(self, following: Floats, target: Floats) -> Floats:
        """(Q, L): the least of it stands next, of equal ones the best document; ``following`` is n + 1."""
        raise NotImplementedError(f"{type(self).__name__} has no rule")

    def chosen(self, members: Members, target: Floats, ranks: Int64s) -> Int64s:
        depth = members.groups.shape[1]
        chosen: Int64s = np.full(members.groups.shape, -1)
        taken = np.zeros(target.shape, dtype=np.int64)  # (Q, L)
        every = np.arange(len(chosen))
        for rank in range(int(ranks.max(initial=0))):
            there = taken < members.sizes
            below_minimum = there & (taken < minimum(rank + 1, target))
            below_maximum = there & (taken < maximum(rank + 1, target))
            is_due = below_minimum.any(axis=1, keepdims=True)
            # groups that have left may leave a rank that nobody should have: then all may
            allowed = np.where(below_maximum.any(axis=1, keepdims=True), below_maximum, there)
            allowed = np.where(is_due, below_minimum, allowed)
            urgency = np.where(is_due, 0.0, self.urgency((taken + 1).astype(np.float64), target))
            least = np.where(allowed, urgency, np.inf).min(axis=1, keepdims=True)
            first = members.first(taken)  # (Q, L)
            best = np.where(allowed & (urgency <= least * (1 + TIE)), first, depth + 1)
            group = best.argmin(axis=1)
            now = every[rank < ranks]
            chosen[now, rank] = first[now, group[now]]
            taken[now, group[now]] += 1
        return chosen


@declare
class DetGreedy(RankByRank):
    """Takes at each rank the best document of a group that is below its minimum share, and otherwise the best
    document of a group that is below its maximum share.

    Keeps all minima for up to three groups. For four and more it may let several fall due at one rank,
    and then misses one; a warning says so.
    """

    reference = REFERENCE

    def urgency(self, following: Floats, target: Floats) -> Floats:
        return np.zeros(target.shape)


@declare
class DetCons(RankByRank):
    """Takes at each rank a document of the group, among those below their maximum share, that must get its
    next document soonest.

    Where a group has no documents left, its ranks go to the other groups; where all of these are at their
    maximum already, still to the one whose minimum asks soonest, and not to the best document.
    """

    reference = REFERENCE

    def urgency(self, following: Floats, target: Floats) -> Floats:
        return due(following, target)


@declare
class DetRelaxed(RankByRank):
    """Works like DetCons, but takes the best document where several groups must get their next document by
    the same rank.
    """

    reference = REFERENCE

    def urgency(self, following: Floats, target: Floats) -> Floats:
        return np.ceil(due(following, target) - FLOOR_TOLERANCE)


@declare
class DetConstSort(Deterministic):
    """Gives every group its minimum share at every rank, and then moves better documents up past those that
    can wait without breaking a minimum.

    The n-th document of a group must stand by rank ``ceil(n / p)``. The printed algorithm compares this
    rank, counted from 1, with a slot counted from 0, and so misses minima on nearly every list; here a
    document may move down to slot s, counted from 0, if it must stand by rank s + 1 or later. A group with
    a target of 0 is never asked for: its documents follow the others.
    """

    reference = REFERENCE

    def chosen(self, members: Members, target: Floats, ranks: Int64s) -> Int64s:
        places, deadlines, counts = self.asked_for(members, target)
        counts = np.minimum(counts, ranks)
        slots: Int64s = np.full(members.groups.shape, -1)  # (Q, K): the place that stands at each rank
        until = np.full(members.groups.shape, np.inf)  # (Q, K): and the rank by which it must
        columns = np.arange(slots.shape[1])
        begin = 0  # what stands before it, in any list, stays there
        for count in range(int(counts.max(initial=0))):
            now = np.flatnonzero(count < counts)
            place, deadline = places[now, count, None], deadlines[now, count, None]  # (q, 1)
            before, waits = slots[now, begin:count], until[now, begin:count]
            behind = columns[begin:count] + 1
            due_now = waits < behind + 1  # cannot go down
            spot = np.where(due_now | (before < place), behind, begin).max(
                axis=1, keepdims=True, initial=begin
            )
            slots[now, begin : count + 1] = _inserted(before, place, spot - begin)
            until[now, begin : count + 1] = _inserted(waits, deadline, spot - begin)
            begin = int(np.where(due_now, behind, begin).max(axis=1, initial=begin).min())
        # what is never asked for stands behind, up to the ranks that are to be filled
        return np.where(columns < ranks[:, None], followed(slots, members.groups >= 0), -1)

    def asked_for(self, members: Members, target: Floats) -> tuple[Int64s, Floats, Int64s]:
        """(Q, K) twice: places by the rank at which they are asked for, and that rank; (Q,) how many are."""
        padded = np.concatenate([target, np.zeros((len(target), 1))], axis=1)  # -1 is no group: never
        share = np.take_along_axis(padded, members.groups, axis=1)  # (Q, K)
        # the smallest i with floor(i p) >= n
        deadlines = np.ceil(due(members.numbers().astype(np.float64) - FLOOR_TOLERANCE, share))
        places = np.argsort(deadlines, axis=1, kind="stable")
        in_order = np.take_along_axis(deadlines, places, axis=1)
        return places, in_order, np.isfinite(in_order).sum(axis=1)


def _inserted(row: Floats | Int64s, value: Floats | Int64s, spot: Int64s) -> Floats | Int64s:
    """(q, n + 1): each row with its value at the spot, what stood there and behind one further down."""
    columns = np.arange(row.shape[1] + 1)
    ahead = np.concatenate([row, value], axis=1)
    shifted = np.concatenate([value, row], axis=1)
    return np.where(columns < spot, ahead, np.where(columns == spot, value, shifted))
