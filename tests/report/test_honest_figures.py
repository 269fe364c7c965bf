"""Figures do not mislead: ticks are whole, intervals are there, colours belong to groups."""

from __future__ import annotations

import numpy as np
import planted_shop
import pytest

import evenrank as er
from evenrank.data.run import Run
from evenrank.report.figures.origin import UNSHOWN, origin_figure
from evenrank.report.figures.power import power_figure
from evenrank.report.figures.scatter import scatter_figure
from evenrank.report.figures.style import group_colours
from evenrank.report.figures.trend import trend_figure
from evenrank.report.page.group_colours import looks_of
from evenrank.verdict.findings import findings_of


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
    seen = 0
    for panel in chart["hconcat"] if "hconcat" in chart else chart.get("concat", [chart]):
        for layer in panel["layer"]:
            for row in layer.get("data", {}).get("values", []):
                if "colour" in row and row.get("from") == start and row["low"] is not None:
                    assert (row["colour"] == UNSHOWN) == (row["low"] <= start <= row["high"])
                    seen += 1
    assert seen


def test_groups_have_one_colour_everywhere() -> None:
    inputs = planted_shop.shop_comparison().inputs
    (verdict,) = findings_of(inputs, baseline="live").of("live")
    chart = trend_figure([("2026-01-01", verdict), ("2026-02-01", verdict)]).to_dict()
    colour = chart["layer"][0]["encoding"]["color"]["scale"]
    values = [group.value for group in verdict.groups]
    assert dict(zip(colour["domain"], colour["range"], strict=True)) == dict(
        zip(values, group_colours(values), strict=True)
    )
    assert [look.style for look in looks_of(["female", "neutral", "male"]).values()] == ["g0", "gn", "g1"]
