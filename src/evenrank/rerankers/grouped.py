"""What re-rankers by group share: which group a document is of, how many it should have, who has none.

A document counts for one group, the value of which it has the largest share (of equal ones the first of
the attribute's values). Documents without a group take no part: the method orders the others, as if they
were the whole list, and by default gives them the ranks that they had between them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Evidence, Labels, Sparse
from evenrank.data.membership import Membership, evidence_name
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import choice, integer, parameter
from evenrank.measures.base import NO_TARGET
from evenrank.measures.groups import ATTRIBUTE, ATTRIBUTE_MEANS, only_attribute
from evenrank.rerankers.base import Reordered, Reranker

TIE = 1e-12  # equal sums differ in the last bit
STAY = "stay"
MISSING = choice(STAY, "behind", "error")
MISSING_MEANS = "documents without a group: at their rank, behind the others in their old order, or an error"
TOP_MEANS = "how many ranks the method fills; what remains follows in its old order. None: all"


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class GroupReranker(Reranker):
    """A re-ranker that looks at the groups of documents."""

    attr: str | None = parameter(None, ATTRIBUTE, ATTRIBUTE_MEANS)
    missing: str = parameter(STAY, MISSING, MISSING_MEANS)

    @property
    def source(self) -> str:
        """The evidence it reads."""
        return evidence_name(self.attr or "")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"ranked.{self.source}"})

    def settled(self, sources: Mapping[str, Evidence]) -> Reranker:
        chosen = self.attr if self.attr is not None else only_attribute(repr(self), sources)
        settled = dataclasses.replace(self, attr=chosen)
        found = sources.get(evidence_name(chosen))
        if isinstance(found, Membership):
            settled.check_attribute(found.attribute)
        return settled

    def check_attribute(self, attribute: Attribute) -> None:
        """Refuse an attribute that this method cannot be about."""

    def groups(self, evidence: RankedEvidence) -> Int64s:
        """(Q, K): the group of the document at each rank, -1 where it has none and in the padding."""
        return hard_groups(evidence, self.source)

    def lacking(self, evidence: RankedEvidence) -> Bools:
        return np.asarray((self.groups(evidence) < 0) & evidence.ranked.mask)

    def target(self, evidence: RankedEvidence) -> Floats:
        """(Q, L): the share that each group should have, 0 for all where there is no target."""
        return np.nan_to_num(evidence.query[f"{self.source}.target"])

    def without_target(self, evidence: RankedEvidence) -> Bools:
        return np.asarray(~np.isfinite(evidence.query[f"{self.source}.target"]).all(axis=1))

    def placed(self, evidence: RankedEvidence, there: Bools, chosen: Int64s) -> Int64s:
        """(Q, K): the places of the whole list: those ``chosen``, then others that are ``there``, and where
        ``missing`` says the documents that are not."""
        places = followed(chosen, there)
        if self.missing == STAY:
            places = in_slots(there, places)
        return np.where(evidence.ranked.mask, places, -1)


def around_unlabelled(
    evidence: RankedEvidence, source: str, reorder: Callable[[RankedEvidence], list[Reordered]]
) -> list[Reordered]:
    """What a method makes of the documents that have a group; the others stay at their ranks."""
    groups = hard_groups(evidence, source)
    if ((groups >= 0) == evidence.ranked.mask).all():
        return reorder(evidence)
    there, mask = groups >= 0, evidence.ranked.mask
    labelled = np.argsort(~there, axis=1, kind="stable")  # (Q, K): their places, then all others
    found = []
    for one in reorder(evidence.compact(there)):
        order = np.where(one.places >= 0, one.places, np.arange(mask.shape[1]))
        places = in_slots(there, np.take_along_axis(labelled, order, axis=1))
        found.append(dataclasses.replace(one, places=np.where(mask, places, -1)))
    return found


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class QuotaReranker(GroupReranker):
    """A re-ranker that fills rank by rank so that groups get their minimum. Subclasses write ``fill``."""

    top: int | None = parameter(None, integer(1, optional=True), TOP_MEANS)

    def reorder(self, evidence: RankedEvidence, generator: np.random.Generator) -> Reordered:
        groups = self.groups(evidence)
        there = groups >= 0
        ranks = there.sum(axis=1) if self.top is None else np.minimum(there.sum(axis=1), self.top)  # (Q,)
        members = Members.of(groups, evidence.query[f"{self.source}.target"].shape[1])
        chosen, infeasible = self.fill(evidence, members, ranks)
        infeasible = {NO_TARGET: self.without_target(evidence), **infeasible}
        return Reordered(self.placed(evidence, there, chosen), infeasible)

    def fill(
        self, evidence: RankedEvidence, members: Members, ranks: Int64s
    ) -> tuple[Int64s, Mapping[str, Bools]]:
        """(Q, K): the places that fill the first ``ranks`` (Q,), -1 behind them; and what cannot be kept."""
        raise NotImplementedError(f"{type(self).__name__} fills no ranks")


@dataclasses.dataclass(frozen=True)
class Members:
    """For each query the places of each group's documents, best first."""

    groups: Int64s  # (Q, K): the group at each place, -1 for none
    order: Int64s  # (Q, K): places sorted by group, each in its old order
    sizes: Int64s  # (Q, L)
    starts: Int64s  # (Q, L): where a group begins in ``order``

    @classmethod
    def of(cls, groups: Int64s, width: int) -> Members:
        count = len(groups)
        last = np.where(groups >= 0, groups, width)
        cells = (np.arange(count)[:, None] * (width + 1) + last).ravel()
        sizes = np.bincount(cells, minlength=count * (width + 1)).reshape(count, width + 1)[:, :width]
        return cls(groups, np.argsort(last, axis=1, kind="stable"), sizes, np.cumsum(sizes, axis=1) - sizes)

    def first(self, taken: Int64s) -> Int64s:
        """(Q, L): the best place of each group of which so many are taken; K for one that has no more."""
        depth = self.order.shape[1]
        spots = np.minimum(self.starts + taken, max(depth - 1, 0))
        return np.where(taken < self.sizes, np.take_along_axis(self.order, spots, axis=1), depth)

    def numbers(self) -> Int64s:
        """(Q, K): 1 for the first document of its group, 2 for the second; 0 without a group."""
        within = np.arange(1, self.order.shape[1] + 1) - np.take_along_axis(
            np.concatenate([self.starts, self.sizes.sum(axis=1, keepdims=True)], axis=1),
            np.take_along_axis(np.where(self.groups >= 0, self.groups, self.sizes.shape[1]), self.order, 1),
            axis=1,
        )
        numbers = np.empty_like(self.order)
        np.put_along_axis(numbers, self.order, within, axis=1)
        return np.where(self.groups >= 0, numbers, 0)


