"""Means and covariances of vectors and targets, added up in one pass over any number of documents."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Bools, Floats

_ROUNDING = 1e-20  # of squares, in float64: vectors with a large common part may differ by very little


@dataclass(eq=False)
class MarkedMoments:
    """Sums over the documents that have one label, for what vectors tell by their spread."""

    squares: Floats  # (D, D)
    sums: Floats  # (D,)
    documents: int = 0

    def covariance(self) -> Floats:
        mean = self.sums / max(self.documents, 1)
        found: Floats = self.squares / max(self.documents, 1) - np.outer(mean, mean)
        return (found + found.T) / 2


@dataclass(eq=False)
class Moments:
    """What LEACE needs to know of vectors X (N, D) and targets Z (N, T): all in float64.

    The covariance of X is that of all documents; means and covariances with Z are those of the documents
    that have labels. Everything is counted from the mean of the first block, so that a large common part of
    all vectors costs no digits.
    """

    width: int
    targets: int
    documents: int = 0
    labelled: int = 0
    _origin: Floats | None = None
    _sum: Floats = field(init=False)
    _squares: Floats = field(init=False)
    _labelled_sum: Floats = field(init=False)
    _target_sum: Floats = field(init=False)
    _products: Floats = field(init=False)
    marked: MarkedMoments | None = None  # of the documents with a label alone, where they are wanted

    def __post_init__(self) -> None:
        self._sum, self._labelled_sum = np.zeros(self.width), np.zeros(self.width)
        self._squares = np.zeros((self.width, self.width))
        self._target_sum = np.zeros(self.targets)
        self._products = np.zeros((self.width, self.targets))

    def add(
        self,
        vectors: npt.NDArray[np.floating],
        targets: Floats,
        known: Bools | None = None,
        marked: Bools | None = None,
    ) -> None:
        """Add a block of documents; ``known`` says which of them have labels (default: all), and ``marked``
        which have the one whose spread is wanted."""
        x: Floats = np.asarray(vectors, dtype=np.float64)
        if not len(x):
            return
        if self._origin is None:
            self._origin = x.mean(axis=0)
        x = x - self._origin
        self.documents += len(x)
        self._sum += x.sum(axis=0)
        self._squares += x.T @ x
        if marked is not None:
            own = self.marked or MarkedMoments(np.zeros_like(self._squares), np.zeros_like(self._sum))
            part = x[marked]
            own.squares += part.T @ part
            own.sums += part.sum(axis=0)
            own.documents += len(part)
            self.marked = own
        if known is not None and not known.all():
            x, targets = x[known], targets[known]
        self.labelled += len(x)
        self._labelled_sum += x.sum(axis=0)
        self._target_sum += targets.sum(axis=0)
        self._products += x.T @ targets

    @property
    def mean(self) -> Floats:
        """(D,): of all vectors."""
        shift = self._sum / max(self.documents, 1)
        found: Floats = shift if self._origin is None else self._origin + shift
        return found

    @property
    def covariance(self) -> Floats:
        """(D, D): of all vectors, with divisor N."""
        shift = self._sum / max(self.documents, 1)
        found = self._squares / max(self.documents, 1) - np.outer(shift, shift)
        return (found + found.T) / 2

    @property
    def all_equal(self) -> bool:
        """Whether the vectors differ by no more than the rounding of their mean."""
        return bool(np.trace(self.covariance) <= _ROUNDING * (self.mean @ self.mean))

    @property
    def cross_covariance(self) -> Floats:
        """(D, T): of vectors and targets, over the documents that have labels."""
        count = max(self.labelled, 1)
        found: Floats = self._products / count - np.outer(
            self._labelled_sum / count, self._target_sum / count
        )
        return found
