"""The closed form against the paper, against the authors' package, and what it promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenrank import DataError, EvenrankWarning, Lexicon, Membership, ParameterError, scan
from evenrank.erasure import Eraser, Targets


def slow_leace(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Theorem 4.2 of Belrose et al. 2023, step by step: x - W^+ (W C)(W C)^+ W (x - E x)."""
    centred, targets = x - x.mean(axis=0), z - z.mean(axis=0)
    covariance, cross = centred.T @ centred / len(x), centred.T @ targets / len(x)
    values, directions = np.linalg.eigh(covariance)
    inverse = np.where(values > 1e-10 * values.max(), 1 / np.maximum(values, 1e-300), 0)
    whiten = directions @ np.diag(np.sqrt(inverse)) @ directions.T
    told = whiten @ cross
    projection = np.linalg.pinv(whiten) @ told @ np.linalg.pinv(told, rcond=1e-8) @ whiten
    return x - centred @ projection.T


def test_it_is_that_of_the_paper(planted) -> None:
    for targets in (planted.labels.astype(float), np.stack([planted.labels, planted.counts], axis=1) * 1.0):
        eraser = Eraser.fit(planted.vectors, targets)
        expected = slow_leace(planted.vectors, targets.reshape(len(targets), -1))
        np.testing.assert_allclose(eraser(planted.vectors), expected, atol=1e-8)
    assert eraser.rank == 2


@pytest.mark.needs("concept_erasure")
def test_it_is_that_of_the_authors(planted) -> None:
    import concept_erasure as package
    import torch

    x = torch.from_numpy(planted.vectors)
    z = torch.from_numpy(np.stack([planted.labels, planted.counts], axis=1) * 1.0)
    theirs = package.LeaceEraser.fit(x, z, shrinkage=False, constrain_cov_trace=False, svd_tol=1e-8)
    np.testing.assert_allclose(Eraser.fit(x.numpy(), z.numpy())(x.numpy()), theirs(x).numpy(), atol=1e-6)


def test_vectors_and_targets_are_uncorrelated_afterwards(planted) -> None:
    targets = np.stack([planted.labels, planted.counts, planted.counts > 2], axis=1).astype(float)
    erased = Eraser.fit(planted.vectors, targets)(planted.vectors)
    cross = (erased - erased.mean(axis=0)).T @ (targets - targets.mean(axis=0)) / len(erased)
    assert np.abs(cross).max() < 1e-10
    np.testing.assert_allclose(erased.mean(axis=0), planted.vectors.mean(axis=0))


def test_no_query_scores_a_label_higher(planted) -> None:
    """The score of a document is linear in its vector, so the mean scores of both labels are equal."""
    erased = Eraser.fit(planted.vectors, planted.labels)(planted.vectors)
    scores = erased @ np.random.default_rng(0).normal(size=(12, 30))
    gap = scores[planted.labels].mean(axis=0) - scores[~planted.labels].mean(axis=0)
    assert np.abs(gap).max() < 1e-9


def test_least_change_among_all_that_erase(planted) -> None:
    """An orthogonal projection off the difference of means erases the label too, and moves vectors further in
    the units of their covariance."""
    x, labels = planted.vectors, planted.labels
    erased = Eraser.fit(x, labels)(x)
    apart = x[labels].mean(axis=0) - x[~labels].mean(axis=0)
    apart /= np.linalg.norm(apart)
    other = x - np.outer((x - x.mean(axis=0)) @ apart, apart)
    assert np.square(erased - x).sum() < np.square(other - x).sum()


def test_many_blocks_of_vectors_are_one(tmp_path: Path) -> None:
    generator = np.random.default_rng(8)
    labels = generator.random(40_000) < 0.3
    x = generator.normal(size=(40_000, 5)) @ generator.normal(size=(5, 5)) + np.outer(labels, [1, 2, 0, 0, 1])
    np.save(tmp_path / "v.npy", x)
    expected = slow_leace(x, labels[:, None].astype(float))
    for vectors in (x, tmp_path / "v.npy"):
        np.testing.assert_allclose(Eraser.fit(vectors, labels)(x), expected, atol=1e-8)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_vectors_keep_their_type(planted, kind: type) -> None:
    small = (planted.vectors - 50).astype(kind)
    erased = Eraser.fit(small, planted.labels)(small)
    assert erased.dtype == kind
    means = [erased[one].mean(axis=0, dtype=float) for one in (planted.labels, ~planted.labels)]
    assert np.abs(means[0] - means[1]).max() < 4 * np.finfo(kind).eps


def test_dimensions_that_say_nothing_twice_do_no_harm(planted) -> None:
    """A dimension that is a copy of another one, and one that is constant: the covariance has no inverse."""
    x = np.hstack([planted.vectors, planted.vectors[:, :1], np.full((400, 1), 7.0)])
    erased = Eraser.fit(x, planted.labels)(x)
    gap = erased[planted.labels].mean(axis=0) - erased[~planted.labels].mean(axis=0)
    assert np.abs(gap).max() < 1e-8
    np.testing.assert_allclose(erased[:, -1], 7.0)


def test_the_last_digits_of_a_dead_dimension_tell_nothing(planted) -> None:
    """A dimension that is constant but for 1e-9 of the label: standardised, it would tell all."""
    dead = 0.25 + 1e-9 * planted.labels[:, None]
    x = np.hstack([planted.vectors, dead])
    eraser = Eraser.fit(x, planted.labels)
    assert eraser.rank == 1
    erased = eraser(x)[:, -1]
    assert np.ptp(erased) < 1e-14
    np.testing.assert_allclose(erased, 0.25)