def followed(chosen: Int64s, there: Bools) -> Int64s:
    """(Q, K): the places chosen, in that order (-1 is no choice), then others that are ``there``, then the
    rest, both as they stood."""
    depth = chosen.shape[1]
    rank = np.where(there, depth, 2 * depth)
    queries, ranks = np.nonzero(chosen >= 0)
    rank[queries, chosen[queries, ranks]] = ranks
    return np.argsort(rank, axis=1, kind="stable")


def in_slots(there: Bools, places: Int64s) -> Int64s:
    """(Q, K): the places with those that are ``there``, which stand first, where they stood between them, so
    that all others keep their ranks."""
    slots = np.argsort(~there, axis=1, kind="stable")
    spread = np.empty_like(places)
    np.put_along_axis(spread, slots, places, axis=1)
    return spread


def best_first(
    there: Bools, value: Callable[[Bools], Floats], place: Callable[[Int64s, Int64s], None]
) -> Int64s:
    """(Q, K): for rank after rank the place of largest value among those ``there``, -1 when none is left.

    ``value`` gives the values (Q, K) when these are free still; of equal ones the first is chosen. ``place``
    is told which queries got a rank, and the places that they chose.
    """
    free = there.copy()
    chosen: Int64s = np.full(there.shape, -1)
    sizes = there.sum(axis=1)
    for rank in range(int(sizes.max(initial=0))):
        values = np.where(free, value(free), -np.inf)
        best = values.max(axis=1, keepdims=True)
        close = values >= best - TIE * np.maximum(1.0, np.abs(best))
        now = np.flatnonzero(rank < sizes)
        found = (close & free).argmax(axis=1)[now]
        chosen[now, rank] = found
        free[now, found] = False
        place(now, found)
    return chosen


def hard_groups(evidence: RankedEvidence, source: str) -> Int64s:
    """(Q, K): the value with the largest share at each rank, of equal ones the first; -1 for none."""
    gathered = evidence.ranked.gathered[source]
    column = gathered.columns[""]
    if isinstance(column, Labels):
        codes = column.places.astype(np.int64)
    elif isinstance(column, Sparse):
        codes = np.full(len(column), -1)
        owners = np.repeat(np.arange(len(column)), np.diff(column.offsets))
        # written last is what stays: the largest share, of equal ones the first value
        best_last = np.lexsort((-column.places, column.values, owners))
        codes[owners[best_last]] = np.where(column.values > 0, column.places, -1)[best_last]
    elif column.shape[1]:
        codes = np.where(column.max(axis=1) > 0, column.argmax(axis=1), -1)
    else:
        codes = np.full(len(column), -1)
    codes = np.append(np.where(gathered.known, codes, -1), -1)  # a rank without a document is row -1
    return codes[evidence.ranked.rows]
