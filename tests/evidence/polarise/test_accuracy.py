"""Polarisation accuracy: both orientations, scores of 0, and what chance gives."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from evenrank.evidence.polarise.accuracy import Accuracy, chance_share, share_right
from evenrank.stats.intervals import TOO_FEW


def test_the_better_orientation_counts_and_zero_is_wrong_under_both() -> None:
    first = np.array([True, True, False, False])
    assert share_right(np.array([1.0, 2, -1, -2]), first) == 1
    assert share_right(np.array([-1.0, -2, 1, 2]), first) == 1
    assert share_right(np.array([1.0, 2, 1, 2]), first) == 0.5
    assert share_right(np.array([0.0, 2, -1, 0]), first) == 0.5
    assert share_right(np.zeros(4), first) == 0


@pytest.mark.parametrize(("count", "known"), [(8, 22 / 35), (4, 2 / 3), (2, 1.0)])
def test_chance_is_the_mean_over_all_labellings(count: int, known: float) -> None:
    scores = np.array([1.0, -1.0] * (count // 2))
    half = count // 2
    labellings = [np.isin(np.arange(count), chosen) for chosen in itertools.combinations(range(count), half)]
    shares = [share_right(scores, first) for first in labellings]
    exact = float(np.mean(shares))
    # 8 documents that fall on either side like coins have .637; four on each side, a little less
    assert exact == pytest.approx(known, abs=1e-12)
    drawn = chance_share(scores, labellings[0], np.random.default_rng(0), draws=20000)
    assert drawn == pytest.approx(exact, abs=6 * np.std(shares) / math.sqrt(20000) + 1e-12)


def test_the_mean_is_over_queries_and_has_an_interval() -> None:
    values = np.array([1.0, 0.5, 0.75, 0.5, 1.0, 0.625])
    found = Accuracy(tuple("abcdef"), values, np.full(6, 0.6))
    assert found.mean == pytest.approx(values.mean())
    assert found.mean_chance == pytest.approx(0.6)
    low, high, reason = found.interval()
    assert 0.4 < low < found.mean < high < 1
    assert reason is None
    assert Accuracy(tuple("abcd"), values[:4], values[:4]).interval().reason == TOO_FEW
