"""Polarisation accuracy, which the command prints: both orientations, scores of 0, and what chance gives."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars
import pytest

from evenrank.cli import main

Printed = Callable[[Mapping[str, tuple[list[float], str]]], list[float]]


@pytest.fixture
def printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Printed:
    """The numbers that are printed for queries, whose documents have these coordinates and sides."""

    def run(queries: Mapping[str, tuple[list[float], str]]) -> list[float]:
        rows = [
            (query, f"{query}{place}", x, side)
            for query, (coordinates, sides) in queries.items()
            for place, (x, side) in enumerate(zip(coordinates, sides, strict=True))
        ]
        table = polars.DataFrame(
            [(q, d, "text", None if side == "-" else side) for q, d, _, side in rows],
            ["query", "document", "text", "perspective"], orient="row",
        )  # fmt: skip
        table.write_parquet(tmp_path / "debates.parquet")
        vectors = {"document": [d for _, d, _, _ in rows], "vector": [[float(x), 1.0] for _, _, x, _ in rows]}
        polars.DataFrame(vectors).write_parquet(tmp_path / "vectors.parquet")
        words = ["polarise", tmp_path / "debates.parquet", "--encoder", tmp_path / "vectors.parquet"]
        assert main([*map(str, words), "-o", str(tmp_path / "polarity.parquet")]) == 0
        line = re.search(r"accuracy (.*)", capsys.readouterr().err)
        return [] if line is None else [float(n) for n in re.findall(r"\d+\.\d+|\d+(?= quer)", line[1])]

    return run


@pytest.mark.parametrize(
    ("scores", "sides", "share"),
    [
        ([1.0, 2, -1, -2], "aabb", 1),
        ([-1.0, -2, 1, 2], "aabb", 1),
        ([1.0, -1, 1, -1], "aabb", 0.5),
        # 0 is on no side, and wrong under both
        ([0.0, 2, -2, 0], "aabb", 0.5),
        # the axis is turned by the means of the sides, but more documents are right the other way round
        ([6.0, -1, 0, 1, 1, -7], "aaabbb", 0.5),
        ([7.0, -1, -1, 0, 1, -6], "aaabbb", 0.5),
    ],
)
def test_the_better_orientation_counts_and_zero_is_wrong(
    scores: list[float], sides: str, share: float, printed: Printed
) -> None:
    assert printed({"q": (scores, sides)})[:2] == [share, 1]


@pytest.mark.parametrize(
    ("scores", "known"),
    [
        # 8 documents that fall on either side like coins have .637; four on each side, a little less
        ([1, -1] * 4, 22 / 35),
        ([1, -1] * 2, 2 / 3),
        ([1, -1], 1.0),
        ([1, -1, 0, 0], 5 / 12),
    ],
)
def test_chance_is_the_mean_over_all_labellings(scores: list[int], known: float, printed: Printed) -> None:
    values, half = np.array(scores), len(scores) // 2
    shares = []
    for chosen in itertools.combinations(range(len(scores)), half):
        first = np.isin(np.arange(len(scores)), chosen)
        sides = [((values * sign > 0) & first) | ((values * sign < 0) & ~first) for sign in (1, -1)]
        shares.append(max(side.mean() for side in sides))
    assert np.mean(shares) == pytest.approx(known, abs=1e-12)
    chance = printed({"q": ([float(score) for score in scores], "ab" * half)})[-1]
    assert chance == pytest.approx(known, abs=6 * np.std(shares) / math.sqrt(1000) + 1e-4)


def test_the_mean_is_over_queries_and_has_an_interval(printed: Printed) -> None:
    right, half = ([2.0, 1, -1, -2], "aabb"), ([2.0, -1.5, 1, -1.5], "aabb")
    two = {f"q{number}": right if number % 2 else half for number in range(6)}
    found = printed(two)
    assert found[0] == pytest.approx(0.75)
    assert min(found[1:3]) < 0.75 < max(found[1:3])
    assert 6 in found


def test_accuracy_needs_perspectives(printed: Printed) -> None:
    coordinates = [2.0, 1, -1, -2]
    assert printed({"q": (coordinates, "----")}) == []
    assert printed({"q": (coordinates, "a--b")})[:2] == [1, 1]  # of the two that are labelled
    both = {"q": (coordinates, "abab"), "r": (coordinates, "aaaa")}  # one has no other side
    assert printed(both)[:2] == [0.5, 1]
