"""Figures do not mislead: ticks are whole, intervals are there, colours belong to groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from drawn import made

import evenrank as er
from evenrank import Run
from evenrank.reporting.figures import bars_figure, cloud_figure, origin_figure, power_figure, scatter_figure


@pytest.mark.parametrize("pairs", [1, 2, 3, 10, 45, 210])
def test_ticks_of_pairs_are_whole_and_differ(pairs: int) -> None:
    chart = power_figure({"AP": np.linspace(1, 0, pairs)}).to_dict()
    axes = [layer["encoding"]["x"]["axis"] for layer in chart["layer"] if "x" in layer["encoding"]]
    ticks = axes[0]["values"]
    assert ticks == sorted(set(ticks))
    assert all(isinstance(tick, int) and 1 <= tick <= pairs for tick in ticks)
    assert len(ticks) <= 12


def many_runs(count: int) -> er.Scores:
    chance = np.random.default_rng(5)
    runs, qrels = {}, {}
    for query in range(12):
        qrels[f"q{query}"] = {f"d{n}": int(chance.integers(0, 2)) for n in range(20)}
    for number in range(count):
        rows = [(f"q{q}", f"d{d}", float(chance.random())) for q in range(12) for d in range(20)]
        queries, documents, scores = map(list, zip(*rows, strict=True))
        runs[f"run {number}"] = Run.build(queries, documents, scores)
    return er.evaluate(runs, "nDCG@10 P@5", qrels=qrels)


@pytest.mark.parametrize("count", [3, 14])
def test_scatter_has_every_interval_and_its_axes_hold_them(count: int) -> None:
    scores = many_runs(count)
    chart = scatter_figure(scores, "nDCG@10", "P@5").to_dict()
    rules = [layer for layer in chart["layer"] if layer["mark"]["type"] == "rule"]
    rows = [row for layer in rules for row in layer["data"]["values"] if "left" in row]
    assert len(rows) == 2 * count  # across and up
    domain = chart["layer"][-1]["encoding"]["x"]["scale"]["domain"]
    ends = [end for row in scores.summary() if row.measure == "nDCG@10" for end in (row.low, row.high)]
    assert domain[0] <= min(ends)
    assert domain[1] >= max(ends)
    points = next(layer for layer in chart["layer"] if layer["mark"]["type"] == "point")
    titles = [one["title"] for one in points["encoding"]["tooltip"]]
    assert len(set(titles)) == len(titles) == 5
    assert [one.get("format") for one in points["encoding"]["tooltip"]][1::2] == [".4f", ".4f"]


def test_a_row_whose_interval_includes_the_background_is_grey() -> None:
    scores = many_runs(4)
    chart = origin_figure({"": scores}, ["run 0"]).to_dict()
    start = scores.mean("nDCG@10", "run 0")
    colours: dict[bool, set[str]] = {True: set(), False: set()}
    for panel in chart["hconcat"] if "hconcat" in chart else chart.get("concat", [chart]):
        for layer in panel["layer"]:
            for row in layer.get("data", {}).get("values", []):
                if "colour" in row and row.get("from") == start and row["low"] is not None:
                    colours[row["low"] <= start <= row["high"]].add(row["colour"])
    assert len(colours[True]) == 1
    assert not colours[True] & colours[False]


def by_query() -> er.Scores:
    chance = np.random.default_rng(7)
    values = {name: chance.random(8).tolist() for name in ("nDCG@5", "AP")}
    return made({"bm25": values})


def test_figures_of_queries_show_questions_instead_of_ids() -> None:
    texts = {f"q{number}": f"question {number}?" for number in range(7)}  # the last has no text
    (panel,) = bars_figure(by_query(), "AP", by_query=True, texts=texts).to_dict()["vconcat"]
    bars = next(layer for layer in panel["layer"] if layer["mark"]["type"] == "bar")
    names = [row["query"] for row in bars["data"]["values"]]
    assert sorted(names) == ["q7", *sorted(texts.values())]
    chart = scatter_figure(by_query(), "nDCG@5", "AP", run="bm25", texts=texts).to_dict()
    points = next(layer for layer in chart["layer"] if layer["mark"]["type"] == "point")
    assert {row["query"] for row in points["data"]["values"]} == {*texts.values(), "q7"}
    drawn = next(layer for layer in chart["layer"] if layer["mark"]["type"] == "text")
    assert any("question" in row["name"] for row in drawn["data"]["values"])


def test_colours_of_many_runs_do_not_come_again() -> None:
    chart = power_figure({f"m{number}": np.linspace(1, 0, 9) for number in range(12)}).to_dict()
    drawn = [layer["encoding"]["color"] for layer in chart["layer"] if "color" in layer["encoding"]]
    assert drawn
    for colours in (colour["scale"]["range"] for colour in drawn):
        assert len(set(colours)) == 8
        assert len(set(colours[7:])) == 1  # grey


@pytest.mark.parametrize(("runs", "bands"), [(3, 0), (5, 0), (6, 1)])
def test_a_band_is_drawn_where_there_are_runs_enough(runs: int, bands: int) -> None:
    chart = cloud_figure(many_runs(runs), "nDCG@10", "P@5").to_dict()
    kinds = [layer["mark"]["type"] for layer in chart["layer"]]
    assert kinds.count("area") == bands
    assert kinds.count("line") == 1


@pytest.mark.parametrize(("runs", "crosses"), [(30, 30), (32, 2)])
def test_of_many_runs_the_middle_one_of_each_family_shows_its_interval(runs: int, crosses: int) -> None:
    scores = many_runs(runs)
    families = {"even": scores.runs[::2], "odd": scores.runs[1::2]}
    chart = cloud_figure(scores, "nDCG@10", "P@5", families=families).to_dict()
    drawn = [layer["data"]["values"] for layer in chart["layer"] if layer["mark"]["type"] == "rule"]
    assert [len(rows) for rows in drawn[:2]] == [crosses, crosses]  # across and down; then lines to names
    assert ("one run of each family" in " ".join(chart["title"]["subtitle"])) == (crosses == 2)
    for place, own in enumerate(families.values()):
        if crosses == 2:
            means = sorted(scores.mean("nDCG@10", run) for run in own)
            assert drawn[0][place]["x"] == pytest.approx(means[len(means) // 2])


def test_tooltips_have_four_decimals_and_titles() -> None:
    charts = [bars_figure(many_runs(3), "P@5"), origin_figure({"": many_runs(3)}, ["run 0"])]
    for chart in charts:
        shown = list(tips(chart.to_dict()))
        assert len(shown) >= 4
        for name, tip in shown:
            assert tip.get("format", ".4f") == ".4f", name
            assert (tip["type"] == "quantitative") == ("format" in tip), name
            assert tip["title"], name


def tips(found: Any) -> Iterator[tuple[str, Any]]:
    """Every tooltip of a chart."""
    if isinstance(found, dict):
        for tip in found.get("tooltip", []) if isinstance(found.get("tooltip"), list) else []:
            yield str(tip), tip
    for inner in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from tips(inner)


@pytest.mark.parametrize("narrow", [False, True])
def test_numbers_of_an_axis_do_not_collide(narrow: bool) -> None:
    chart = scatter_figure(many_runs(3), "nDCG@10", "P@5", narrow=narrow).to_dict()
    axes = [
        layer["encoding"]["x"]["axis"] for layer in chart["layer"] if "axis" in layer["encoding"].get("x", {})
    ]
    assert axes
    assert all(chart["width"] / axis["tickCount"] >= 60 for axis in axes)
