"""The interval of Clopper and Pearson beside sums of binomial chances."""

from __future__ import annotations

import math

import pytest

from evenrank.stats.binomial import clopper_pearson


def at_least(hits: int, trials: int, share: float) -> float:
    chances = (math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(hits, trials + 1))
    return math.fsum(chances)


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (1, 40), (3, 20), (20, 20), (19, 20)])
def test_each_limit_leaves_a_tail_of_a_fortieth(hits: int, trials: int) -> None:
    low, high = clopper_pearson(hits / trials, trials)
    assert (low == 0) == (hits == 0)
    assert (high == 1) == (hits == trials)
    if hits > 0:
        assert at_least(hits, trials, low) == pytest.approx(0.025)
    if hits < trials:
        assert 1 - at_least(hits + 1, trials, high) == pytest.approx(0.025)


def test_trials_may_be_any_number() -> None:
    low, high = clopper_pearson(0.3, 10.5)
    assert clopper_pearson(0.3, 10)[0] < low < clopper_pearson(0.3, 11)[0]
    assert clopper_pearson(0.3, 11)[1] < high < clopper_pearson(0.3, 10)[1]
    assert clopper_pearson(0.3, math.inf) == (0.3, 0.3)
