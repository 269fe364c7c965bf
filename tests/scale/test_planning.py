"""The arithmetic and the simulation behind the page that plans."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def planning(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import planning

    return planning


def test_equal_tasks_take_their_share_of_the_time(planning: Any) -> None:
    generator = np.random.default_rng(0)
    assert planning.makespan(4, 12, 10.0, generator, spread=0.0) == (30.0, 0)
    assert planning.makespan(4, 13, 10.0, generator, spread=0.0) == (40.0, 0)


def test_slow_workers_take_longer(planning: Any) -> None:
    end, again = planning.makespan(1, 3, 10.0, np.random.default_rng(0), spread=0.0, slow_share=1.0)
    assert (end, again) == (120.0, 0)


def test_lost_workers_repeat_as_many_tasks_as_they_lose(planning: Any) -> None:
    """Tasks of 36 s and a loss once an hour: about one in a hundred; five standard errors of 10,000 draws."""
    _, again = planning.makespan(50, 10_000, 36.0, np.random.default_rng(0), spread=0.0, losses_an_hour=1.0)
    assert abs(again / 10_000 - 0.01) < 5 * (0.01 / 10_000) ** 0.5


def test_a_lost_task_is_begun_again_after_it_was_lost(planning: Any) -> None:
    """Two workers, one task; the first worker dies within it, and the second begins it then, not before."""

    class Draws:
        """A first worker that dies after 10 s, and a second that lives for ever."""

        def lognormal(self, mean: float, sigma: float, count: int) -> Any:
            return np.ones(count)

        def random(self, count: int | None = None) -> Any:
            return 1.0 if count is None else np.ones(count)

        def exponential(self, mean: float, count: int | None = None) -> Any:
            return np.inf if count is None else np.array([10.0, np.inf])

    assert planning.makespan(2, 1, 60.0, Draws(), losses_an_hour=1.0) == (70.0, 1)


def test_counting_and_fetching_are_both_paid(planning: Any) -> None:
    rate = planning.Rate(text=100e6, packed=2.0, counts=10.0)
    found = planning.plan(rate, 3600, 1_000_000, price=2.0, network=10.0)
    assert found["counting"] == pytest.approx(0.01)
    assert found["fetching"] == pytest.approx(0.05)
    assert found["price"] == pytest.approx(0.12)
    assert found["counts"] == 36_000
