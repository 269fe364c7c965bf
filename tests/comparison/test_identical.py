"""Systems that do not differ, many of them, by every test and every correction."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from drawn import made

from evenrank import Scores, compare

TESTS, CORRECTIONS = ("t", "wilcoxon", "permutation"), ("none", "bonferroni", "holm", "bh")
MANY = 30
VALUES = np.array([0.1, 0.5, 0.3, 0.9, 0.4, 0.6, 0.2, 1 / 3])


def systems(columns: np.ndarray, measure: str = "nDCG@10") -> Scores:
    """One system a column."""
    return made({f"system {place}": {measure: column} for place, column in enumerate(columns.T)})


@pytest.mark.parametrize(("test", "correction"), list(itertools.product(TESTS, CORRECTIONS)))
@pytest.mark.parametrize("measure", ["nDCG@10", "NDKL@10"])
def test_p_is_1_in_every_test_and_correction(test: str, correction: str, measure: str) -> None:
    same = compare(systems(np.tile(VALUES[:, None], MANY), measure), test=test, correction=correction)
    assert len(same.pairs) == MANY - 1
    for pair in same.pairs:
        assert (pair.p_value, pair.corrected, pair.verdict) == (1.0, 1.0, "")
        assert pair.difference == 0.0
        if measure == "NDKL@10":  # without an upper bound nothing says how far other queries may differ
            assert math.isnan(pair.low)
        else:
            assert pair.low < 0 < pair.high
        assert (pair.outcomes, pair.effects.cohen_dz) == ((0, len(VALUES), 0), 0.0)


@pytest.mark.parametrize("test", TESTS)
def test_one_of_a_kind_does_not_make_the_others_differ(test: str) -> None:
    """The last system is better; the others are copies, one of them summed in another order."""
    columns = np.tile(VALUES[:, None], MANY)
    columns[:, 7] = (VALUES + 0.1) - 0.1
    columns[:, -1] += 0.3
    *copies, better = compare(systems(columns), test=test, correction="holm").pairs
    assert {pair.p_value for pair in copies} == {1.0}
    assert better.p_value < 0.05
