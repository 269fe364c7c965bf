"""The FAIR epsilon-greedy order: at every rank the document with the best gain for its unfairness.

With probability 1 - epsilon the next document is one of largest ``gain / (divergence + smoothing)``, then of
least divergence; with probability epsilon one of least divergence, then of largest gain; then the one
that stood first. Gain is that of alpha-nDCG: a group that was served before counts less.

Documents with the same shares of groups differ in relevance only. Among them the most relevant one, and of
equals the first, always comes before the others. So at each rank only the heads of these classes compete:
two or three of them for labels, whatever the length of the list. Where documents of different gain can have
the same keys, each is a class of its own: with alpha = 1, where a group that was served adds nothing;
without smoothing, where all gains at no divergence are infinite; and where a divergence can be infinite.

Arrays have the axes (L, C, Q, R): value, class, query, repetition. The short ones come first, so that
sums and maxima over them run along long rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.measures.divergences import kullback_leibler
from evenrank.measures.sums import padded_sum

TIE = 1e-12  # divergences that differ by less are equal, and gains that differ by such a share
_NUMBERS_AT_ONCE = 1 << 18  # of one array: small enough for the cache

Divergence = Callable[[Floats, Floats], Floats]


def greedy_order(
    relevance: Floats,
    shares: Floats,
    target: Floats,
    lengths: Int64s,
    *,
    alpha: float | None,
    smoothing: float = 1.0,
    explore: Bools | None = None,
    steps: int | None = None,
    divergence: Divergence | None = kullback_leibler,
) -> Int64s:
    """(Q, R, K): the old places in their new order, -1 behind the list, for R repetitions.

    ``relevance`` (Q, K), membership ``shares`` (Q, K, L), ``target`` (Q, L). ``explore`` (Q, R, K) marks
    the ranks at which fairness alone decides; None is one repetition without any. ``alpha`` None is a gain
    that does not depend on groups, ``divergence`` None an order that does not. After ``steps`` ranks the
    others follow in their old order.
    """
    queries, depth, values = shares.shape
    repetitions = 1 if explore is None else explore.shape[1]
    places = np.full((queries, repetitions, depth), -1, dtype=np.int64)
    if not places.size:
        return places
    there = np.arange(depth) < lengths[:, None]  # (Q, K)
    grouped = shares.sum(axis=2) > 0
    alone = np.full(queries, alpha == 1)
    if divergence is not None:
        unwanted = ((shares > 0) & (target == 0)[:, None, :]).any(axis=(1, 2))
        alone |= (smoothing == 0) | unwanted
        if alpha is None:
            alone |= (there & ~grouped).any(axis=1)
    if alpha is not None:  # relevant to no group is not relevant
        relevance = relevance * grouped
    if explore is None:
        explore = np.zeros(places.shape, dtype=bool)
    count = depth if steps is None else min(steps, depth)
    kinds = _kinds(shares, there & ~alone[:, None])
    kinds = np.where(there & alone[:, None], np.arange(depth), kinds)  # (Q, K)
    for some in (np.flatnonzero(~alone), np.flatnonzero(alone)):
        together = _NUMBERS_AT_ONCE // (values * (1 + int(kinds[some].max(initial=0))))
        repeated = max(1, min(repetitions, together))
        size = max(1, together // repeated)
        for begin in range(0, len(some), size):
            block = some[begin : begin + size]
            classes = _Classes.of(kinds[block], relevance[block], shares[block])
            for first in range(0, repetitions, repeated):
                part = slice(first, first + repeated)
                places[block, part] = _filled(
                    classes, target[block].T, explore[block, part], count,
                    alpha=alpha, smoothing=smoothing, divergence=divergence,
                )  # fmt: skip
    rank = np.where(there[:, None], np.arange(depth), 2 * depth) + np.full(places.shape, depth)
    query, repetition, step = np.nonzero(places >= 0)
    rank[query, repetition, places[query, repetition, step]] = step  # what was not placed follows as it stood
    return np.where(there[:, None], np.argsort(rank, axis=2), -1)


class _Classes(NamedTuple):
    """Documents by their shares, in each class the most relevant first and of equals the first."""

    kinds: Int64s  # (Q, K): the class of each document
    given: Floats  # (Q, K): its relevance
    order: Int64s  # (Q, K): places, class after class
    relevance: Floats  # (Q, K): theirs
    begins: Int64s  # (C, Q): where a class begins in a row of them
    ends: Int64s  # (C, Q)
    shares: Floats  # (L, C, Q)

    @classmethod
    def of(cls, kinds: Int64s, relevance: Floats, shares: Floats) -> _Classes:
        count = 1 + int(kinds.max(initial=0))
        order = np.lexsort((-relevance, np.where(kinds < 0, count, kinds)), axis=1)
        rows, columns = np.nonzero(kinds >= 0)
        sizes = np.zeros((len(kinds), count), dtype=np.int64)
        np.add.at(sizes, (rows, kinds[rows, columns]), 1)
        ends = np.cumsum(sizes, axis=1)
        of_class = np.zeros((shares.shape[2], count, len(kinds)))
        of_class[:, kinds[rows, columns], rows] = shares[rows, columns].T
        in_order = np.take_along_axis(relevance, order, axis=1)
        return cls(kinds, relevance, order, in_order, (ends - sizes).T.copy(), ends.T.copy(), of_class)

    def heads(self, at: Int64s, ends: Int64s, queries: Int64s) -> tuple[Int64s, Floats]:
        """The place and the relevance of the documents at these spots; K and 0 behind the end of a class."""
        depth = self.order.shape[1]
        there, spots = at < ends, np.minimum(at, depth - 1)
        return np.where(there, self.order[queries, spots], depth), self.relevance[queries, spots] * there


def _filled(
    classes: _Classes,
    target: Floats,
    explore: Bools,
    steps: int,
    *,
    alpha: float | None,
    smoothing: float,
    divergence: Divergence | None,
) -> Int64s:
    """(Q, R, K): the first ``steps`` ranks of each repetition, -1 behind them. ``target`` is (L, Q)."""
    queries, repetitions, depth = explore.shape
    places: Int64s = np.full(explore.shape, -1)
    wanted = target[:, None, :, None]  # (L, 1, Q, 1)
    shares = np.repeat(classes.shares[..., None], repetitions, axis=-1)  # (L, C, Q, R)
    sizes = padded_sum(shares, axis=0)  # (C, Q, R)
    at = np.repeat(classes.begins[..., None], repetitions, axis=-1)  # (C, Q, R): the first that is left
    head, relevance = classes.heads(at, classes.ends[..., None], np.arange(queries)[:, None])
    mass, total = np.zeros((len(target), queries, repetitions)), np.zeros((queries, repetitions))
    weight = np.ones(mass.shape)  # (1 - alpha)**r
    for step in range(steps):
        gain = relevance
        if alpha is not None:
            gain = relevance * padded_sum(shares * weight[:, None], axis=0)
        apart = np.zeros(gain.shape)
        if divergence is not None:
            whole = total + sizes  # (C, Q, R)
            after = (mass[:, None] + shares) / np.where(whole > 0, whole, 1.0)  # (L, C, Q, R)
            with np.errstate(invalid="ignore"):  # a query without a target
                apart = divergence(np.moveaxis(after, 0, -1), np.moveaxis(wanted, 0, -1))
            apart = np.where(np.isnan(apart) | (whole <= 0), np.inf, apart)
            apart = np.where(apart < TIE, 0.0, apart)
        chosen = _choose(gain, apart, head, smoothing, explore[:, :, step], depth)
        query, repetition = np.nonzero(chosen < depth)
        if not len(query):
            break
        place = chosen[query, repetition]
        places[query, repetition, step] = place
        kind = classes.kinds[query, place]
        taken = classes.shares[:, kind, query]  # (L, N)
        mass[:, query, repetition] += taken
        total[query, repetition] += padded_sum(taken, axis=0)
        if alpha is not None:
            weight[:, query, repetition] *= (1 - alpha) ** (taken * classes.given[query, place])
        spot = kind, query, repetition
        at[spot] += 1
        head[spot], relevance[spot] = classes.heads(at[spot], classes.ends[kind, query], query)
    return places


def _choose(
    gain: Floats, apart: Floats, head: Int64s, smoothing: float, exploring: Bools, depth: int
) -> Int64s:
    """(Q, R): the place of the next document, by two keys and then the old place; K where none is left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = gain / (apart + smoothing)  # (C, Q, R)
    if smoothing == 0 or gain.min() < 0:
        # the box of the paper has no smoothing: a gain at no divergence is infinite, no gain is nothing
        ratio = np.where((gain > 0) & (apart < np.inf), ratio, 0.0)
    near = -apart
    slack = exploring.astype(float)  # where the first key is a divergence
    best = _largest(np.where(exploring, near, ratio), head < depth, slack)
    best = _largest(np.where(exploring, gain, near), best, 1.0 - slack)
    return np.asarray(np.where(best, head, depth).min(axis=0))


