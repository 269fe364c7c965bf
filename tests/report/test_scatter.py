"""One measure against another: every run or query once, at its scores, with its name."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import HOSTILE, layers, made, marks, rows

import evenrank as er
from evenrank.errors import ParameterError, UnknownNameError
from evenrank.report.figures import save_figure, scatter_figure
from evenrank.report.figures.contours import Plane, contours
from evenrank.report.figures.labels import LINE, place_labels, shortened, text_width
from evenrank.report.figures.scatter import has_mean
from evenrank.report.figures.scatter_layers import NAME_SIZE
from evenrank.stats.correlation import kendall

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


def test_axes_and_title() -> None:
    chart = scatter_figure(scores(), "nDCG@5", "AP")
    (layer,) = marks(layers(chart), "point")
    assert layer["encoding"]["x"]["title"] == ["nDCG@5 ↑, mean over queries"]
    assert layer["encoding"]["y"]["title"] == ["AP ↑, mean over queries"]
    assert chart.to_dict()["title"]["text"] == ["AP ↑ against nDCG@5 ↑"]
    (layer,) = marks(layers(scatter_figure(scores(), "nDCG@5", "AP", run="run 1")), "point")
    assert layer["encoding"]["x"]["title"] == ["nDCG@5 ↑"]


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


@pytest.mark.parametrize(
    "box", [(0, 1, 0, 1), (0.47, 0.96, 0.41, 0.64), (-3, 4, 100, 900), (0, 1e-7, 0, 1e-7)]
)
def test_contours_are_round_and_lie_in_the_plane(box: tuple[float, float, float, float]) -> None:
    plane = Plane(*box, 600, 440)
    lines = contours(plane)
    assert 3 <= len(lines) <= 10
    steps = np.diff([line.mean for line in lines])
    assert np.allclose(steps, steps[0])
    assert all(len(f"{line.mean:g}") <= 5 for line in lines)
    for line in lines:
        for x, y in (line.start, line.end):
            assert plane.left <= x <= plane.right
            assert plane.lower <= y <= plane.upper


def test_a_mean_that_is_no_measure_has_no_contours() -> None:
    drawn = layers(scatter_figure(scores(), "nDCG@5", "AP"))
    assert not [row for layer in marks(drawn, "rule") for row in rows(layer) if "mean" in row]
    pair = [er.parse_measure(name) for name in ("NFaiRR@10", "nDCG@10")]
    assert not has_mean(pair)
    assert has_mean(pair, [er.parse_measure("0.5*NFaiRR@10 + 0.5*nDCG@10")])
    assert not has_mean([pair[0], er.parse_measure("AP")], [er.parse_measure("0.5*NFaiRR@10 + 0.5*nDCG@10")])


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
    found = kendall([own.mean("nDCG@5", run) for run in own.runs], [own.mean("AP", run) for run in own.runs])
    said = scatter_figure(own, "nDCG@5", "AP").to_dict()["title"]["subtitle"]
    assert said[0] == (
        f"9 runs, Kendall's tau {found.value:.4f}, "
        f"95% interval [{found.interval.low:.4f}, {found.interval.high:.4f}], n = 9"
    )
    one = scatter_figure(scores(runs=1), "nDCG@5", "AP").to_dict()["title"]["subtitle"]
    assert one[0] == "1 run"
    two = scatter_figure(scores(runs=2), "nDCG@5", "AP").to_dict()["title"]["subtitle"]
    assert two[0] == "2 runs"  # whose tau is 1 or -1, whatever they are


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


@pytest.mark.parametrize("seed", range(5))
def test_names_lie_over_nothing(seed: int) -> None:
    generator = np.random.default_rng(seed)
    spots = [(float(x), float(y)) for x, y in generator.uniform((0, 0), (600, 440), (25, 2))]
    texts: list[str | None] = [f"system-{number}-run-{number % 3}" for number in range(25)]
    taken = [(0.0, 200.0, 60.0, 240.0)]
    placed = place_labels(spots, texts, width=600, height=440, size=NAME_SIZE, taken=taken)
    assert None not in placed
    boxes = [
        (
            one.left,
            one.middle - LINE * NAME_SIZE / 2,
            one.left + text_width(one.text, NAME_SIZE),
            one.middle + LINE * NAME_SIZE / 2,
        )
        for one in placed
        if one is not None
    ]
    apart = [*boxes, *taken]
    for first, second in itertools.combinations(apart, 2):
        assert (
            first[2] <= second[0] or second[2] <= first[0] or first[3] <= second[1] or second[3] <= first[1]
        )
    for left, top, right, bottom in boxes:
        assert 0 <= left < right <= 600
        assert 0 <= top < bottom <= 440
        assert not any(left < x < right and top < y < bottom for x, y in spots)


@pytest.mark.parametrize("seed", range(5))
def test_names_lie_over_no_interval(seed: int) -> None:
    generator = np.random.default_rng(seed)
    own = made(
        {f"run {n}": {name: generator.random(12).tolist() for name in ("nDCG@5", "AP")} for n in range(4)}
    )
    drawn = layers(scatter_figure(own, "nDCG@5", "AP"))
    (across, up) = (layer for layer in marks(drawn, "rule") if "left" in rows(layer)[0])
    domains = [across["encoding"][axis]["scale"]["domain"] for axis in "xy"]
    plane = Plane(*domains[0], *domains[1], 600, 440)
    named = [row for layer in marks(drawn, "text") for row in rows(layer) if "name" in row]
    assert len(named) == 4
    for row in named:
        left, middle = plane.pixels(row["x"], row["y"])
        right, high = left + text_width(row["name"], NAME_SIZE), LINE * NAME_SIZE / 2
        for line in rows(up):
            (first, top), (last, bottom) = (
                plane.pixels(line["left"], line["upper"]), plane.pixels(line["right"], line["lower"]),
            )  # fmt: skip
            x, y = plane.pixels(line["x"], line["y"])
            assert not (left < last and first < right and abs(y - middle) < high)
            assert not (top < middle + high and middle - high < bottom and left < x < right)


def test_the_same_points_always_have_the_same_names() -> None:
    spots = [(float(x), float(y)) for x, y in np.random.default_rng(0).uniform(200, 300, (25, 2))]
    texts: list[str | None] = [f"system-{number}-run-{number % 3}" for number in range(25)]
    first, second = (place_labels(spots, texts, width=600, height=440, size=NAME_SIZE) for _ in range(2))
    assert first == second


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


@pytest.mark.parametrize(
    ("suffix", "begins"),
    [
        (".svg", b"<svg"),
        pytest.param(".png", b"\x89PNG", marks=pytest.mark.slow),
        pytest.param(".pdf", b"%PDF", marks=pytest.mark.slow),
        pytest.param(".html", b"<!DOCTYPE html>", marks=pytest.mark.slow),
    ],
)
def test_files_with_hostile_names(tmp_path: Path, suffix: str, begins: bytes) -> None:
    for run in (None, HOSTILE[0]):
        save_figure(scatter_figure(hostile(), "nDCG@5", "AP", run=run), tmp_path / f"plane{suffix}")
        content = (tmp_path / f"plane{suffix}").read_bytes()
        assert content.startswith(begins)
        if suffix == ".html":
            assert content.count(b"</script>") == 3  # data, library, drawing; none from a name
        if suffix == ".svg":
            assert b"<script" not in content


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


def test_long_names_keep_both_ends() -> None:
    assert shortened("short") == "short"
    assert len(shortened("x" * 39 + "yz", 40)) == 40
    assert shortened("begin" + "-" * 60 + "end").startswith("begin")
    assert shortened("begin" + "-" * 60 + "end").endswith("end")


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
