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

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Array, Bools, Floats, Int64s
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
    if not depth:
        return places
    grouped = shares.sum(axis=2) > 0  # (Q, K)
    there = np.arange(depth) < lengths[:, None]
    alone = np.full(queries, alpha == 1)
    if divergence is not None:
        unwanted = ((shares > 0) & (target == 0)[:, None, :]).any(axis=(1, 2))
        alone |= (smoothing == 0) | unwanted
        if alpha is None:
            alone |= (there & ~grouped).any(axis=1)
    if alpha is not None:  # relevant to no group is not relevant
        relevance = relevance * grouped
    count = depth if steps is None else min(steps, depth)
    for some, single in ((np.flatnonzero(~alone), False), (np.flatnonzero(alone), True)):
        classes = _classes(relevance[some], shares[some], lengths[some], alone=single)
        filled = places if len(some) == queries else places[some]  # a copy
        for block, part in _blocks(len(some), repetitions, values * classes.begins.shape[0]):
            explored = None if explore is None else explore[some[block], part]
            _fill(
                filled[block, part], classes.of(block), target[some[block]].T, lengths[some[block]], explored,
                count, alpha=alpha, smoothing=smoothing, divergence=divergence,
            )  # fmt: skip
        if filled is not places:
            places[some] = filled
    if count < depth:
        _add_rest(places.reshape(-1, depth), np.repeat(lengths, repetitions))
    return places