def _largest(keys: Floats, among: Bools, slack: Floats) -> Bools:
    """(C, Q, R): where a key is the largest over classes. The tolerance is relative to it, or absolute where
    ``slack`` is 1."""
    top = np.where(among, keys, -np.inf).max(axis=0)
    with np.errstate(invalid="ignore"):
        close = keys >= np.where(np.isfinite(top), top - TIE * np.maximum(slack, np.abs(top)), top)
    return np.asarray(close & among)


def _kinds(shares: Floats, there: Bools) -> Int64s:
    """(Q, K): documents of a query with equal shares have equal numbers from 0 on; -1 in the padding."""
    queries, depth, values = shares.shape
    keys = np.concatenate([np.repeat(np.arange(queries), depth)[:, None], shares.reshape(-1, values)], axis=1)
    rows = np.flatnonzero(there.ravel())
    kinds = np.full(queries * depth, -1, dtype=np.int64)
    if len(rows):
        _, back = np.unique(keys[rows], axis=0, return_inverse=True)
        back = back.ravel()
        owner = rows // depth
        firsts = np.full(queries, np.iinfo(np.int64).max)
        np.minimum.at(firsts, owner, back)  # the classes of a query are neighbours
        kinds[rows] = back - firsts[owner]
    return kinds.reshape(queries, depth)
