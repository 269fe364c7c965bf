"""How strongly words stand for groups, by their vectors: degrees in [0, 1], relative to the words of a list.

A word leans to a group by ``s_g(w)``, its mean cosine with the words of the group less the mean over the
other groups. Its weight is ``s_g(w)`` over the median of ``s_g`` of the group's own words, each without
itself, cut to [0, 1]: a word that leans as far as a typical word of the list has weight 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, ParameterError, few

LEAST = 0.05  # weights below it are noise, and left out
FEWEST_SEEDS = 3


class Association(NamedTuple):
    """One word: its weight for each group, and the words of the list that are nearest to it."""

    word: str
    weights: tuple[float, ...]
    nearest: tuple[str, ...]


def associations(
    lexicon: Lexicon, words: Sequence[str], vectors: Mapping[str, Floats]
) -> tuple[Association, ...]:
    """The words that have vectors, with their weights for the groups of the lexicon."""
    seeds = [term for term in lexicon.terms if term in vectors]
    groups = np.array([lexicon.term_groups[lexicon.terms.index(term)] for term in seeds], dtype=np.int64)
    for place, group in enumerate(lexicon.groups):
        if (groups == place).sum() < FEWEST_SEEDS:
            raise DataError(
                f"fewer than {FEWEST_SEEDS} words of group {group!r} have vectors, which is too few to say "
                "what leans to it: use other vectors or a longer list"
            )
    known = [word for word in words if word in vectors]
    if not known:
        raise DataError(f"none of the words has a vector: {few(list(words))}")
    among = _unit(np.stack([vectors[term] for term in seeds]))  # (S, D)
    cosines = _unit(np.stack([vectors[word] for word in known])) @ among.T  # (W, S)
    typical = _typical(among @ among.T, groups, len(lexicon.groups))  # (G,)
    if (typical <= 0).any():
        lost = lexicon.groups[int(np.argmin(typical))]
        raise DataError(
            f"the words of group {lost!r} are no nearer to each other than to the other groups: these "
            "vectors cannot tell the groups apart"
        )
    same = np.array([[word == term for term in seeds] for word in known])
    leans = _leans(np.where(same, np.nan, cosines), groups, len(lexicon.groups))
    weights = np.clip(leans / typical, 0, 1)  # (W, G)
    nearest = np.argsort(np.where(same, 2, -cosines), axis=1, kind="stable")
    return tuple(
        Association(word, tuple(weights[row].tolist()), tuple(seeds[place] for place in nearest[row][:3]))
        for row, word in enumerate(known)
    )


def weighted_lexicon(lexicon: Lexicon, found: Iterable[Association], name: str | None = None) -> Lexicon:
    """The list with these words added by degrees; its own words keep their weights."""
    degrees = lexicon.to_weights()
    for one in found:
        if one.word in lexicon.terms:
            continue
        for group, weight in zip(lexicon.groups, one.weights, strict=True):
            if weight >= LEAST:
                degrees[group][one.word] = round(weight, 4)
    return Lexicon.build(
        name or f"{lexicon.name}-weighted",
        degrees,
        targets=dict(zip(lexicon.groups, lexicon.targets, strict=True)),
        partners=lexicon.partners,
    )


def _leans(cosines: Floats, groups: Int64s, count: int) -> Floats:
    """(W, G): the mean cosine with each group less the mean over the others; NaN is left out."""
    means = np.stack([np.nanmean(cosines[:, groups == place], axis=1) for place in range(count)], axis=1)
    others: Floats = (means.sum(axis=1, keepdims=True) - means) / max(1, count - 1)
    return means - others


def _typical(cosines: Floats, groups: Int64s, count: int) -> Floats:
    """(G,): how far the words of each group lean to it, each without itself: the median."""
    without_self = cosines.copy()
    np.fill_diagonal(without_self, np.nan)
    leans = _leans(without_self, groups, count)  # (S, G)
    return np.array([float(np.median(leans[groups == place, place])) for place in range(count)])


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all():
        raise ParameterError("a word has a vector of length 0, which is nowhere near any other")
    unit: Floats = vectors / lengths
    return unit
