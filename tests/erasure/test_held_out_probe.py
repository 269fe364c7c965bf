"""What other documents tell after erasure: the check is of the same kind as the eraser, and is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from slow_logistic import slow_logits

from evenrank import DataError
from evenrank.erasure import Eraser, Targets, held_out_probe


def balanced_accuracy(told: Any, labels: Any) -> float:
    return float((told[labels].mean() + 1 - told[~labels].mean()) / 2)


def drawn(count: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    labels = generator.random(count) < 0.3
    return generator.normal(size=(count, 10)) @ generator.normal(size=(10, 10)) + 0.7 * labels[
        :, None
    ], labels


def test_what_other_documents_tell() -> None:
    generator = np.random.default_rng(0)
    labels = generator.random(4000) < 0.3
    vectors = generator.normal(size=(4000, 10)) + np.outer(labels, np.full(10, 0.7))
    found = held_out_probe(vectors, labels)
    assert found.before > 0.8
    # 2,000 documents leave means .16 deviations apart, which is .53; .02 is the error of 1,000 documents
    assert abs(found.after - 0.5) < 0.1
    assert found.documents == 1000
    assert found == held_out_probe(vectors, labels)
    with pytest.raises(DataError, match="80 documents"):
        held_out_probe(vectors[:60], labels[:60])


def test_the_eraser_knows_the_vectors_of_documents_without_a_label(tmp_path: Path) -> None:
    """Its covariance is that of all but those that the probe sees, as that of the eraser itself is."""
    vectors, labels = drawn(1600)
    known = np.arange(1600) % 8 > 0
    targets = Targets(("label",), np.where(known, labels, np.nan)[:, None], known)
    found = held_out_probe(vectors, targets, seed=1)
    assert found[2:] == (350, 350, 900, 700)
    np.save(tmp_path / "v.npy", vectors)
    assert held_out_probe(tmp_path / "v.npy", targets, seed=1) == found
    places = np.random.default_rng(1).permutation(np.flatnonzero(known))
    fitted = np.sort(np.concatenate([places[:700], np.flatnonzero(~known)]))
    learnt, tested = places[700:1050], places[1050:]
    erased = Eraser.fit(vectors[fitted], targets.at(fitted))(vectors)
    for x, accuracy in ((vectors, found.before), (erased, found.after)):
        told = slow_logits(x[learnt], labels[learnt], x[tested]) > 0
        assert accuracy == pytest.approx(balanced_accuracy(told, labels[tested]))


def test_labels_that_the_eraser_does_without_are_for_the_probe() -> None:
    vectors, labels = drawn(4000)
    whole = Targets(("label",), labels[:, None].astype(float), np.ones(4000, bool))
    sample = whole.sampled(60)
    found = held_out_probe(vectors, sample, further=whole)
    assert found[2:] == (1970, 1970, 4000, 60)
    places = np.random.default_rng(0).permutation(np.flatnonzero(~sample.known))
    learnt, tested = places[:1970], places[1970:]
    x = Eraser.fit(vectors, sample)(vectors)
    told = slow_logits(x[learnt], labels[learnt], x[tested]) > 0
    assert found.after == pytest.approx(balanced_accuracy(told, labels[tested]))
    assert held_out_probe(vectors, sample, further=whole, most=300)[2:] == (300, 300, 4000, 60)
    nearly = whole.sampled(3950)  # too few are left out: those of the sample are divided
    assert held_out_probe(vectors, nearly, further=whole)[2:] == (988, 987, 2025, 1975)
    assert held_out_probe(vectors, nearly, most=300)[2:] == (300, 300, 3400, 3350)
    with pytest.raises(DataError, match="4,000 vectors, but targets of 9 documents"):
        held_out_probe(vectors, whole, further=labels[:9])


def test_the_check_takes_off_as_many_directions(recwarn: pytest.WarningsRecorder) -> None:
    """And it does not warn that its half of the documents is small."""
    generator = np.random.default_rng(5)
    labels = generator.random(2000) < 0.4
    x = generator.normal(size=(2000, 6)) + np.outer(labels, [3, 0, 0, 0, 0, 0])
    x[labels, 2:4] *= 3
    places = np.random.default_rng(0).permutation(2000)
    fitted, learnt, tested = np.sort(places[:1000]), places[1000:1500], places[1500:]
    for second_order in (0, 2):
        found = held_out_probe(x, labels, second_order=second_order)
        erased = Eraser.fit(x[fitted], labels[fitted], second_order=second_order)(x)
        told = slow_logits(erased[learnt], labels[learnt], erased[tested]) > 0
        assert found.after == pytest.approx(balanced_accuracy(told, labels[tested]), abs=0.01)
    held_out_probe(generator.normal(size=(300, 160)), labels[:300])
    assert not recwarn.list
