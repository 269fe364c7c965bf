"""Two word lists side by side: which words they share, and where they see documents differently."""

from __future__ import annotations

import numpy as np

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
    rows = []
    for group in one.groups:
        own, others = set(one.words(group)), set(other.words(group))
        union = len(own | others)
        rows.append(
            (group, len(own & others), len(own - others), len(others - own), len(own & others) / union)
        )
    groups = {term: other.groups[place] for term, place in zip(other.terms, other.term_groups, strict=True)}
    moved = [
        term
        for term, place in zip(one.terms, one.term_groups, strict=True)
        if groups.get(term, one.groups[place]) != one.groups[place]
    ]
    notes = [f"in another group of {other.name}: {few(moved)}"] if moved else []
    head = ["group", "both", f"only {one.name}", f"only {other.name}", "overlap (Jaccard)"]
    return Table.of(
        head,
        rows,
        title=f"{one.name} and {other.name}: words",
        notes=notes,
        meaning="How far the two lists hold the same words.",
    )


def disagreement_table(counts: WordCounts, one: Lexicon, other: Lexicon) -> Table:
    """How two lists see the documents of a collection that was counted by term with the words of both."""
    first, second = counts.relisted(one), counts.relisted(other)
    rows = [
        ("documents with a word of both lists", _share((first.tokens > 0) & (second.tokens > 0))),
        (f"documents with a word of {one.name} alone", _share((first.tokens > 0) & (second.tokens == 0))),
        (f"documents with a word of {other.name} alone", _share((first.tokens == 0) & (second.tokens > 0))),
        ("documents that another group leads", _share(_leaders(first) != _leaders(second))),
        (
            "mean difference in neutrality",
            float((_neutrality(first) - _neutrality(second)).mean()) if len(counts) else float("nan"),
        ),
        (
            "documents whose neutrality differs",
            _share(np.abs(_neutrality(first) - _neutrality(second)) > 1e-12),
        ),
    ]
    title = f"{one.name} and {other.name}: {len(counts):,} documents"
    note = "a document leads to a group by the most words of it; one without words, or with a tie, to none"
    return Table.of(
        ["", "share or difference"],
        rows,
        title=title,
        notes=[note],
        meaning="How differently the two lists see the same documents.",
    )


def _share(there: np.ndarray) -> float:
    return float(there.mean()) if len(there) else float("nan")


def _leaders(counts: WordCounts) -> np.ndarray:
    """The group with the most words in each document, -1 for none and for a tie."""
    table = counts.counts[:, [counts.lexicon.groups.index(group) for group in sorted(counts.lexicon.groups)]]
    most = table.max(axis=1)
    alone = (table == most[:, None]).sum(axis=1) == 1
    return np.where((most > 0) & alone, table.argmax(axis=1), -1)


def _neutrality(counts: WordCounts) -> np.ndarray:
    return neutrality(
        counts.counts.astype(float), np.array(counts.lexicon.targets), TAU, counts.tokens.astype(float)
    )
