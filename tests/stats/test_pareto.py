"""The front is what a loop over all pairs says it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenrank.stats.pareto import pareto_front


def slowly(rows: list[list[float]]) -> list[bool]:
    def beats(one: list[float], two: list[float]) -> bool:
        return all(a >= b for a, b in zip(one, two, strict=True)) and one != two

    known = [all(map(math.isfinite, row)) for row in rows]
    return [
        there and not any(beats(other, row) for other, ok in zip(rows, known, strict=True) if ok)
        for row, there in zip(rows, known, strict=True)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_against_a_loop(seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 5, (12, int(generator.integers(1, 5)))).astype(float)  # many are equal
    table[generator.random(table.shape) < 0.05] = np.nan
    assert pareto_front(table).tolist() == slowly(table.tolist())


def test_equal_rows_stand_or_fall_together() -> None:
    assert pareto_front([[0.3, 0.3], [0.1 + 0.2, 0.3], [0.2, 0.3]]).tolist() == [True, True, False]


def test_infinite_is_not_best() -> None:
    assert pareto_front([[math.inf, 1.0], [1.0, 0.5], [math.nan, 9.0]]).tolist() == [False, True, False]
