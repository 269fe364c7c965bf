"""The axis of a query: against an eigenvector, its turn, its ties, and what is removed from it."""

from __future__ import annotations

import numpy as np
import pytest

from evenrank.evidence.polarise.axes import (
    NO_AXIS,
    NO_SPREAD,
    ONE_DOCUMENT,
    Axes,
    fit_axes,
    orientation,
    project,
    spurious_direction,
    without_direction,
)


def axes_of(vectors: np.ndarray, count: int = 1) -> Axes:
    found = fit_axes(vectors, count)
    assert isinstance(found, Axes), found
    return found


@pytest.mark.parametrize("shape", [(8, 3), (5, 40), (2, 6)])
def test_axes_are_eigenvectors_of_the_covariance(shape: tuple[int, int]) -> None:
    vectors = np.random.default_rng(3).normal(size=shape)
    count = min(shape[0] - 1, 2)
    found = axes_of(vectors, count)
    values, directions = np.linalg.eigh(np.cov(vectors.T, bias=True))
    for axis in range(count):
        ours = found.directions[axis]
        assert abs(ours @ directions[:, -1 - axis]) == pytest.approx(1, abs=1e-9)
        scores = project(vectors, found)[:, axis]
        assert scores.mean() == pytest.approx(0, abs=1e-9)
        assert scores.var() == pytest.approx(values[-1 - axis], abs=1e-9)


def test_the_largest_coordinate_of_an_axis_is_positive() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        for direction in axes_of(generator.normal(size=(6, 5)), 3).directions:
            assert direction[np.argmax(np.abs(direction))] > 0


def test_of_equal_coordinates_the_first_is_positive_whatever_the_rounding() -> None:
    vectors = np.array([[1.0, -1.0], [-1.0, 1.0], [0.1, 0.1], [-0.1, -0.1]])
    for nudge in (1 - 1e-9, 1, 1 + 1e-9):
        (direction,) = axes_of(vectors * [1, nudge]).directions
        assert direction[0] > 0 > direction[1]


def test_the_order_of_documents_does_not_matter_to_the_last_bit() -> None:
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(9, 7))
    first = axes_of(vectors, 2)
    for _ in range(20):
        again = axes_of(generator.permutation(vectors), 2)
        np.testing.assert_array_equal(again.directions, first.directions)
        np.testing.assert_array_equal(again.centre, first.centre)


def test_what_has_no_axis_says_why() -> None:
    assert fit_axes(np.ones((1, 3))) == ONE_DOCUMENT
    assert fit_axes(np.ones((4, 3)) * 0.1) == NO_SPREAD
    assert fit_axes(np.eye(3)) == NO_AXIS  # a triangle with equal sides
    cross = np.array([[2.0, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    assert isinstance(fit_axes(cross), Axes)


def test_a_later_axis_without_a_direction_of_its_own_is_zero_and_the_first_stays() -> None:
    cross = np.array([[2.0, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    np.testing.assert_allclose(axes_of(cross, 2).directions, [[1, 0, 0], [0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(axes_of(cross, 3).directions, [[1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-12)
    longer = np.vstack([cross, cross * [0, 0.5, 0]])  # the second is longer than the third again
    np.testing.assert_allclose(axes_of(longer, 2).directions, [[1, 0, 0], [0, 1, 0]], atol=1e-12)


def test_axes_that_the_documents_do_not_have_are_zero() -> None:
    found = axes_of(np.array([[1.0, 0, 0], [3.0, 0, 0]]), 3)
    np.testing.assert_allclose(found.directions, [[1, 0, 0], [0, 0, 0], [0, 0, 0]], atol=1e-12)


def test_the_first_perspective_is_turned_to_the_positive_side() -> None:
    scores = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])
    first = np.array([True, False])
    assert orientation(scores, first, ~first).tolist() == [1, -1, 1]
    assert orientation(scores, ~first, first).tolist() == [-1, 1, 1]
    assert orientation(scores, first, np.zeros(2, bool)).tolist() == [1, 1, 1]


def test_what_is_removed_is_gone() -> None:
    generator = np.random.default_rng(2)
    one, other = generator.normal(size=(5, 6)), generator.normal(size=(7, 6)) + 3
    direction = spurious_direction(one, other)
    assert direction is not None
    assert np.linalg.norm(direction) == pytest.approx(1, abs=1e-12)
    assert direction @ (one.mean(axis=0) - other.mean(axis=0)) > 0
    vectors = generator.normal(size=(10, 6)) + 4 * direction
    cleaned = without_direction(vectors, direction)
    np.testing.assert_allclose(cleaned @ direction, 0, atol=1e-12)
    np.testing.assert_allclose(without_direction(cleaned, direction), cleaned, atol=1e-12)
    assert abs(axes_of(cleaned).directions[0] @ direction) < 1e-9
    assert spurious_direction(one, one) is None
