"""The axis along which documents of a query differ most, and where documents stand on it.

The first principal component of their vectors, centred on the documents that it is fitted to. A component
has no sign of its own: it is turned so that documents of the first perspective are positive, where
that is known; else so that its largest coordinate is, which is the same in every run and means nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools, Floats

ONE_DOCUMENT = "one document only"
NO_SPREAD = "all documents are alike"
NO_AXIS = "two directions explain equally much of the difference"
FLAT = 1e-10  # a component that explains less of the vectors' length than this is rounding
TIED = 1e-6  # components whose lengths differ by less than this share: encoders give 7 digits


class Axes(NamedTuple):
    """Directions of one query: where they begin, and the unit vectors."""

    centre: Floats  # (D,)
    directions: Floats  # (A, D)


def fit_axes(vectors: Floats, count: int = 1) -> Axes | str:
    """The first principal components of (N, D) vectors, or why there are none.

    Components beyond those that the documents have are 0. The order of the documents does not matter. Of
    two components of one length neither is the first, and any mixture of them is as good: where the first
    has its like there is no axis, and a later one that has its like is 0, as one that is not there.

    >>> fit_axes(np.array([[1.0, 0], [-1, 0], [0, 0.1], [0, -0.1]])).directions.round(3).tolist()
    [[1.0, 0.0]]
    """
    if len(vectors) < 2:
        return ONE_DOCUMENT
    vectors = vectors[np.lexsort(vectors.T)]  # one order, whatever order the documents came in
    # a power of two changes no digit, and squares of very large or small numbers stay within range
    exponent = int(np.frexp(np.abs(vectors).max(initial=0.0))[1])
    vectors = np.ldexp(vectors, -exponent)
    centre = vectors.mean(axis=0)
    _, strengths, components = np.linalg.svd(vectors - centre, full_matrices=False)
    scale = float(np.linalg.norm(vectors, axis=1).max(initial=0.0)) or 1.0
    real = strengths > FLAT * scale * np.sqrt(len(vectors))
    if not real[0]:
        return NO_SPREAD
    like_the_next = strengths[:-1] - strengths[1:] <= TIED * strengths[:-1]
    alone = real & ~np.append(like_the_next, False) & ~np.append(False, like_the_next)
    if not alone[0]:
        return NO_AXIS
    directions = np.zeros((count, vectors.shape[1]))
    have = min(count, len(components))
    directions[:have] = np.where(alone[:have, None], components[:have], 0.0)
    return Axes(np.ldexp(centre, exponent), _turned(directions))


def _turned(directions: Floats) -> Floats:
    """With the largest coordinate of each direction positive; of equal ones, the first."""
    size = np.abs(directions)
    # coordinates that are equal but for rounding must give the same turn on every machine
    largest = np.argmax(size >= size.max(axis=1, keepdims=True) * (1 - 1e-6), axis=1)
    signs = np.sign(directions[np.arange(len(directions)), largest])
    return directions * np.where(signs == 0, 1.0, signs)[:, None]


def project(vectors: Floats, axes: Axes) -> Floats:
    """(N, A): where documents stand on each axis."""
    projected: Floats = (vectors - axes.centre) @ axes.directions.T
    return projected


def orientation(scores: Floats, first: Bools, second: Bools) -> Floats:
    """(A,): the sign that makes the first perspective the more positive one; 1 where one is absent."""
    if not first.any() or not second.any():
        return np.ones(scores.shape[1])
    lead = scores[first].mean(axis=0) - scores[second].mean(axis=0)
    return np.where(lead < 0, -1.0, 1.0)


def without_direction(vectors: Floats, direction: Floats) -> Floats:
    """``x - <x, b> b``: vectors with their part along a unit vector removed."""
    cleaned: Floats = vectors - (vectors @ direction)[:, None] * direction
    return cleaned
