"""A point a run, at its scores; a line through each family, at what the fit says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn import layers, made, marks, rows

from evenrank import Scores
from evenrank.errors import ParameterError
from evenrank.reporting.figures import cloud_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")


def scores(count: int = 6) -> Scores:
    generator = np.random.default_rng(4)
    runs = {}
    for family, slope in (("L2", -1.0), ("L4", -2.0)):
        for place in range(count):
            fair = 0.5 + 0.05 * place
            runs[f"{family}-{place}"] = {
                "NFaiRR@10": (fair + generator.normal(0, 0.02, 12)).tolist(),
                "nDCG@10": (0.9 + slope * (fair - 0.5) + generator.normal(0, 0.05, 12)).tolist(),
            }
    return made(runs | {"plain": {"NFaiRR@10": [0.4] * 12, "nDCG@10": [0.9] * 12}})


FAMILIES = {family: [f"{family}-{place}" for place in range(6)] for family in ("L2", "L4")}


def drawn(own: Scores, **more: Any) -> Any:
    return cloud_figure(own, "NFaiRR@10", "nDCG@10", **more)


def test_the_points_are_the_scores() -> None:
    own = scores()
    chart = drawn(own, families=FAMILIES)
    (points,) = marks(layers(chart), "point")
    assert len(rows(points)) == 13
    for row in rows(points):
        assert (row["x"], row["y"]) == tuple(own.mean(m, row["run"]) for m in ("NFaiRR@10", "nDCG@10"))
        assert row["family"] == (row["run"][:2] if "-" in row["run"] else "(others)")
    assert points["encoding"]["x"]["title"] == ["NFaiRR@10 ↑, mean over queries"]
    assert points["encoding"]["y"]["title"] == ["nDCG@10 ↑, mean over queries"]
    assert points["encoding"]["color"]["scale"]["domain"] == ["L2", "L4", "(others)"]
    (names,) = marks(layers(chart), "text")
    assert {row["name"] for row in rows(names)} <= {row["run"] for row in rows(points)}


def test_the_lines_are_those_of_least_squares() -> None:
    own = scores()
    chart = drawn(own, families=FAMILIES)
    lines, bands = list(marks(layers(chart), "line")), list(marks(layers(chart), "area"))
    assert len(lines) == len(bands) == 2
    slopes = []
    for line, band, (family, runs) in zip(lines, bands, FAMILIES.items(), strict=True):
        x, y = ([own.mean(m, run) for run in runs] for m in ("NFaiRR@10", "nDCG@10"))
        slope, start = np.polyfit(x, y, 1)
        first, last = rows(line)[0], rows(line)[-1]
        assert [first["x"], last["x"]] == pytest.approx([min(x), max(x)])
        assert [first["y"], last["y"]] == pytest.approx([start + slope * min(x), start + slope * max(x)])
        assert all(
            there["low"] <= at["y"] <= there["high"]
            for there, at in zip(rows(band), rows(line), strict=False)
        )
        slopes.append(f"{family} {slope:+.4f}")
    assert all(said in chart.to_dict()["title"]["subtitle"][1] for said in slopes)


def test_two_runs_have_no_line() -> None:
    chart = drawn(scores(2), families={"L2": ["L2-0", "L2-1"]})
    assert list(marks(layers(chart), "line")) == []
    assert chart.to_dict()["title"]["subtitle"] == [
        "5 runs; a line is drawn through 3 runs of a family or more"
    ]


def test_without_families_all_runs_are_one() -> None:
    chart = drawn(scores())
    assert len(list(marks(layers(chart), "line"))) == 1
    (points,) = marks(layers(chart), "point")
    assert {row["family"] for row in rows(points)} == {"all runs"}
    assert points["encoding"]["color"]["legend"] is None


def test_shades_are_darker_for_larger_numbers() -> None:
    shades = {run: float(run[-1]) for runs in FAMILIES.values() for run in runs}
    chart = drawn(scores(), families=FAMILIES, shades=shades, shade="lambda")
    (points,) = marks(layers(chart), "point")
    found = {row["run"]: (row["shade"], row["fill"]) for row in rows(points)}
    assert [found[f"L2-{place}"][0] for place in range(6)] == [0, 1, 2, 3, 4, 5]
    fills = [found[f"L2-{place}"][1] for place in range(6)]
    assert fills == sorted(fills)
    assert (fills[0], fills[-1]) == pytest.approx((0.2, 1.0))
    assert chart.to_dict()["title"]["subtitle"][-1] == "the darker, the larger lambda"


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ParameterError, match="no run is called 'x'"):
        drawn(scores(), families={"a": ["x"]})
    with pytest.raises(ParameterError, match="is in family 'a' and in 'b'"):
        drawn(scores(), families={"a": ["plain"], "b": ["plain"]})
    with pytest.raises(ParameterError, match="no run has a value of both"):
        drawn(made({"a": {"NFaiRR@10": [float("nan")], "nDCG@10": [0.1]}}))