def _blocks(queries: int, repetitions: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Queries and repetitions, so many at once that arrays of ``width`` numbers for each stay small."""
    together = max(1, _NUMBERS_AT_ONCE // max(1, width))
    at_once = min(repetitions, together)
    size = max(1, together // max(1, at_once))
    for begin in range(0, queries, size):
        for first in range(0, repetitions, at_once):
            yield slice(begin, begin + size), slice(first, first + at_once)


class _Classes(NamedTuple):
    """Documents by their shares, in each class the most relevant first and of equals the first."""

    order: Int64s  # (Q, K): places, class after class
    relevance: Floats  # (Q, K): theirs
    begins: Int64s  # (C, Q): where a class begins in a row of them
    ends: Int64s  # (C, Q)
    shares: Floats  # (L, C, Q)

    def of(self, queries: slice) -> _Classes:
        return _Classes(
            self.order[queries], self.relevance[queries], self.begins[:, queries], self.ends[:, queries],
            np.ascontiguousarray(self.shares[:, :, queries]),
        )  # fmt: skip


class _Competing(NamedTuple):
    """The documents that compete for a rank, one of each class that has any."""

    codes: Int64s  # (C, Q, R): the smaller, the earlier the document stood
    relevance: Floats  # (C, Q, R)
    shares: Floats  # (L, C, Q, R)
    sizes: Floats  # (C, Q, R): the sums of their shares
    there: Bools | None  # (C, Q, R): False in rows behind those of a list; None: all lists have as many


class _Heads:
    """The first document that is left of each class.

    Those of a list stand in its first rows, ``left`` of them: a class without documents costs nothing more.
    """

    def __init__(self, classes: _Classes, repetitions: int) -> None:
        queries, depth = classes.order.shape
        self._rows = len(classes.begins)
        self._order, self._relevance = classes.order.ravel(), classes.relevance.ravel()
        first = np.arange(queries) * depth  # where a query's row begins in them
        there = classes.begins < classes.ends  # (C, Q): those of a query come first
        self._is_last = np.zeros(queries * depth, dtype=bool)  # of its class
        self._is_last[(first + classes.ends - 1)[there]] = True
        at = np.where(there, first + classes.begins, 0)  # (C, Q)

        def for_each(array: Array) -> Array:
            return np.repeat(array[..., None], repetitions, axis=-1)

        self._at = for_each(at)  # (C, Q, R)
        self._codes = for_each(self._code(at, np.arange(self._rows)[:, None]))
        self._gains = for_each(self._relevance[at])
        self._sizes = for_each(padded_sum(classes.shares, axis=0))
        self._shares = for_each(classes.shares)  # (L, C, Q, R)
        self.left = for_each(there.sum(axis=0))  # (Q, R)

    def _code(self, at: Int64s, rows: Int64s) -> Int64s:
        """The place of a document, which decides between equals, and the row in which it stands here."""
        return np.asarray(self._order[at] * self._rows + rows)

    def now(self) -> _Competing:
        width = int(self.left.max())
        there = None if self.left.min() == width else np.arange(width)[:, None, None] < self.left
        return _Competing(
            self._codes[:width], self._gains[:width], self._shares[:, :width], self._sizes[:width], there
        )

    def place_and_row(self, codes: Int64s) -> tuple[Int64s, Int64s]:
        """(Q, R) each; -1 and 0 for a list that has no document left."""
        there = self.left > 0
        places, rows = np.divmod(codes, self._rows)
        return np.where(there, places, -1), np.where(there, rows, 0)

    def remove(self, rows: Int64s) -> None:
        """Take the documents in these rows (Q, R). The next of its class comes into the place of each, or,
        where there is none, what stands in the last row of the list."""
        left = self.left.reshape(-1)
        lists = np.flatnonzero(left)
        rows = rows.reshape(-1)[lists]
        at, codes, gains, *constant = (
            array.reshape(len(array), -1)
            for array in (self._at, self._codes, self._gains, self._sizes, *self._shares)
        )
        ended = self._is_last[at[rows, lists]]
        same = rows[~ended], lists[~ended]
        following = at[same] + 1
        at[same], codes[same] = following, self._code(following, rows[~ended])
        gains[same] = self._relevance[following]
        closed = lists[ended]
        left[closed] -= 1
        freed, last = (rows[ended], closed), (left[closed], closed)
        codes[freed] = codes[last] + (rows[ended] - left[closed])
        for array in (at, gains, *constant):
            array[freed] = array[last]


def _fill(
    places: Int64s,
    classes: _Classes,
    target: Floats,
    lengths: Int64s,
    explore: Bools | None,
    steps: int,
    *,
    alpha: float | None,
    smoothing: float,
    divergence: Divergence | None,
) -> None:
    """Write the first ``steps`` ranks of ``places`` (Q, R, K). ``target`` is (L, Q)."""
    queries, repetitions, _ = places.shape
    heads = _Heads(classes, repetitions)
    wanted = target[:, None, :, None]  # (L, 1, Q, 1)
    without_target = bool(np.isnan(target).any())
    mass = np.zeros((len(target), queries, repetitions))
    total = np.zeros((queries, repetitions))
    weight = np.ones(mass.shape)  # (1 - alpha)**r
    never = np.zeros((queries, repetitions), dtype=bool)
    for step in range(min(steps, int(lengths.max(initial=0)))):
        left = heads.now()
        gain = left.relevance
        if alpha is not None:
            gain = gain * padded_sum(left.shares * weight[:, None], axis=0)
        apart = np.zeros(gain.shape)
        if divergence is not None:
            after = mass[:, None] + left.shares  # (L, C, Q, R)
            whole = total + left.sizes  # (C, Q, R)
            empty = bool(whole.min() <= 0)
            after /= np.where(whole > 0, whole, 1.0) if empty else whole
            with np.errstate(invalid="ignore"):  # a query without a target
                apart = divergence(np.moveaxis(after, 0, -1), np.moveaxis(wanted, 0, -1))
            if empty or without_target:
                apart[np.isnan(apart) | (whole <= 0)] = np.inf
            apart = np.where(apart < TIE, 0.0, apart)
        exploring = never if explore is None else explore[:, :, step]
        places[:, :, step], rows = heads.place_and_row(_choose(gain, apart, left, smoothing, exploring))
        live = (step < lengths)[:, None]  # (Q, 1)
        taken = np.take_along_axis(left.shares, rows[None, None], axis=1)[:, 0] * live  # (L, Q, R)
        mass += taken
        total += padded_sum(taken, axis=0)
        if alpha is not None:
            weight *= (1 - alpha) ** (taken * np.take_along_axis(left.relevance, rows[None], axis=0)[0])
        heads.remove(rows)


def _choose(gain: Floats, apart: Floats, left: _Competing, smoothing: float, exploring: Bools) -> Int64s:
    """(Q, R): the code of the next document: two keys, then the old place."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = gain / (apart + smoothing)  # (C, Q, R)
    if smoothing == 0 or gain.min() < 0:
        # the box of the paper has no smoothing: a gain at no divergence is infinite, no gain is nothing
        ratio = np.where((gain > 0) & (apart < np.inf), ratio, 0.0)
    near = -apart
    slack = exploring.astype(float)  # where the first key is a divergence
    best = _largest(np.where(exploring, near, ratio), left.there, slack)
    best = _largest(np.where(exploring, gain, near), best, 1.0 - slack)
    return np.asarray(np.where(best, left.codes, np.iinfo(np.int64).max).min(axis=0))


def _largest(keys: Floats, among: Bools | None, slack: Floats) -> Bools:
    """(C, Q, R): where a key is the largest over classes. The tolerance is relative to it, or absolute where
    ``slack`` is 1."""
    top = (keys if among is None else np.where(among, keys, -np.inf)).max(axis=0)
    with np.errstate(invalid="ignore"):
        close = keys >= np.where(np.isfinite(top), top - TIE * np.maximum(slack, np.abs(top)), top)
    return np.asarray(close if among is None else close & among)


def _classes(relevance: Floats, shares: Floats, lengths: Int64s, *, alone: bool) -> _Classes:
    queries, depth, values = shares.shape
    there = np.arange(depth) < lengths[:, None]  # (Q, K)
    kinds = np.where(there, np.arange(depth), -1) if alone else _kinds(shares, there)
    count = max(1, int(kinds.max(initial=-1)) + 1)
    place = np.broadcast_to(np.arange(depth), kinds.shape)
    order = np.lexsort((place, -relevance, np.where(there, kinds, count)), axis=1)
    sizes = np.zeros((queries, count), dtype=np.int64)
    rows, columns = np.nonzero(there)
    np.add.at(sizes, (rows, kinds[rows, columns]), 1)
    ends = np.cumsum(sizes, axis=1)
    of_class = np.zeros((values, count, queries))
    of_class[:, kinds[rows, columns], rows] = shares[rows, columns].T
    return _Classes(
        order, np.take_along_axis(relevance, order, axis=1), (ends - sizes).T.copy(), ends.T.copy(), of_class
    )


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


def _add_rest(places: Int64s, lengths: Int64s) -> None:
    """Documents that were not placed follow in their old order: ``places`` (N, K) is filled up."""
    free = np.arange(places.shape[1]) < lengths[:, None]  # (N, K)
    done = places >= 0
    rows, columns = np.nonzero(done)
    free[rows, places[rows, columns]] = False
    count = done.sum(axis=1)
    rows, columns = np.nonzero(free)
    begin = np.searchsorted(rows, np.arange(len(places)))
    places[rows, count[rows] + np.arange(len(rows)) - begin[rows]] = columns
