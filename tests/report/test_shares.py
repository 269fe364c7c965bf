"""Bars of shares are the columns of the scores; arrows lead from one run to another."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from drawn import layers, made, marks, rows

import evenrank as er
from evenrank import Attribute, Membership, Scores
from evenrank.errors import ParameterError
from evenrank.reporting.figures import scatter_figure, shares_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")

REVIEWS = Attribute("reviews", ("none", "some", "many"), ordinal=True, target=(0.5, 0.3, 0.2))
GROUPS = Membership.build(REVIEWS, list("abcdef"), ["none", "none", "some", "many", "many", "some"])
SHARE, WANTED = "GroupShare@2", "GroupShare(of='target')@2"


def scores(measures: str = f"{SHARE} {WANTED}", queries: int = 2) -> Scores:
    runs = {
        "base": {f"q{n}": {"a": 3.0, "c": 2.0, "d": 1.0} for n in range(queries)},
        "rating": {f"q{n}": {"d": 3.0, "e": 2.0} for n in range(queries)},
    }
    runs["base"]["q0"] = {"a": 2.0, "b": 1.0}
    return er.evaluate(runs, measures, groups=GROUPS)


def panels(chart: Any) -> list[dict[str, Any]]:
    whole = chart.to_dict()
    return [
        {
            "title": panel["title"],
            "layers": [{"data": panel.get("data", whole.get("data")), **layer} for layer in panel["layer"]],
        }
        for panel in whole["concat"]
    ]


def test_bars_are_the_shares_of_each_query_and_lines_the_target() -> None:
    own = scores()
    drawn = panels(shares_figure(own, own.measures[0], by_query=True))
    assert [panel["title"]["text"] for panel in drawn] == [["query q0"], ["query q1"]]
    for query, panel in zip(("q0", "q1"), drawn, strict=True):
        (bars,) = marks(panel["layers"], "bar")
        assert len(rows(bars)) == 2 * 3
        for row in rows(bars):
            assert row["value"] == own.to_dict()[row["run"]][f"{SHARE}[{row['group']}]"][query]
        (lines,) = marks(panel["layers"], "tick")
        assert {row["group"]: row["value"] for row in rows(lines)} == pytest.approx(
            {"none": 0.5, "some": 0.3, "many": 0.2}
        )
        assert bars["encoding"]["xOffset"]["sort"] == ["none", "some", "many"]  # the order of the scale
        assert bars["encoding"]["color"]["field"] == "group"
        assert bars["encoding"]["x"]["sort"] == ["base", "rating"]
        assert bars["encoding"]["y"]["title"] == "share"
        assert bars["encoding"]["y"]["scale"]["domain"] == [0, 1.05]
    first = {(row["run"], row["group"]): row["value"] for row in rows(next(marks(drawn[0]["layers"], "bar")))}
    assert first["base", "none"] == 1.0
    assert first["rating", "many"] == 1.0
    second = {
        (row["run"], row["group"]): row["value"] for row in rows(next(marks(drawn[1]["layers"], "bar")))
    }
    assert (second["base", "none"], second["base", "some"]) == (0.5, 0.5)


def test_means_over_queries_and_no_target() -> None:
    own = scores(SHARE)
    chart = shares_figure(own, own.measures[0])
    (panel,) = panels(chart)
    (bars,) = marks(panel["layers"], "bar")
    assert {(row["run"], row["group"]): row["value"] for row in rows(bars)} == {
        (run, group): own.mean(SHARE, run, group)
        for run in ("base", "rating")
        for group in ("none", "some", "many")
    }
    assert list(marks(panel["layers"], "tick")) == []
    assert chart.to_dict()["title"]["text"] == ["GroupShare@2"]
    assert panel["title"]["text"] == ["mean over queries"]


def test_queries_without_a_value_are_left_out() -> None:
    runs = {"base": {"q0": {"a": 1.0}}}
    own = er.evaluate(runs, SHARE, groups=GROUPS, queries=["q0", "q1"])
    chart = shares_figure(own, own.measures[0], by_query=True)
    assert len(panels(chart)) == 1
    assert chart.to_dict()["title"]["subtitle"] == ["left out, without a value: 1 of 2 queries"]
    nobody = Membership.build(Attribute("x", ("s", "t")), ["z"], ["s"])
    nothing = er.evaluate(runs, "GroupShare(missing='drop')@2", groups=nobody)
    with pytest.raises(ParameterError, match="no run has a value"):
        shares_figure(nothing, nothing.measures[0])


def test_what_does_not_fit_is_refused() -> None:
    own = scores(queries=13)
    with pytest.raises(ParameterError, match="13 queries are too many"):
        shares_figure(own, own.measures[0], by_query=True)
    single = made({"a": {"AP": [0.5]}})
    with pytest.raises(ParameterError, match="AP has 1 columns"):
        shares_figure(single, single.measures[0])


POINTS = {"a": (0.2, 0.3), "b": (0.5, 0.6), "c": (0.5, 0.3), "d": (0.1, 0.9)}


def arrowed(*arrows: tuple[str, str], measures: tuple[str, str] = ("AP", "RR")) -> Any:
    own = made({run: dict(zip(measures, ([x], [y]), strict=True)) for run, (x, y) in POINTS.items()})
    return scatter_figure(own, *measures, arrows=arrows)


def test_arrows_lead_from_run_to_run() -> None:
    chart = arrowed(("a", "b"), ("b", "c"), ("c", "d"))
    lines = next(layer for layer in marks(layers(chart), "rule") if "angle" in rows(layer)[0])
    (heads,) = (layer for layer in marks(layers(chart), "point") if "angle" in layer["encoding"])
    assert rows(lines) == rows(heads)
    assert [(row["from"], row["to"]) for row in rows(lines)] == [("a", "b"), ("b", "c"), ("c", "d")]
    for row in rows(lines):
        assert (row["x"], row["y"]) == POINTS[row["from"]]
        end = POINTS[row["to"]]
        along = math.dist((row["x2"], row["y2"]), end) / math.dist((row["x"], row["y"]), end)
        assert 0 < along < 0.2  # short of the point
    better, worse, mixed = (row["colour"] for row in rows(lines))
    assert len({better, worse, mixed}) == 3
    other = arrowed(("a", "b"), ("a", "c"), measures=("AP", "NDKL"))  # where lower is better
    turned = next(layer for layer in marks(layers(other), "rule") if "angle" in rows(layer)[0])
    assert [row["colour"] for row in rows(turned)] == [mixed, better]
    right, down, _ = (row["angle"] for row in rows(lines))
    assert 0 < right < 90
    assert down == pytest.approx(180)
    assert "arrows: green better" in chart.to_dict()["title"]["subtitle"][-1]


def test_arrows_need_their_points() -> None:
    with pytest.raises(ParameterError, match="an arrow needs two points, and 'z' has none"):
        arrowed(("a", "z"))
    same = arrowed(("a", "a")).to_dict()
    assert not any("arrows" in line for line in same["title"]["subtitle"])


def test_figure_8_of_gfr(shared: Path) -> None:
    """The shares at rank 10 of the lists of Table 5, and the target of footnote 17."""
    rows_of = [
        line.split("\t")
        for line in (shared / "golden/gfr_table5.tsv").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("#", "topic"))
    ]
    wanted = (0.452239, 0.220319, 0.227721, 0.0997214)
    reviews = Attribute("reviews", ("1", "2", "3", "4"), ordinal=True, target=wanted)
    documents, labels, runs = [], [], {}
    for topic, run, groups, *_ in rows_of:
        own = [f"{topic}-{run}-{rank}" for rank in range(10)]
        documents += own
        labels += list(groups)
        runs.setdefault(run, {})[topic] = {document: float(-rank) for rank, document in enumerate(own)}
    membership = Membership.build(reviews, documents, labels)
    own = er.evaluate(runs, "GroupShare@10 GroupShare(of='target')@10", groups=membership)
    drawn = panels(shares_figure(own, own.measures[0], by_query=True))
    assert [panel["title"]["text"] for panel in drawn] == [["query 416"], ["query 1469"]]
    for topic, panel in zip(("416", "1469"), drawn, strict=True):
        (bars,) = marks(panel["layers"], "bar")
        for row in rows(bars):
            (groups,) = (g for t, r, g, *_ in rows_of if (t, r) == (topic, row["run"]))
            assert row["value"] == pytest.approx(groups.count(row["group"]) / 10)
        (lines,) = marks(panel["layers"], "tick")
        for run in {row["run"] for row in rows(bars)}:
            own_lines = [row["value"] for row in rows(lines) if row["run"] == run]
            assert own_lines == pytest.approx(wanted, abs=1e-6)
