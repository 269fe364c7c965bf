"""What a linear probe tells from vectors, before and after erasure, of documents that were held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Bools
from evenrank.data.numbers import real_numbers
from evenrank.erasure.eraser import Eraser
from evenrank.erasure.logistic import logistic, predicted
from evenrank.erasure.targets import as_targets
from evenrank.errors import DataError

LEAST = 20  # documents of each label: with fewer, nothing can be told


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


def balanced_accuracy(guessed: Bools, labels: Bools) -> float:
    """The mean over both labels of the share that was told right."""
    return float((guessed[labels].mean() + (~guessed[~labels]).mean()) / 2)
