"""Which pairs count, and which values are equal."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from evenrank.errors import DataError
from evenrank.stats.pairs import finite_pairs, paired_differences
from evenrank.stats.ties import slack, tie_sizes, tied_ranks


def test_spoilt_pairs_are_dropped_and_counted() -> None:
    first = [0.1, math.nan, 0.3, math.inf, math.nan, 0.6, -math.inf]
    second = [0.2, 0.2, math.nan, 0.2, math.inf, 0.5, 1.0]
    pairs = finite_pairs(first, second)
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0.1, 0.6], [0.2, 0.5])
    assert (pairs.undefined, pairs.infinite) == (3, 2)
    differences = paired_differences(first, second)
    assert differences.values.tolist() == pytest.approx([-0.1, 0.1])
    assert (differences.undefined, differences.infinite) == (3, 2)


def test_lower_is_better_turns_the_sign() -> None:
    assert paired_differences([0.5], [0.2], lower_is_better=True).values.tolist() == [-0.3]
    assert paired_differences([0.5], [0.2]).values.tolist() == [0.3]


def test_values_that_differ_by_rounding_alone_do_not_differ() -> None:
    assert 0.1 + 0.2 != 0.3
    assert paired_differences([0.1 + 0.2, 1e9 + 1e-6, 1e-11], [0.3, 1e9, 0.0]).values.tolist() == [
        0.0,
        0.0,
        1e-11,
    ]


@pytest.mark.parametrize(
    ("first", "second"), [([1.0], [1.0, 2.0]), ([[1.0]], [[1.0]]), (1.0, 1.0)], ids=["length", "2d", "0d"]
)
def test_lists_that_do_not_pair_are_refused(first: object, second: object) -> None:
    with pytest.raises(DataError, match="two lists of one length"):
        finite_pairs(first, second)  # type: ignore[arg-type]


@given(st.lists(st.integers(-4, 4), max_size=30))
def test_ranks_are_those_of_scipy(values: list[int]) -> None:
    numbers = np.array(values, dtype=float)
    ranks = tied_ranks(numbers)
    np.testing.assert_array_equal(ranks, scipy.stats.rankdata(numbers))
    assert sorted(tie_sizes(ranks).tolist()) == sorted(values.count(value) for value in set(values))


def test_ranks_see_ties_through_rounding() -> None:
    assert tied_ranks(np.array([0.3, 0.1 + 0.2, 0.29])).tolist() == [2.5, 2.5, 1.0]
    assert tied_ranks(np.array([1e6, 1e6 + 1e-8, 1e6 + 1e-3])).tolist() == [1.5, 1.5, 3.0]
    assert slack(np.array([])) == slack(np.array([0.5])) == 1e-12
    assert slack(np.array([-200.0, 3.0])) == 2e-10
