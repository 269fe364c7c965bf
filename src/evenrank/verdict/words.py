"""Words as an attribute: which group the words of a document are mostly about."""

from __future__ import annotations

import re

import numpy as np

from evenrank.arrays import Floats, Int64s, UInt64s
from evenrank.data.attribute import Attribute
from evenrank.data.membership import Membership
from evenrank.data.membership_by_need import FoundShares, MembershipByNeed
from evenrank.data.words import WordCounts
from evenrank.data.words_by_need import WordsByNeed
from evenrank.ids import as_strings, hash_strings, take

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
        self.rows, self.bytes = len(counts), 0  # what is read is counted there

    @property
    def sizes(self) -> Floats:
        sizes: Floats = self._counts.leading_sizes(TAU + 1)[self._places].astype(float)
        return sizes

    @property
    def fingerprint(self) -> str:
        return self._counts.fingerprint

    def find(self, hashes: UInt64s) -> FoundShares:
        known = self._counts.among(hashes)
        wanted = np.isin(hash_strings(known.doc_ids), hashes)
        return self._shares(known, np.flatnonzero(wanted))

    def all_rows(self) -> FoundShares:
        return self._shares(self._counts, np.arange(len(self._counts)))

    def _shares(self, counts: WordCounts, rows: Int64s) -> FoundShares:
        shares = counts.leading_groups(TAU + 1)[rows, None] == self._places  # (N, L)
        return FoundShares(take(counts.doc_ids, rows), shares.astype(float), 0, 0)
