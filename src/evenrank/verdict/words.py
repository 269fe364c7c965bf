"""Words as an attribute: which group the words of a document are mostly about."""

from __future__ import annotations

import re

from evenrank.data.attribute import Attribute
from evenrank.data.membership import Membership
from evenrank.data.words import WordCounts
from evenrank.ids import as_strings, take

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
    labels = take(as_strings([*groups, neutral]), counts.leading_groups(TAU + 1))
    return Membership.build(
        Attribute(f"words of {name}", values), counts.doc_ids, labels, source=counts.source
    )
