"""What a linear probe tells from vectors, before and after erasure, of documents that were held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenrank.arrays import Bools, Int64s
from evenrank.erasure.eraser import Eraser, Progress
from evenrank.erasure.logistic import logistic, predicted
from evenrank.erasure.targets import Targets, as_targets
from evenrank.erasure.vector_files import vector_source
from evenrank.errors import DataError

LEAST = 20  # documents of each label: with fewer, nothing can be told


class ProbedErasure(NamedTuple):
    """Balanced accuracies of a linear probe, where chance is 0.5."""

    before: float
    after: float
    documents: int  # that it was tested on
    learnt_from: int  # documents that it learnt from
    fitted: int  # documents that the eraser of this check was fitted to
    labelled: int  # of them with a label


class _Parts(NamedTuple):
    """Which documents the probe learns from and is tested on, and which ones the eraser is fitted to."""

    learnt: Int64s
    tested: Int64s
    labels: Bools  # (N,)
    fitted: Bools  # (N,)


def held_out_probe(
    vectors: Any,
    targets: Any,
    seed: int = 0,
    *,
    second_order: int = 0,
    further: Any = None,
    most: int | None = None,
    progress: Progress | None = None,
) -> ProbedErasure:
    """Fit an eraser to half of the documents that have a label, and to all that have none; let a logistic
    regression learn the first target from a quarter that the eraser has not seen, and test it on the last
    quarter.

    The guarantee of an eraser is for the documents that it was fitted to. This is what other documents tell.
    ``further`` are targets of the same documents with more labels, such as those that ``targets`` is a sample
    of: the eraser is then the one that ``Eraser.fit(vectors, targets)`` gives, and the probe learns from half
    of the documents that only ``further`` has labels of, and is tested on the other half. ``most`` is how
    many documents it learns from, and how many it is tested on, at most. ``second_order`` is that of
    ``Eraser.fit``.
    """
    wanted, source = as_targets(targets), vector_source(vectors)
    others = None if further is None else as_targets(further)
    for given in (wanted, *(() if others is None else (others,))):
        if source.count != len(given):
            raise DataError(f"{source.count:,} vectors, but targets of {len(given):,} documents")
    parts = None if others is None else _of_further(wanted, others, seed, most)
    if parts is None:
        parts = _of_labelled(wanted, seed, most)
    learnt, tested, labels, fitted = parts
    known = source if fitted.all() else source.only(fitted)
    eraser = Eraser.fitted(known, wanted.at(fitted), second_order=second_order, progress=progress)
    places = np.sort(np.concatenate([learnt, tested]))
    table, own = source.take(places).astype(np.float64), labels[places]
    of_test = np.isin(places, tested)
    accuracies = [
        balanced_accuracy(predicted(x[of_test], logistic(x[~of_test], own[~of_test])), own[of_test])
        for x in (table, eraser(table))
    ]
    return ProbedErasure(
        accuracies[0], accuracies[1], len(tested), len(learnt), eraser.documents, eraser.labelled
    )


def _of_further(wanted: Targets, further: Targets, seed: int, most: int | None) -> _Parts | None:
    """Labels that the eraser does without are there; None where they are too few.

    The vectors of these documents stay in the covariance: an eraser that is fitted to a sample of labels
    knows the vectors of all documents.
    """
    places = np.random.default_rng(seed).permutation(np.flatnonzero(further.known & ~wanted.known))
    half, labels = len(places) // 2, further.marked
    learnt, tested = places[:half][:most], places[half:][:most]
    if not all(_enough(labels[part]) for part in (learnt, tested)):
        return None
    return _Parts(learnt, tested, labels, np.ones(len(wanted), dtype=bool))


def _of_labelled(wanted: Targets, seed: int, most: int | None) -> _Parts:
    """Half of the labels for the eraser; what the probe learns from and is tested on, it has never seen."""
    places = np.random.default_rng(seed).permutation(np.flatnonzero(wanted.known))
    half, quarter, labels = len(places) // 2, 3 * len(places) // 4, wanted.marked
    learnt, tested = places[half:quarter][:most], places[quarter:][:most]
    fitted = np.ones(len(wanted), dtype=bool)
    fitted[learnt] = fitted[tested] = False
    for part in (labels[fitted & wanted.known], labels[learnt], labels[tested]):
        if not _enough(part):
            raise DataError(
                f"a probe of {wanted.names[0]!r} needs {4 * LEAST} documents or more with each label"
            )
    return _Parts(learnt, tested, labels, fitted)


def _enough(labels: Bools) -> bool:
    return bool(min(labels.sum(), (~labels).sum()) >= LEAST)


def balanced_accuracy(guessed: Bools, labels: Bools) -> float:
    """The mean over both labels of the share that was told right."""
    return float((guessed[labels].mean() + (~guessed[~labels]).mean()) / 2)