def test_spread_that_tells_a_label_is_erased_on_request() -> None:
    """Two dimensions vary more for one label, with the same mean: a matter of the second order."""
    generator = np.random.default_rng(5)
    labels = generator.random(3000) < 0.4
    x = generator.normal(size=(3000, 6))
    x[labels, 2:4] *= 3
    x[labels, 5] += 2

    def ratios(vectors: np.ndarray) -> np.ndarray:
        return vectors[labels].std(axis=0) / np.maximum(vectors.std(axis=0), 1e-9)

    linear, second = Eraser.fit(x, labels), Eraser.fit(x, labels, second_order=2)
    assert ratios(linear(x))[2:4].min() > 1.2
    assert linear.rank == 1
    assert second.rank == 3
    left = second(x)
    assert left[:, 2:4].std(axis=0).max() < 0.2
    assert left[:, [0, 1, 4]].std(axis=0).min() > 0.9
    assert np.abs(left[labels].mean(axis=0) - left[~labels].mean(axis=0)).max() < 1e-9
    with pytest.raises(ParameterError, match="second_order must be below the 6 dimensions"):
        Eraser.fit(x, labels, second_order=6)


def test_a_labelled_sample_suffices(planted) -> None:
    """The sample's labels are erased from the sample; the covariance is that of all documents."""
    labels = [("f" if label else "m") if place < 150 else None for place, label in enumerate(planted.labels)]
    eraser = Eraser.fit(planted.vectors, labels)
    assert (eraser.documents, eraser.labelled) == (400, 150)
    sample, told = eraser(planted.vectors[:150]), planted.labels[:150]
    assert np.abs(sample[told].mean(axis=0) - sample[~told].mean(axis=0)).max() < 1e-9
    few = Targets.of_labels(planted.labels.tolist()).sampled(40, seed=1)
    assert few.known.sum() == 40
    assert Eraser.fit(planted.vectors, few).labelled == 40


def test_fewer_labels_than_dimensions_are_worth_a_word(planted) -> None:
    with pytest.warns(EvenrankWarning, match="10 labelled documents for vectors of 12 dimensions"):
        Eraser.fit(planted.vectors, Targets.of_labels(planted.labels.tolist()).sampled(10, seed=4))


def test_targets_of_words() -> None:
    kin = Lexicon.build("kin", {"f": ["mother", "she"], "m": ["father"]})
    texts = [("a", "she and she"), ("b", "mother, father"), ("c", "nothing"), ("d", "father " * 9)]
    found = Targets.of_words(scan(texts, kin), ["d", "c", "x", "a", "b"])
    assert found.names == ("biased", "has f", "has m", "words of f", "words of m", "1 - w")
    assert found.known.tolist() == [True, True, False, True, True]
    assert found.table[[0, 1, 3, 4]].tolist() == [
        [1, 0, 1, 0, 5, 1],
        [0, 0, 0, 0, 0, 0],
        [1, 1, 0, 2, 0, 1],
        [0, 1, 1, 1, 1, 0],
    ]
    assert Targets.of_words(scan(texts, kin), label_alone=True).names == ("biased",)


def test_targets_of_groups() -> None:
    groups = Membership.from_labels("country", {"a": "FR", "b": "DE", "c": "DE"})
    found = Targets.of_groups(groups, ["b", "z", "a"])
    assert found.names == ("country FR", "country DE")
    assert found.table.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert found.known.tolist() == [True, False, True]


def test_numbers_and_labels_are_told_apart(planted) -> None:
    codes = np.arange(len(planted.vectors)) % 3
    with pytest.raises(ParameterError, match="may be labels or amounts"):
        Eraser.fit(planted.vectors, codes)
    assert Eraser.fit(planted.vectors, codes.tolist()).rank == 2  # labels: two of three say it all
    amounts = np.linspace(0, 1, len(planted.vectors))
    assert Eraser.fit(planted.vectors, amounts.tolist()).rank == 1
    assert Eraser.fit(planted.vectors, codes.astype(float)).rank == 1
    with pytest.raises(DataError, match="different labels of"):
        Eraser.fit(planted.vectors, [f"d{place}" for place in range(len(planted.vectors))])


def test_bad_input(planted) -> None:
    x, labels = planted.vectors, planted.labels
    with pytest.raises(DataError, match="two different labels are needed to erase one, got only 'f'"):
        Eraser.fit(x, ["f"] * 400)
    with pytest.raises(DataError, match="the target 'target 1' is the same for all 400 documents"):
        Eraser.fit(x, np.ones(400))
    with pytest.raises(DataError, match="400 vectors, but targets of 7 documents"):
        Eraser.fit(x, labels[:7])
    broken = x.copy()
    broken[41, 3] = np.nan
    with pytest.raises(DataError, match="row 42 holds NaN or infinity"):
        Eraser.fit(broken, labels)
    eraser = Eraser.fit(x, labels)
    with pytest.raises(DataError, match="row 42 holds NaN or infinity"):
        eraser(broken)
    with pytest.raises(DataError, match="5 dimensions, but the eraser was fitted to vectors of 12"):
        eraser(x[:, :5])
    with pytest.raises(DataError, match=r"got \(400,\)"):
        Eraser.fit(x[:, 0], labels)
    with pytest.raises(DataError, match="none of the documents that have vectors has a label"):
        Targets.of_groups(Membership.from_labels("g", {"a": "x", "b": "y"}), ["n1", "n2"])


def test_vectors_of_zeros_have_no_length(planted) -> None:
    """A document without a text has one, and the others still are of length 1."""
    unit = planted.vectors / np.linalg.norm(planted.vectors, axis=1, keepdims=True)
    unit[5] = 0
    assert Eraser.fit(unit, planted.labels).unit
    assert not Eraser.fit(2 * unit, planted.labels).unit
