"""Candidates for a word list, each with its evidence, for a person to accept or not."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.lexicon import Lexicon
from evenrank.tables import Table
from evenrank.wordlists.association import associations

STRONG = 0.5  # weight from which a neighbour is a candidate
RARE = 0.95  # and the share of all words that lean less far to its group
FEWEST = 5  # documents that a word must stand in
SMOOTHING = 0.5
_WORD = re.compile(r"[^\W\d_]+")


class Candidate(NamedTuple):
    """A word that may belong to a group. NaN where there is no evidence of a kind."""

    word: str
    group: str
    weight: float  # by vectors
    nearest: str
    nearness: float  # the mean cosine with the nearest words of the group
    documents: int  # of those read, that hold it
    log_odds: float  # to stand in a document that the group leads rather than in one that another leads
    z: float  # the same over its standard error


def expand(
    lexicon: Lexicon,
    vectors: Mapping[str, Floats] | None = None,
    documents: Iterable[str] | None = None,
    most: int = 50,
) -> list[Candidate]:
    """Words near those of the list by vectors, or in the documents where its words are, nearest first.

    By vectors a candidate leans to its group as far as half of the list's own words do or more, and farther
    than 95% of all words.
    """
    beside = cooccurrence(lexicon, documents) if documents is not None else {}
    by_vector = {} if vectors is None else _neighbours(lexicon, vectors)
    found = []
    for word in {*by_vector, *(word for word, (_, _, _, z) in beside.items() if z >= 3)}:
        group, weight, nearest, near = by_vector.get(word, ("", math.nan, "", math.nan))
        leads, count, odds, z = beside.get(word, ("", 0, math.nan, math.nan))
        if group and leads and group != leads and z >= 3:
            continue  # the two kinds of evidence contradict each other
        found.append(Candidate(word, group or leads, weight, nearest, near, count, odds, z))
    return _by_turns(found, lexicon.groups)[:most]


def _neighbours(lexicon: Lexicon, vectors: Mapping[str, Floats]) -> dict[str, tuple[str, float, str, float]]:
    """For each candidate its group, its weight, its nearest words of the list, and how near they are."""
    terms = set(lexicon.terms)
    words = [word for word in vectors if word not in terms and _WORD.fullmatch(word)]
    found = associations(lexicon, words, vectors)
    far = np.quantile(np.array([one.leans for one in found]), RARE, axis=0)  # (G,)
    candidates = {}
    for one in found:
        place = int(np.argmax(one.leans))
        alone = sum(one.weights) == one.weights[place]
        if alone and one.weights[place] >= STRONG and one.leans[place] >= far[place]:
            nearest = ", ".join(one.nearest)
            candidates[one.word] = lexicon.groups[place], one.weights[place], nearest, one.nearness[place]
    return candidates


def _by_turns(found: list[Candidate], groups: Sequence[str]) -> list[Candidate]:
    """The strongest first, a candidate of each group in turn, so that no group crowds out another."""
    ranked = {group: sorted((c for c in found if c.group == group), key=_strength) for group in groups}
    longest = max(map(len, ranked.values()), default=0)
    return [own[rank] for rank in range(longest) for own in ranked.values() if rank < len(own)]


def frequent_words(documents: Iterable[str]) -> list[str]:
    """The words that stand in several documents, for vectors that have no list of words of their own."""
    count: Counter[str] = Counter()
    for text in documents:
        count.update({word.lower() for word in _WORD.findall(text)})
    return sorted(word for word, number in count.items() if number >= FEWEST and len(word) > 2)


def cooccurrence(lexicon: Lexicon, documents: Iterable[str]) -> dict[str, tuple[str, int, float, float]]:
    """For each word of the documents the group it stands beside most: group, documents, log odds, z.

    A document counts for the group whose words it has most of. The log odds compare documents of that group
    with those of the others, 1/2 added to every count.
    """
    owner = dict(zip(lexicon.terms, lexicon.term_groups, strict=True))
    holds: list[Counter[str]] = [Counter() for _ in lexicon.groups]
    totals = np.zeros(len(lexicon.groups))
    everywhere: Counter[str] = Counter()
    for text in documents:
        words = [word.lower() for word in _WORD.findall(text)]
        distinct = set(words)
        everywhere.update(distinct)
        counts = np.bincount([owner[word] for word in words if word in owner], minlength=len(totals))
        leader = int(counts.argmax())
        if counts[leader] and (counts == counts[leader]).sum() == 1:
            totals[leader] += 1
            holds[leader].update(distinct)
    words = [w for w, count in everywhere.items() if w not in owner and count >= FEWEST and len(w) > 2]
    inside = np.array([[own[word] for own in holds] for word in words]).reshape(-1, len(holds))  # (W, G)
    outside = inside.sum(axis=1, keepdims=True) - inside
    cells = inside, totals - inside, outside, totals.sum() - totals - outside
    a, b, c, d = (cell + SMOOTHING for cell in cells)
    odds = np.log(a * d / (b * c))
    z = odds / np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return {
        word: (lexicon.groups[best], everywhere[word], float(odds[row, best]), float(z[row, best]))
        for row, (word, best) in enumerate(zip(words, z.argmax(axis=1).tolist(), strict=True))
    }


def candidate_table(lexicon: Lexicon, found: list[Candidate]) -> Table:
    head = ["word", "group", "weight", "nearest words of the list", "cosine", "documents", "log odds", "z"]
    note = (
        "candidates, not words of a list: read each one, keep the columns word and group of those that you "
        "accept in a CSV file, and join it: --lexicon LIST+accepted.csv"
    )
    rows = [(c.word, c.group, c.weight, c.nearest, c.nearness, c.documents, c.log_odds, c.z) for c in found]
    return Table.of(
        head,
        rows,
        words=2,
        title=f"candidates for {lexicon.name}",
        notes=[note],
        meaning="Words that may belong on the list, the nearest first.",
    )


def _strength(one: Candidate) -> tuple[float, float, str]:
    near = -1.0 if math.isnan(one.nearness) else one.nearness
    return (-near, -(0.0 if math.isnan(one.z) else one.z), one.word)
