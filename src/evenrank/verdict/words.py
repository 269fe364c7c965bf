"""Words as an attribute: which group the words of a document are mostly about."""

from __future__ import annotations

import re

import numpy as np

from evenrank.arrays import Floats, UInt64s
from evenrank.data.attribute import Attribute
from evenrank.data.membership import Membership
from evenrank.data.words import WordCounts
from evenrank.ids import as_strings, take
from evenrank.io.by_need import MembershipByNeed, WordsByNeed
from evenrank.io.derived_groups import DerivedGroups

NEUTRAL, OTHERWISE = "neutral", "no group"
_NOT_IN_NAMES = re.compile(r"[\s.,:='\"()*@]+")
TAU = 1  # a document with so few group words is neutral, as in NFaiRR


def words_attribute(counts: WordCounts) -> Membership:
    """Each document under the group that it has most words of: of two groups ``female | neutral | male``.

    A document is neutral where it has at most one group word, or as many of one group as of another.
    """
    groups = counts.lexicon.groups
    neutral = OTHERWISE if NEUTRAL in groups else NEUTRAL
    middle = (len(groups) + 1) // 2
    values = (*groups[:middle], neutral, *groups[middle:])
    name = _NOT_IN_NAMES.sub("-", counts.lexicon.name)
    attribute = Attribute(f"words of {name}", values)
    if isinstance(counts, WordsByNeed):
        return MembershipByNeed.of(_LeadingGroups(counts, middle), attribute)
    names = as_strings([*groups, neutral])
    labels = take(names, counts.leading_groups(TAU + 1))
    return Membership.build(attribute, counts.doc_ids, labels, source=counts.source)


class _LeadingGroups:
    """The same of counts that are not loaded: the groups of the documents that are asked for, and how many
    documents of all each group has."""

    def __init__(self, counts: WordsByNeed, middle: int) -> None:
        width = len(counts.lexicon.groups)
        self._counts = counts
        # (L,): the place of each value among the leading groups
        self._places = np.array([*range(middle), width, *range(middle, width)])
        self.name = counts.source or "word counts"

    @property
    def reading(self) -> dict[str, int]:
        return {**dict.fromkeys(self._counts.reading, 0), "rows": len(self._counts)}  # it is counted there

    def sizes(self) -> Floats:
        sizes: Floats = self._counts.leading_sizes(TAU + 1)[self._places].astype(float)
        return sizes

    def fingerprint(self) -> str:
        return self._counts.fingerprint

    def known(self, hashes: UInt64s | None) -> DerivedGroups:
        counts = self._counts.at_hand(hashes)
        shares = counts.leading_groups(TAU + 1)[:, None] == self._places  # (N, L)
        return DerivedGroups(counts.doc_ids, shares.astype(float))
