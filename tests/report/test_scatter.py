"""One measure against another: every run or query once, at its scores, with its name."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from drawn import HOSTILE, layers, made, marks, rows

import evenrank as er
from evenrank.errors import ParameterError, UnknownNameError
from evenrank.reporting.figures import scatter_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")

NAN = math.nan


MEASURES = ("nDCG@5", "AP", "RaB", "GF(attr='a')@5")


def scores(runs: int = 9, queries: int = 12) -> er.Scores:
    generator = np.random.default_rng(3)
    return made(
        {
            f"run {number}": {name: generator.random(queries).tolist() for name in MEASURES}
            for number in range(runs)
        }
    )


def points(chart: Any) -> list[dict[str, Any]]:
    (layer,) = marks(layers(chart), "point")
    return rows(layer)


def test_the_points_are_the_scores_of_the_runs() -> None:
    own = scores()
    drawn = points(scatter_figure(own, "nDCG@5", "AP"))
    assert [(row["run"], row["x"], row["y"]) for row in drawn] == [
        (run, own.mean("nDCG@5", run), own.mean("AP", run)) for run in own.runs
    ]


def test_the_points_are_the_scores_of_the_queries() -> None:
    own = scores()
    values = own.to_dict()["run 4"]
    drawn = points(scatter_figure(own, "nDCG@5", "AP", run="run 4"))
    assert [(row["query"], row["x"], row["y"]) for row in drawn] == [
        (query, values["nDCG@5"][query], values["AP"][query]) for query in values["AP"]
    ]


def test_all_layers_share_the_same_axes() -> None:
    for own in (scores(), scores(runs=4)):
        chart = scatter_figure(own, "nDCG@5", "AP")
        drawn, there = layers(chart), points(chart)
        for axis in "xy":
            domains = {tuple(layer["encoding"][axis]["scale"]["domain"]) for layer in drawn}
            assert len(domains) == 1
            (low, high) = domains.pop()
            assert all(low < row[axis] < high for row in there)


def test_contours_join_points_of_equal_mean() -> None:
    drawn = layers(scatter_figure(scores(), "nDCG@5", "GF(attr='a')@5"))
    lines = next(marks(drawn, "rule"))
    shown = rows(lines)
    assert lines["mark"]["strokeDash"]
    assert len(shown) >= 3
    for row in shown:
        for x, y in ((row["x"], row["y"]), (row["x2"], row["y2"])):
            assert (x + y) / 2 == pytest.approx(row["mean"])
            for value, axis in ((x, "x"), (y, "y")):
                low, high = lines["encoding"][axis]["scale"]["domain"]
                assert low <= value <= high
    labelled = [float(row["mean"]) for layer in marks(drawn, "text") for row in rows(layer) if "mean" in row]
    assert sorted(labelled) == [row["mean"] for row in shown]


def test_the_mean_of_two_measures_is_drawn_where_it_was_asked_for() -> None:
    def means(*measures: str) -> list[Any]:
        own = made({run: {name: [x, 0.4] for name in measures} for run, x in (("a", 0.1), ("b", 0.7))})
        drawn = layers(scatter_figure(own, "NFaiRR@10", "nDCG@10"))
        return [row for layer in marks(drawn, "rule") for row in rows(layer) if "mean" in row]

    assert means("NFaiRR@10", "nDCG@10") == []
    assert means("NFaiRR@10", "nDCG@10", "0.5*NFaiRR@10 + 0.5*nDCG@10")


def test_measures_that_point_different_ways_have_no_contours() -> None:
    drawn = layers(scatter_figure(scores(), "nDCG@5", "RaB"))
    assert not [row for layer in marks(drawn, "rule") for row in rows(layer) if "mean" in row]
    own = made({run: {"RaB": [value, -0.5], "AP": [0.1, 0.2]} for run, value in (("a", 1.0), ("b", -0.2))})
    even = next(marks(layers(scatter_figure(own, "AP", "RaB")), "rule"))
    assert rows(even) == [{"x": 0, "y": 0}]  # where the signed measure is even
    assert set(even["encoding"]) == {"y"}


def test_few_runs_have_their_intervals() -> None:
    own = scores(runs=3)
    summary = {(row.run, row.measure): row for row in own.summary()}
    across, up = (
        layer
        for layer in marks(layers(scatter_figure(own, "nDCG@5", "AP")), "rule")
        if "left" in rows(layer)[0]
    )
    assert (across["encoding"]["x"]["field"], across["encoding"]["x2"]["field"]) == ("left", "right")
    assert (up["encoding"]["y"]["field"], up["encoding"]["y2"]["field"]) == ("lower", "upper")
    for run, row in zip(own.runs, rows(across), strict=True):
        assert (row["left"], row["right"]) == summary[run, "nDCG@5"][4:6]
        assert (row["lower"], row["upper"]) == summary[run, "AP"][4:6]
    many = marks(layers(scatter_figure(scores(), "nDCG@5", "AP")), "rule")
    there = [layer for layer in many if "left" in rows(layer)[0]]  # of many too, but fainter
    assert len(there) == 2
    assert there[0]["mark"]["opacity"] < across["mark"]["opacity"]


def test_the_correlation_is_that_of_the_points() -> None:
    own = scores()
    at = [(own.mean("nDCG@5", run), own.mean("AP", run)) for run in own.runs]
    signs = [np.sign((a[0] - b[0]) * (a[1] - b[1])) for a, b in itertools.combinations(at, 2)]
    said = scatter_figure(own, "nDCG@5", "AP").to_dict()["title"]["subtitle"]
    assert f"{np.mean(signs):.4f}" in said[0]
    two = scatter_figure(scores(runs=2), "nDCG@5", "AP").to_dict()["title"]["subtitle"]
    assert "tau" not in two[0]  # it is 1 or -1, whatever they are


def test_undefined_queries_are_left_out_and_counted() -> None:
    own = made({"a": {"nDCG@5": [0.1, NAN, 0.3, 0.4, math.inf], "AP": [0.1, 0.2, NAN, 0.4, 0.5]}})
    chart = scatter_figure(own, "nDCG@5", "AP", run="a")
    assert [row["query"] for row in points(chart)] == ["q0", "q3"]
    assert (
        "left out: 3 queries of 5, where one of the two is undefined or infinite"
        in (chart.to_dict()["title"]["subtitle"])
    )


def test_runs_over_other_queries_say_so_and_runs_without_a_value_are_left_out() -> None:
    own = made(
        {
            "a": {"nDCG@5": [0.1, NAN, 0.3], "AP": [0.1, 0.2, 0.2]},
            "b": {"nDCG@5": [0.1, 0.2, 0.3], "AP": [NAN, NAN, NAN]},
        }
    )
    chart = scatter_figure(own, "nDCG@5", "AP")
    assert [row["run"] for row in points(chart)] == ["a"]
    assert chart.to_dict()["title"]["subtitle"][:3] == [
        "1 run",
        "values are over the 2 to 3 of 3 queries where the measure is defined",
        "left out: 1 run without both values",
    ]
    nothing = made({"a": {"nDCG@5": [NAN], "AP": [0.1]}})
    with pytest.raises(ParameterError, match="no run has a value of both nDCG@5 and AP"):
        scatter_figure(nothing, "nDCG@5", "AP")
    with pytest.raises(ParameterError, match="no query of 'a'"):
        scatter_figure(nothing, "nDCG@5", "AP", run="a")


def test_what_was_not_evaluated_is_said() -> None:
    with pytest.raises(UnknownNameError, match=re.escape("RR was not evaluated; there are nDCG@5, AP, RaB")):
        scatter_figure(scores(), "nDCG@5", "RR")
    with pytest.raises(UnknownNameError, match="no run is called 'other'"):
        scatter_figure(scores(), "nDCG@5", "AP", run="other")


def names_in(chart: Any) -> list[str]:
    return [row["name"] for layer in marks(layers(chart), "text") for row in rows(layer) if "name" in row]


def test_every_run_is_named_and_of_queries_those_farthest_out() -> None:
    own = scores(runs=21)
    assert sorted(names_in(scatter_figure(own, "nDCG@5", "AP"))) == sorted(own.runs)
    # the worst and the best lie on the line of all others, but at its ends
    odd = {"worst": (0.0, 0.0), "best": (1.0, 1.0), "odd": (0.5, 0.62), "less odd": (0.5, 0.6)}
    pairs = [*odd.values(), *((0.2 + place / 80, 0.2 + place / 80) for place in range(40))]
    sides = {name: [pair[side] for pair in pairs] for side, name in enumerate(("nDCG@5", "AP"))}
    own = made({"a": sides}, [*odd, *(f"m{place}" for place in range(40))])
    named = names_in(scatter_figure(own, "nDCG@5", "AP", run="a"))
    assert set(odd) <= set(named)
    ringed = [
        row["query"]
        for row in points(scatter_figure(own, "nDCG@5", "AP", run="a"))
        if row["ring"] != "transparent"
    ]
    assert sorted(ringed) == sorted(named)
    assert len(named) < 10


def test_queries_at_one_point_share_a_name() -> None:
    own = made({"a": {"nDCG@5": [0.0, 0.0, 0.0, 1.0], "AP": [0.0, 0.0, 0.0, 1.0]}})
    assert sorted(names_in(scatter_figure(own, "nDCG@5", "AP", run="a"))) == ["q0 (+2 more)", "q3"]


@pytest.mark.parametrize("seed", range(3))
def test_names_lie_over_no_interval(seed: int) -> None:
    """A letter is at least 4 pixels wide and 8 high."""
    generator = np.random.default_rng(seed)
    own = made(
        {f"run {n}": {name: generator.random(12).tolist() for name in ("nDCG@5", "AP")} for n in range(4)}
    )
    chart = scatter_figure(own, "nDCG@5", "AP")
    drawn, whole = layers(chart), chart.to_dict()
    (_, up) = (layer for layer in marks(drawn, "rule") if "left" in rows(layer)[0])
    scales = [up["encoding"][axis]["scale"]["domain"] for axis in "xy"]

    def pixels(x: float, y: float) -> tuple[float, float]:
        (left, right), (lower, upper) = scales
        return (x - left) / (right - left) * whole["width"], (upper - y) / (upper - lower) * whole["height"]

    named = [row for layer in marks(drawn, "text") for row in rows(layer) if "name" in row]
    assert len(named) == 4
    for row in named:
        left, middle = pixels(row["x"], row["y"])
        right = left + 4 * len(row["name"])
        for line in rows(up):
            (first, top), (last, bottom) = (
                pixels(line["left"], line["upper"]), pixels(line["right"], line["lower"]),
            )  # fmt: skip
            x, y = pixels(line["x"], line["y"])
            assert not (left < last and first < right and abs(y - middle) < 4)
            assert not (top < middle + 4 and middle - 4 < bottom and left < x < right)


def test_names_without_room_are_counted() -> None:
    own = made({f"a long name of run {number}": {"nDCG@5": [0.1], "AP": [0.2]} for number in range(60)})
    chart = scatter_figure(own, "nDCG@5", "AP")
    shown = len(names_in(chart))
    assert 3 < shown < 60
    assert f"without room for a name: {60 - shown}" in chart.to_dict()["title"]["subtitle"]
    assert len(points(chart)) == 60


def hostile() -> er.Scores:
    return made(
        {name: {"nDCG@5": [0.1 * place, 0.2], "AP": [0.3, 0.1 * place]} for place, name in enumerate(HOSTILE)}
    )


def test_hostile_names_stay_one_run_each_and_short_in_the_figure() -> None:
    chart = scatter_figure(hostile(), "nDCG@5", "AP")
    drawn = [row["run"] for row in points(chart)]
    assert len(set(drawn)) == len(HOSTILE)
    assert all(name.isprintable() for name in drawn)
    assert all(len(name) <= 40 for name in names_in(chart))
    assert any("\\u202e" in name for name in drawn)


def test_names_that_look_the_same_are_told_apart() -> None:
    own = made({name: {"nDCG@5": [0.1], "AP": [0.2]} for name in ("a\n", "a\\n")})
    assert [row["run"] for row in points(scatter_figure(own, "nDCG@5", "AP"))] == ["a\\n", "a\\n (2)"]


def test_one_column_of_a_measure() -> None:
    lexicon = er.Lexicon.build("sides", {"left": ["l"], "right": ["r"]})
    counts = er.WordCounts.build(["a", "b"], [5, 5], [[1, 0], [2, 3]], lexicon)
    run = er.Run.build(["q", "q"], ["a", "b"], [2.0, 1.0], name="one")
    own = er.evaluate(run, "GroupExposure@2 TED@2", words=counts)
    (point,) = points(scatter_figure(own, "GroupExposure@2[left]", "GroupExposure@2[right]"))
    assert (point["x"], point["y"]) == tuple(
        own.mean("GroupExposure@2", column=side) for side in ("left", "right")
    )
    with pytest.raises(
        ParameterError, match=re.escape("name one of GroupExposure@2[left], GroupExposure@2[right]")
    ):
        scatter_figure(own, "GroupExposure@2", "TED@2")
