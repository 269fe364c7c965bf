"""Logistic regression in which both labels weigh the same, over vectors of any number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Array, Bools, Floats
from evenrank.erasure.vector_files import VectorSource, vector_source
from evenrank.errors import DataError

DECAY = 1e-3  # of the weights, as a share of a document
_STEPS = 50
_CLOSE = 1e-8
_FARTHEST = 5.0  # what one step may change the margin of a document by: far steps overshoot
_RESOLUTION = 1e-7  # of float32: dimensions that vary less, compared with the others, are constant


class Logistic(NamedTuple):
    """A linear classifier of standardised vectors."""

    mean: Floats
    deviation: Floats
    weights: Floats  # (D + 1,): the last is the constant

    def plain(self) -> Floats:
        """(D + 1,): the weights for vectors as they are, and the constant."""
        slope = self.weights[:-1] / self.deviation
        return np.append(slope, self.weights[-1] - slope @ self.mean)


def logistic(vectors: Any, labels: Bools, decay: float = DECAY, *, known: Bools | None = None) -> Logistic:
    """Fit to the documents that are ``known`` (default: all) by Newton's method, block by block.

    The loss is the mean over documents, in which both labels weigh the same, and ``decay / 2`` times the
    squared weights. After a perfect erasure of the label, the weights are 0: the constant is the best linear
    classifier.
    """
    source = vector_source(vectors)
    used = np.ones(source.count, dtype=bool) if known is None else known
    share, count = labels[used].mean(), int(used.sum())
    if not 0 < share < 1:
        raise DataError(
            f"a regression needs documents with two labels, but all {count:,} that have one have the same: "
            "label documents of both kinds"
        )
    mean, deviation = _spread(source, used)

    def standardised() -> Iterator[tuple[Floats, Bools]]:
        for x, y in _blocks(source, used, labels):
            yield np.hstack([(x - mean) / deviation, np.ones((len(x), 1))]), y  # (n, D + 1)

    ridge = np.append(np.full(source.width, decay * count), 0.0)  # the constant is free
    found = np.zeros(source.width + 1)
    for _ in range(_STEPS):
        gradient, curvature = ridge * found, np.diag(ridge + _CLOSE)
        for x, y in standardised():
            p = probabilities(x @ found)
            weight = np.where(y, 0.5 / share, 0.5 / (1 - share))  # mean 1
            gradient += x.T @ (weight * (p - y))
            curvature += (x * (weight * p * (1 - p))[:, None]).T @ x
        step = np.linalg.solve(curvature, gradient)
        farthest = max(float(np.abs(x @ step).max()) for x, _ in standardised())
        step *= min(1.0, _FARTHEST / max(farthest, 1e-300))
        found -= step
        if np.abs(step).max() < _CLOSE:
            break
    return Logistic(mean, deviation, found)


def predicted(vectors: Array, model: Logistic) -> Bools:
    x = (vectors - model.mean) / model.deviation
    return np.asarray(x @ model.weights[:-1] + model.weights[-1] > 0)


def probabilities(margins: Floats) -> Floats:
    """The logistic function; beyond 30 it is 0 or 1 as far as a float can matter here."""
    found: Floats = 1 / (1 + np.exp(-np.clip(margins, -30, 30)))
    return found


def _blocks(source: VectorSource, used: Bools, labels: Bools) -> Iterator[tuple[Floats, Bools]]:
    row = 0
    for block in source.blocks():
        rows = slice(row, row + len(block.vectors))
        row = rows.stop
        if used[rows].any():
            yield block.vectors[used[rows]].astype(np.float64), labels[rows][used[rows]]


def _spread(source: VectorSource, used: Bools) -> tuple[Floats, Floats]:
    """Mean and standard deviation of every dimension, in two passes: one would lose digits."""
    count = int(used.sum())
    mean: Floats = sum((x.sum(axis=0) for x, _ in _blocks(source, used, used)), np.zeros(source.width))
    mean = mean / count
    squares = sum(
        (np.square(x - mean).sum(axis=0) for x, _ in _blocks(source, used, used)), np.zeros(source.width)
    )
    deviation = np.sqrt(squares / count)
    return mean, np.where(deviation > _RESOLUTION * deviation.max(), deviation, np.inf)
