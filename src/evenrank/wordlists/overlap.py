"""Two word lists side by side: which words they share, and where they see documents differently."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import ParameterError, few
from evenrank.measures.neutrality import neutrality
from evenrank.tables import Table

TAU = 1


def overlap_table(one: Lexicon, other: Lexicon) -> Table:
    """For each group the words of both and of one alone, and words that change their group."""
    if set(one.groups) != set(other.groups):
        raise ParameterError(
            f"the lists have other groups: {', '.join(one.groups)} and {', '.join(other.groups)}"
        )
    rows, moved = [], list[str]()
    for group in one.groups:
        own, others = set(one.words(group)), set(other.words(group))
        both = len(own & others)
        rows.append((group, both, len(own - others), len(others - own), both / len(own | others)))
        moved += [word for word in one.words(group) if word in other.terms and word not in others]
    return Table.of(
        ["group", "both", f"only {one.name}", f"only {other.name}", "overlap (Jaccard)"],
        rows,
        title=f"{one.name} and {other.name}: words",
        notes=[f"in another group of {other.name}: {few(moved)}"] if moved else [],
        meaning="How far the two lists hold the same words.",
    )


def disagreement_table(counts: WordCounts, one: Lexicon, other: Lexicon) -> Table:
    """How two lists see the documents of a collection that was counted by term with the words of both."""
    first, second = counts.relisted(one), counts.relisted(other)
    in_first, in_second = first.tokens > 0, second.tokens > 0
    apart = _neutrality(first) - _neutrality(second)
    seen = {
        "documents with a word of both lists": in_first & in_second,
        f"documents with a word of {one.name} alone": in_first & ~in_second,
        f"documents with a word of {other.name} alone": ~in_first & in_second,
        "documents that another group leads": _leaders(first) != _leaders(second),
        "mean difference in neutrality": apart,
        "documents whose neutrality differs": np.abs(apart) > 1e-12,
    }
    return Table.of(
        ["", "share or difference"],
        [(what, float(own.mean()) if len(counts) else float("nan")) for what, own in seen.items()],
        title=f"{one.name} and {other.name}: {len(counts):,} documents",
        notes=["a document leads to the group of most of its words; without words, or with a tie, to none"],
        meaning="How differently the two lists see the same documents.",
    )


def _leaders(counts: WordCounts) -> Int64s:
    """The group with the most words in each document, -1 for none and for a tie."""
    table = counts.counts[:, [counts.lexicon.groups.index(group) for group in sorted(counts.lexicon.groups)]]
    most = table.max(axis=1)
    alone = (table == most[:, None]).sum(axis=1) == 1
    return np.where((most > 0) & alone, table.argmax(axis=1), -1)


def _neutrality(counts: WordCounts) -> Floats:
    return neutrality(
        counts.counts.astype(float), np.array(counts.lexicon.targets), TAU, counts.tokens.astype(float)
    )
