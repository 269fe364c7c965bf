"""Sums that zeros behind the end do not change."""

from __future__ import annotations

from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank.measures.sums import padded_sum, set_sum

NUMBERS = st.lists(st.floats(-1e6, 1e6), max_size=40)


@given(NUMBERS, st.integers(0, 30))
def test_zeros_behind_the_end_change_nothing(numbers: list[float], zeros: int) -> None:
    alone = padded_sum(np.array([numbers]))
    padded = padded_sum(np.array([numbers + [0.0] * zeros, [1.0] * (len(numbers) + zeros)]))
    assert alone[0] == padded[0]
    assert alone[0] == pytest.approx(fsum(numbers), abs=1e-6)


@given(st.lists(st.floats(0, 1e6), max_size=20), st.randoms())
def test_the_sum_of_a_set_has_no_order(numbers: list[float], random) -> None:
    shuffled = numbers.copy()
    random.shuffle(shuffled)
    assert set_sum(np.array([numbers])) == set_sum(np.array([[*shuffled, 0.0, 0.0]]))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_over_any_axis(axis: int) -> None:
    values = np.arange(60.0).reshape(3, 4, 5)
    before = values.copy()
    assert np.array_equal(padded_sum(values, axis), values.sum(axis=axis))
    assert np.array_equal(set_sum(values, axis), values.sum(axis=axis))
    assert np.array_equal(values, before)
    assert padded_sum(np.zeros((2, 0, 3))).tolist() == [[0.0] * 3] * 2
    assert padded_sum(np.array([[True, True, False]])).tolist() == [2.0]
    alone = np.array([[1.0], [2.0]])
    padded_sum(alone)[:] = 9
    assert alone.tolist() == [[1.0], [2.0]]  # not a view of it
