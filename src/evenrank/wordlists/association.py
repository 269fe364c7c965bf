"""How strongly words stand for groups, by their vectors: degrees in [0, 1], relative to the words of a list.

A word leans to a group by ``s_g(w)``, its mean cosine with the words of the group less the mean over the
other groups. ``own`` is the median of ``s_g`` of the group's words, each without itself, ``others`` that of
the words of the other groups, and ``middle`` lies halfway between the two. The weight is ``(s_g(w) - middle)
/ (own - middle)``, cut to [0, 1]: a word halfway between the groups has weight 0 and a typical word of the
group has weight 1. Zero cosine difference would be no such middle: most words of a language lean to the group
that is taken as the default, and by real vectors that is as far as the words of that group do.
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
NEAREST = 3  # words of the list that are shown beside a word
BLOCK = 5000  # words at a time


class Association(NamedTuple):
    """One word: its weight for each group, and the words of the list that are nearest to it."""

    word: str
    weights: tuple[float, ...]
    nearest: tuple[str, ...]
    leans: tuple[float, ...]  # the weights before they are cut
    nearness: tuple[float, ...]  # the mean cosine with the nearest words of each group


def associations(
    lexicon: Lexicon, words: Sequence[str], vectors: Mapping[str, Floats]
) -> tuple[Association, ...]:
    """The words that have vectors, with their weights for the groups of the lexicon."""
    owners = dict(zip(lexicon.terms, lexicon.term_groups, strict=True))
    seeds = [term for term in lexicon.terms if term in vectors]
    groups = np.array([owners[term] for term in seeds], dtype=np.int64)  # (S,)
    for place, group in enumerate(lexicon.groups):
        if (groups == place).sum() < FEWEST_SEEDS:
            raise DataError(
                f"fewer than {FEWEST_SEEDS} words of group {group!r} have vectors, which is too few to say "
                "what leans to it: use other vectors or a longer list"
            )
    known = [word for word in words if word in vectors]
    if not known:
        raise DataError(f"none of the words has a vector: {few(list(words))}")
    among = _unit(seeds, vectors)  # (S, D)
    own, middle = _scale(among @ among.T, groups, len(lexicon.groups))  # (G,), (G,)
    if (own <= middle).any():
        lost = lexicon.groups[int(np.argmin(own - middle))]
        raise DataError(
            f"the words of group {lost!r} are no nearer to each other than to the other groups: these "
            "vectors cannot tell the groups apart"
        )
    places = {term: place for place, term in enumerate(seeds)}
    found: list[Association] = []
    for begin in range(0, len(known), BLOCK):
        block = known[begin : begin + BLOCK]
        cosines = _unit(block, vectors) @ among.T  # (W, S)
        for row, word in enumerate(block):
            if word in places:  # a word says nothing of itself
                cosines[row, places[word]] = np.nan
        leans = (_leans(cosines, groups, len(own)) - middle) / (own - middle)  # (W, G)
        cosines = np.nan_to_num(cosines, nan=-1.0)
        first = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]
        near = np.stack([_nearness(cosines[:, groups == place]) for place in range(len(own))], axis=1)
        weights = np.clip(leans, 0, 1)
        found += (
            Association(word, tuple(weight), tuple(seeds[seed] for seed in nearest), tuple(lean), tuple(mean))
            for word, weight, nearest, lean, mean in zip(
                block, weights.tolist(), first.tolist(), leans.tolist(), near.tolist(), strict=True
            )
        )
    return tuple(found)


def weighted_lexicon(lexicon: Lexicon, found: Iterable[Association], name: str | None = None) -> Lexicon:
    """The list with these words added by degrees; its own words keep their weights."""
    degrees = lexicon.to_weights()
    for one in found:
        if one.word not in lexicon.terms:
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


def _scale(cosines: Floats, groups: Int64s, count: int) -> tuple[Floats, Floats]:
    """(G,), (G,): how far the words of each group lean to it, each without itself, and the middle between
    them and the words of the other groups; medians."""
    np.fill_diagonal(cosines, np.nan)
    leans = _leans(cosines, groups, count)  # (S, G)
    own = np.array([np.median(leans[groups == place, place]) for place in range(count)])
    others = np.array([np.median(leans[groups != place, place]) for place in range(count)])
    return own, (own + others) / 2


def _nearness(cosines: Floats) -> Floats:
    """(W,): the mean of the largest cosines."""
    count = min(NEAREST, cosines.shape[1])
    nearest: Floats = np.partition(cosines, -count, axis=1)[:, -count:].mean(axis=1)
    return nearest


def _unit(words: Sequence[str], vectors: Mapping[str, Floats]) -> Floats:
    """(W, D): the vectors of words, of length 1."""
    table = np.stack([vectors[word] for word in words])
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    if not lengths.all():
        raise ParameterError("a word has a vector of length 0, which is nowhere near any other")
    unit: Floats = table / lengths
    return unit
