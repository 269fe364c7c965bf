"""All pairs at once, what measures conclude of them, and how measures agree: rows that the command prints."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from drawn import made
from scipy import stats

from evenrank import compare

Evenrank = Callable[..., SimpleNamespace]
Drawn = Mapping[str, np.ndarray]

SYSTEMS = ("base", "base-uc", "rating", "rating-uc")
MEANS = {  # in the manner of Table 3 of gfr-2022: which pairs differ follows from the gaps
    "nDCG@10": (0.404, 0.479, 0.404, 0.479),
    "AP": (0.495, 0.545, 0.445, 0.506),
    "RR": (0.500, 0.575, 0.501, 0.576),
    "NDKL@10": (0.60, 0.59, 0.65, 0.68),
    "ARaB@10": (0.9, 0.1, 0.1, 0.9),
}


def drawn(queries: int = 60) -> Drawn:
    """(Q, S) values of each measure, with the means that it says."""
    generator = np.random.default_rng(7)
    found = {}
    for name, means in MEANS.items():
        noise = generator.normal(0, 0.02, (queries, len(SYSTEMS)))
        found[name] = np.array(means) + noise - noise.mean(axis=0)
    return found


def scores(values: Drawn) -> Any:
    return made(
        {
            system: {measure: table[:, place] for measure, table in values.items()}
            for place, system in enumerate(SYSTEMS)
        }
    )


@pytest.fixture
def viewed(evenrank: Evenrank, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    def rows(values: Drawn, view: str, *more: str) -> list[dict[str, Any]]:
        scores(values).write(tmp_path / "scores.jsonl")
        given = ("compare", "--scores", tmp_path / "scores.jsonl", "--no-project", "--view", view)
        found = evenrank(*given, "--format", "jsonl", *more)
        assert found.code == 0, found.err
        return [json.loads(line) for line in found.out.splitlines()]

    return rows


def p_values(values: Drawn, measure: str, trials: int) -> np.ndarray:
    return compare(scores(values)).tukey(measure, trials=trials).p_values


def beaten(values: Drawn, measure: str, trials: int) -> set[tuple[str, str]]:
    """The definition: the pairs of which the first has the better mean and p is below 0.05."""
    p = p_values(values, measure, trials)
    means = values[measure].mean(axis=0) * (-1 if measure == "NDKL@10" else 1)
    return {
        (SYSTEMS[one], SYSTEMS[two])
        for one, two in itertools.permutations(range(len(SYSTEMS)), 2)
        if p[one, two] < 0.05 and means[one] > means[two]
    }


def test_tukey_lists_all_pairs_the_better_one_first(viewed: Any) -> None:
    values = drawn()
    rows = viewed(values, "tukey:trials=300")
    assert [row["measure"] for row in rows] == [measure for measure in MEANS for _ in range(6)]
    for row in rows:
        one, other = SYSTEMS.index(row["system"]), SYSTEMS.index(row["other"])
        means = values[row["measure"]].mean(axis=0)
        assert row["difference"] == pytest.approx(means[one] - means[other])
        assert row["difference"] <= 0 if row["measure"] == "NDKL@10" else row["difference"] >= 0
        assert row["p"] == p_values(values, row["measure"], 300)[one, other]
        assert (row["queries"], row["dropped"], row["reason"]) == (60, 0, None)


def test_tukey_shows_who_differs_where_none_is_better(
    viewed: Any, evenrank: Evenrank, tmp_path: Path
) -> None:
    values = {"ARaB@10": drawn()["ARaB@10"]}
    viewed(values, "tukey:trials=300")
    shown = evenrank("compare", "--scores", tmp_path / "scores.jsonl", "--no-project", "--view", "tukey").out
    lines = [line.split(maxsplit=1) for line in shown.splitlines() if line.startswith(SYSTEMS)]
    assert dict(lines) == {
        "base": "base-uc, rating",
        "base-uc": "base, rating-uc",
        "rating": "base, rating-uc",
        "rating-uc": "base-uc, rating",
    }


def test_power_counts_pairs_and_puts_the_more_telling_measure_first(viewed: Any) -> None:
    values = {measure: table for measure, table in drawn().items() if measure != "RR"}
    rows = viewed(values, "power:trials=300")
    assert [row["differ"] for row in rows] == sorted((row["differ"] for row in rows), reverse=True)
    assert {row["measure"] for row in rows} == values.keys()
    for row in rows:
        above = p_values(values, row["measure"], 300)[np.triu_indices(4, 1)]
        assert (row["differ"], row["pairs"]) == ((above < 0.05).sum(), 6)
        assert row["share"] == pytest.approx(row["differ"] / 6)
    assert rows[0]["differ"] > rows[-1]["differ"]


def test_correlations_are_scipys(viewed: Any) -> None:
    values = drawn()
    rows = viewed(values, "correlations:kendall")
    assert [(row["measure"], row["other"]) for row in rows] == [*itertools.combinations(MEANS, 2)]
    for row in rows:
        means = [values[row[side]].mean(axis=0).round(9) for side in ("measure", "other")]
        assert row["value"] == pytest.approx(stats.kendalltau(*means).statistic)
    one, *_ = viewed(values, "correlations:pearson:over=queries:system=rating")
    assert one["value"] == pytest.approx(stats.pearsonr(values["nDCG@10"][:, 2], values["AP"][:, 2])[0])
    assert one["n"] == 60


def test_a_correlation_over_four_systems_cannot_be_significant(
    viewed: Any, evenrank: Evenrank, tmp_path: Path
) -> None:
    (row,) = viewed({name: drawn()[name] for name in ("AP", "NDKL@10")}, "correlations:spearman")
    assert (row["n"], row["p_method"]) == (4, "exact")
    assert row["least_p"] == pytest.approx(2 / 24)
    given = ("compare", "--scores", tmp_path / "scores.jsonl", "--no-project", "--view", "correlations")
    assert "0.0833" in evenrank(*given).out  # it is told, and what it is told is this number


def test_measures_with_equal_conclusions_share_a_group(viewed: Any) -> None:
    values = {name: drawn()[name] for name in ("nDCG@10", "AP", "RR", "NDKL@10")}
    rows = viewed(values, "conclusions:trials=400")
    pairs = {measure: beaten(values, measure, 400) for measure in values}
    assert pairs["nDCG@10"] == pairs["RR"] != pairs["AP"]
    groups: dict[int, list[str]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row["measure"])
        won = {
            (line.split(" >> ")[0], other)
            for line in row["conclusions"]
            for other in line.split(" >> ")[1].split(", ")
        }
        assert won == pairs[row["measure"]]
        assert (row["differ"], row["pairs"]) == (len(won), 6)
        wins = {system: sum(winner == system for winner, _ in won) for system in SYSTEMS}
        assert {*row["top"]} == {system for system in SYSTEMS if wins[system] == max(wins.values())}
        assert row["tied_at_top"] == len(row["top"])
    assert ["nDCG@10", "RR"] in groups.values()
    assert all(len({frozenset(pairs[measure]) for measure in own}) == 1 for own in groups.values())
    differ = [row["differ"] for row in rows]
    assert differ == sorted(differ)


def test_where_nothing_differs_all_systems_are_tied(viewed: Any) -> None:
    same = np.tile(np.linspace(0, 1, 8)[:, None], 4)
    for row in viewed({"nDCG@10": same, "NDKL@10": same}, "conclusions:trials=50"):
        assert (row["group"], row["differ"], row["conclusions"]) == (1, 0, [])
        assert row["top"] == [*SYSTEMS]
    assert {row["p"] for row in viewed({"nDCG@10": same}, "tukey:trials=50")} == {1.0}


def test_a_measure_that_calls_no_system_better_stands_alone_and_has_no_top(viewed: Any) -> None:
    row, other = viewed({name: drawn()[name] for name in ("ARaB@10", "AP")}, "conclusions:trials=400")
    assert row["group"] != other["group"]
    (signed,) = (one for one in (row, other) if one["measure"] == "ARaB@10")
    assert (signed["differ"], signed["top"]) == (4, [])
    assert len(signed["conclusions"]) == 3
    assert not any(">>" in line for line in signed["conclusions"])


def test_a_measure_without_a_common_query_has_a_reason(viewed: Any) -> None:
    nothing = np.full((6, 4), np.nan)
    rows = viewed(
        {"AP": nothing, "RR": np.vstack([np.random.default_rng(0).random((5, 4)), nothing[:1]])},
        "conclusions:trials=50",
    )
    found = {row["measure"]: row for row in rows}
    assert found["AP"]["reason"]
    assert (found["AP"]["queries"], found["AP"]["dropped"], found["AP"]["top"]) == (0, 6, [])
    assert (found["RR"]["queries"], found["RR"]["dropped"], found["RR"]["reason"]) == (5, 1, None)
