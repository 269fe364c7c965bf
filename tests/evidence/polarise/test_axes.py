"""The axis of a query: against an eigenvector, its turn, its ties, and what is removed from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars
import pytest

import evenrank as er


class Fitted(NamedTuple):
    scores: np.ndarray  # (N, A)
    directions: np.ndarray  # (A, D)
    without: str | None


def fitted(vectors: np.ndarray, axes: int = 1) -> Fitted:
    """Where the documents of one query stand, and the direction: what a step along each coordinate adds."""
    names = {f"d{place:02}": row for place, row in enumerate(np.asarray(vectors, float))}
    steps = np.vstack([np.eye(vectors.shape[1]), 2 * np.eye(vectors.shape[1])])
    probes = {f"e{place:02}": row for place, row in enumerate(steps)}
    found = er.polarise({"q": [*names]}, {"q": [*names, *probes]}, encoder=names | probes, axes=axes)
    own, one, two = np.split(found.scores, [len(names), len(names) + vectors.shape[1]])
    return Fitted(own, (two - one).T, found.without_axis.get("q"))


@pytest.mark.parametrize("shape", [(8, 3), (5, 40), (2, 6)])
def test_axes_are_eigenvectors_of_the_covariance(shape: tuple[int, int]) -> None:
    vectors = np.random.default_rng(3).normal(size=shape)
    count = min(shape[0] - 1, 2)
    found = fitted(vectors, count)
    values, directions = np.linalg.eigh(np.cov(vectors.T, bias=True))
    for axis in range(count):
        assert abs(found.directions[axis] @ directions[:, -1 - axis]) == pytest.approx(1, abs=1e-9)
        scores = found.scores[:, axis]
        assert scores.mean() == pytest.approx(0, abs=1e-9)
        assert scores.var() == pytest.approx(values[-1 - axis], abs=1e-9)


def test_the_largest_coordinate_of_an_axis_is_positive() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        for direction in fitted(generator.normal(size=(6, 5)), 3).directions:
            assert direction[np.argmax(np.abs(direction))] > 0


def test_of_equal_coordinates_the_first_is_positive_whatever_the_rounding() -> None:
    vectors = np.array([[1.0, -1.0], [-1.0, 1.0], [0.1, 0.1], [-0.1, -0.1]])
    for nudge in (1 - 1e-9, 1, 1 + 1e-9):
        (direction,) = fitted(vectors * [1, nudge]).directions
        assert direction[0] > 0 > direction[1]


def test_the_order_of_documents_does_not_matter_to_the_last_bit() -> None:
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(9, 7))
    first = fitted(vectors, 2)
    for _ in range(20):
        order = generator.permutation(9)
        again = fitted(vectors[order], 2)
        np.testing.assert_array_equal(again.scores, first.scores[order])
        np.testing.assert_array_equal(again.directions, first.directions)


CROSS = np.array([[2.0, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])


def test_what_has_no_axis_says_why() -> None:
    alone = [np.ones((1, 3)), np.ones((4, 3)) * 0.1, np.eye(3)]  # the last is a triangle with equal sides
    found = [fitted(vectors) for vectors in alone]
    assert len({one.without for one in found} - {None}) == 3
    assert not any(one.scores.any() for one in found)
    assert fitted(CROSS).without is None


def test_a_later_axis_without_a_direction_of_its_own_is_zero_and_the_first_stays() -> None:
    np.testing.assert_allclose(fitted(CROSS, 2).directions, [[1, 0, 0], [0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(fitted(CROSS, 3).directions, [[1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-12)
    longer = np.vstack([CROSS, [[0, 0.5, 0], [0, -0.5, 0]]])  # the second is longer than the third again
    np.testing.assert_allclose(fitted(longer, 2).directions, [[1, 0, 0], [0, 1, 0]], atol=1e-12)


def test_axes_that_the_documents_do_not_have_are_zero() -> None:
    found = fitted(np.array([[1.0, 0, 0], [3.0, 0, 0]]), 3)
    np.testing.assert_allclose(found.directions, [[1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-12)


def test_the_first_perspective_is_turned_to_the_positive_side_of_every_axis() -> None:
    vectors = np.random.default_rng(4).normal(size=(6, 5))
    names = {f"d{place}": row for place, row in enumerate(vectors)}
    for sides in ("aabbab", "bbaaba"):
        rows = [("q", name, side) for name, side in zip(names, sides, strict=True)]
        table = polars.DataFrame(rows, ["query", "document", "perspective"], orient="row")
        scores = er.polarise(table, encoder=names, axes=3).scores
        first = np.array([side == "a" for side in sides])
        assert (scores[first].mean(axis=0) > scores[~first].mean(axis=0)).all()


def test_what_is_removed_is_gone() -> None:
    generator = np.random.default_rng(2)
    one, other = generator.normal(size=(5, 6)), generator.normal(size=(7, 6)) + 3
    between = one.mean(axis=0) - other.mean(axis=0)
    vectors = generator.normal(size=(10, 6)) + generator.normal(size=(10, 1)) * between
    names = {f"d{place}": row for place, row in enumerate(vectors)}
    probes = {f"p{place}": vectors[0] + place * between for place in range(1, 4)}
    beside = {f"x{place:02}": row for place, row in enumerate(np.vstack([one, other]))}
    sides = polars.DataFrame(
        [("x", name, "1" if place < 5 else "2") for place, name in enumerate(beside)],
        ["query", "document", "perspective"], orient="row",
    )  # fmt: skip
    everything = names | probes | beside
    asked = {"q": [*names, *probes]}
    cleaned = er.polarise({"q": [*names]}, asked, encoder=everything, distractors=sides).scores[:, 0]
    np.testing.assert_allclose(cleaned[10:], cleaned[0], atol=1e-9)
    assert np.ptp(cleaned[:10]) > 0.1
    unit = between / np.linalg.norm(between)
    by_hand = {name: row - (row @ unit) * unit for name, row in names.items()}
    np.testing.assert_allclose(
        er.polarise({"q": [*names]}, encoder=by_hand).scores[:, 0], cleaned[:10], atol=1e-9
    )
