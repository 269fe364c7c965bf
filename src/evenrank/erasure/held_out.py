"""What a linear probe tells from vectors, before and after erasure, of documents that were held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Array, Bools, Floats
from evenrank.data.numbers import real_numbers
from evenrank.erasure.eraser import Eraser
from evenrank.erasure.targets import as_targets
from evenrank.errors import DataError

LEAST = 20  # documents of each label: with fewer, nothing can be told
_DECAY = 1e-3  # of the probe's weights, as a share of a document
_STEPS = 50
_CLOSE = 1e-8
_RESOLUTION = 1e-7  # of float32: dimensions that vary less, compared with the others, are constant


class ProbedErasure(NamedTuple):
    """Balanced accuracies of a linear probe, where chance is 0.5."""

    before: float
    after: float
    documents: int  # that it was tested on


def held_out_probe(vectors: Any, targets: Any, seed: int = 0, *, second_order: int = 0) -> ProbedErasure:
    """Fit an eraser to half of the documents; let a logistic regression learn the first target from a quarter
    that the eraser has not seen, and test it on the last quarter.

    The guarantee of an eraser is for the documents that it was fitted to. This is what other documents tell.
    ``second_order`` is that of ``Eraser.fit``.
    """
    wanted = as_targets(targets)
    table = real_numbers(vectors)
    if len(table) != len(wanted):
        raise DataError(f"{len(table):,} vectors, but targets of {len(wanted):,} documents")
    labels = wanted.marked
    places = np.random.default_rng(seed).permutation(np.flatnonzero(wanted.known))
    half, quarter = len(places) // 2, 3 * len(places) // 4
    fitted, learnt, tested = places[:half], places[half:quarter], places[quarter:]
    for part in (fitted, learnt, tested):
        if min(labels[part].sum(), (~labels[part]).sum()) < LEAST:
            raise DataError(
                f"a probe of {wanted.names[0]!r} needs {4 * LEAST} documents or more with each label"
            )
    eraser = Eraser.fitted(table[fitted], wanted.at(fitted), second_order=second_order)
    accuracies = [
        balanced_accuracy(predicted(x[tested], logistic(x[learnt], labels[learnt])), labels[tested])
        for x in (table, eraser(table))
    ]
    return ProbedErasure(accuracies[0], accuracies[1], len(tested))


class Logistic(NamedTuple):
    """A linear classifier of standardised vectors."""

    mean: Floats
    deviation: Floats
    weights: Floats  # (D + 1,): the last is the constant


def logistic(vectors: Array, labels: Bools, decay: float = _DECAY) -> Logistic:
    """Logistic regression in which both labels weigh the same, by Newton's method.

    After a perfect erasure of the label, its weights are 0: the constant is the best linear classifier.
    """
    x: Floats = np.asarray(vectors, dtype=np.float64)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    deviation = np.where(deviation > _RESOLUTION * deviation.max(), deviation, np.inf)
    x = np.hstack([(x - mean) / deviation, np.ones((len(x), 1))])
    y = labels.astype(np.float64)
    share = y.mean()
    weight = np.where(labels, 0.5 / share, 0.5 / (1 - share))  # mean 1
    ridge = np.full(x.shape[1], decay * len(x))
    ridge[-1] = 0.0
    found = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        gradient = x.T @ (weight * (p - y)) + ridge * found
        curvature = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(ridge + _CLOSE)
        step = np.linalg.solve(curvature, gradient)
        step *= min(1.0, 5.0 / max(np.abs(x @ step).max(), 1e-300))  # far steps overshoot
        found -= step
        if np.abs(step).max() < _CLOSE:
            break
    return Logistic(mean, deviation, found)


def predicted(vectors: Array, model: Logistic) -> Bools:
    x = (vectors - model.mean) / model.deviation
    return np.asarray(x @ model.weights[:-1] + model.weights[-1] > 0)


def balanced_accuracy(guessed: Bools, labels: Bools) -> float:
    """The mean over both labels of the share that was told right."""
    return float((guessed[labels].mean() + (~guessed[~labels]).mean()) / 2)
