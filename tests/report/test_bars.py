"""Bars are the scores of runs or queries, sorted, from 0, with the names of the two sides."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import HOSTILE, layers, made, marks, rows

import evenrank as er
from evenrank import Membership
from evenrank.errors import ParameterError, UnknownNameError
from evenrank.reporting.figures import bars_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")

NAN = math.nan


def scores() -> er.Scores:
    generator = np.random.default_rng(2)
    return made(
        {
            f"run {number}": {"RaB": generator.normal(0, 1, 12).tolist(), "AP": [0.5] * 12}
            for number in range(6)
        }
    )


def panels(chart: Any) -> list[dict[str, Any]]:
    return [
        {
            "title": panel["title"],
            "layers": [{"data": panel.get("data"), **layer} for layer in panel["layer"]],
        }
        for panel in chart.to_dict()["vconcat"]
    ]


def test_the_bars_are_the_scores_of_the_runs_sorted() -> None:
    own = scores()
    (layer,) = marks(layers(bars_figure(own, "RaB")), "bar")
    drawn = rows(layer)
    assert len(drawn) == 6
    assert [row["value"] for row in drawn] == sorted((own.mean("RaB", run) for run in own.runs), reverse=True)
    assert layer["encoding"]["y"]["sort"] == [row["run"] for row in drawn]
    summary = {row.run: row for row in own.summary() if row.measure == "RaB"}
    for row in drawn:
        wanted = summary[row["run"]]
        assert (row["value"], row["low"], row["high"]) == (wanted.value, wanted.low, wanted.high)
        assert row["queries"] == 12
    assert len({(row["colour"], row["value"] < 0) for row in drawn}) == 2  # a side, a colour
    assert len({row["colour"] for row in drawn}) == 2


def test_some_of_the_runs() -> None:
    (layer,) = marks(layers(bars_figure(scores(), "AP", runs=["run 3", "run 1"])), "bar")
    assert sorted(row["run"] for row in rows(layer)) == ["run 1", "run 3"]
    with pytest.raises(UnknownNameError, match="no run is called 'run 9'"):
        bars_figure(scores(), "AP", runs="run 9")
    with pytest.raises(ParameterError, match="runs is empty"):
        bars_figure(scores(), "AP", runs=[])


def test_runs_without_a_value_are_left_out_and_counted() -> None:
    own = made({"a": {"AP": [0.2, NAN, 0.4]}, "b": {"AP": [NAN, NAN, NAN]}})
    chart = bars_figure(own, "AP")
    (layer,) = marks(layers(chart), "bar")
    assert [(row["run"], row["low"]) for row in rows(layer)] == [("a", None)]  # too few for an interval
    assert chart.to_dict()["title"]["subtitle"] == [
        "1 run, lines are 95% intervals",
        "undefined or infinite for up to 1 of 3 queries",
        "left out, without a value: 1 of 2 runs",
    ]
    with pytest.raises(ParameterError, match="no run has a value of AP"):
        bars_figure(own, "AP", runs="b")


def test_the_bars_of_queries_are_their_scores_sorted() -> None:
    own = scores()
    drawn = panels(bars_figure(own, "RaB", runs=["run 2", "run 0"], by_query=True))
    assert [panel["title"]["text"] for panel in drawn] == ["run 2", "run 0"]
    domains = set()
    for name, panel in zip(("run 2", "run 0"), drawn, strict=True):
        (layer,) = marks(panel["layers"], "bar")
        values = own.to_dict()[name]["RaB"]
        assert {row["query"]: row["value"] for row in rows(layer)} == values
        assert [row["value"] for row in rows(layer)] == sorted(values.values(), reverse=True)
        assert layer["encoding"]["x"]["sort"] == [row["query"] for row in rows(layer)]
        assert layer["encoding"]["y"]["title"] == ["RaB ±"]
        domains.add(tuple(layer["encoding"]["y"]["scale"]["domain"]))
        above, below = sum(v > 0 for v in values.values()), sum(v < 0 for v in values.values())
        assert panel["title"]["subtitle"] == [f"12 queries: {above} above 0, {below} below, 0 at 0"]
        assert [rows(rule) for rule in marks(panel["layers"], "rule")] == [[{"even": 0}]]
    assert len(domains) == 1
    (low, high) = domains.pop()
    both = [value for name in ("run 2", "run 0") for value in own.to_dict()[name]["RaB"].values()]
    assert low < min(both) < 0 < max(both) < high


def test_bars_of_queries_start_at_zero() -> None:
    (panel,) = panels(bars_figure(made({"a": {"AP": [0.5, 0.7]}}), "AP", by_query=True))
    (layer,) = marks(panel["layers"], "bar")
    assert layer["encoding"]["y"]["scale"]["domain"][0] == 0
    assert panel["title"]["subtitle"] == ["2 queries"]


def test_undefined_queries_are_left_out_and_counted() -> None:
    own = made({"a": {"RaB": [0.5, NAN, -0.1, math.inf, 1e-17]}})
    (panel,) = panels(bars_figure(own, "RaB", by_query=True))
    (layer,) = marks(panel["layers"], "bar")
    assert [row["query"] for row in rows(layer)] == ["q0", "q4", "q2"]
    assert panel["title"]["subtitle"] == [
        "3 queries: 1 above 0, 1 below, 1 at 0",
        "left out, undefined or infinite: 2 of 5",
    ]
    with pytest.raises(ParameterError, match="no query has a value of RaB"):
        bars_figure(made({"a": {"RaB": [NAN]}}), "RaB", by_query=True)


def test_many_queries_have_no_ids() -> None:
    for count, named in ((75, True), (76, False)):
        (panel,) = panels(bars_figure(made({"a": {"AP": [0.5] * count}}), "AP", by_query=True))
        (layer,) = marks(panel["layers"], "bar")
        assert layer["encoding"]["x"]["axis"]["labels"] is named
        assert len(rows(layer)) == count


def test_three_runs_are_too_many_for_queries() -> None:
    with pytest.raises(
        ParameterError, match=re.escape("one run or two, and there are 6: say which (runs=[..])")
    ):
        bars_figure(scores(), "RaB", by_query=True)


def leaning(*attributes: str) -> er.Scores:
    run = er.Run.build(["q1", "q1", "q2"], ["a", "b", "a"], [2.0, 1.0, 1.0], name="one")
    groups = [Membership.from_labels(name, {"a": f"{name} pro", "b": f"{name} con"}) for name in attributes]
    return er.evaluate(run, [f"dGF(attr={name!r})@2" for name in attributes], groups=groups)


def words_of(chart: Any) -> str:
    return json.dumps(chart.to_dict(), ensure_ascii=False)


def test_the_two_sides_are_named() -> None:
    own = leaning("stance", "tone")
    for name in ("stance", "tone"):
        measure = f"dGF(attr={name!r})@2"
        (layer,) = marks(layers(bars_figure(own, measure)), "bar")
        assert layer["encoding"]["x"]["title"][-1] == f"← towards {name} con  |  towards {name} pro →"
        (panel,) = panels(bars_figure(own, measure, by_query=True))
        texts = [rows(layer)[0]["words"] for layer in marks(panel["layers"], "text")]
        assert texts == [f"↑ towards {name} pro", f"↓ towards {name} con"]
        assert own.mean(measure) > 0  # document a, pro, is first


def test_the_sides_of_the_only_attribute_and_of_words() -> None:
    run = er.Run.build(["q", "q"], ["a", "b"], [2.0, 1.0], name="one")
    stance = Membership.from_labels("stance", {"a": "pro", "b": "con"})
    lexicon = er.Lexicon.build("gender", {"women": ["she"], "men": ["he"]})
    counts = er.WordCounts.build(["a", "b"], [5, 5], [[3, 0], [0, 1]], lexicon)
    own = er.evaluate(run, "dGF@2 ARaB@2 TED@2", groups=stance, words=counts)
    assert "← towards con  |  towards pro →" in words_of(bars_figure(own, "dGF@2"))
    assert "← towards men  |  towards women →" in words_of(bars_figure(own, "ARaB@2"))
    assert own.mean("ARaB@2") > 0
    assert "towards" not in words_of(bars_figure(own, "TED@2"))


def test_sides_that_are_not_known_are_not_named(tmp_path: Path) -> None:
    own = leaning("stance")
    measure = "dGF(attr='stance')@2"
    own.write(tmp_path / "scores.csv")
    assert "towards" not in words_of(bars_figure(er.Scores.read(tmp_path / "scores.csv"), measure))
    own.write(tmp_path / "scores.jsonl")
    assert "towards stance pro" in words_of(bars_figure(er.Scores.read(tmp_path / "scores.jsonl"), measure))
    assert "towards" not in words_of(bars_figure(scores(), "RaB"))


def test_hostile_names_stay_one_bar_each() -> None:
    own = made({name: {"AP": [0.5]} for name in (*HOSTILE, "a\n", "a\\n")})
    (layer,) = marks(layers(bars_figure(own, "AP")), "bar")
    names = [row["run"] for row in rows(layer)]
    assert len(set(names)) == len(HOSTILE) + 2
    assert all(name.isprintable() for name in names)
