"""Figures show the scores, all of them and nothing else, and are written whole."""

from __future__ import annotations

import builtins
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.errors import MissingExtraError, ParameterError
from evenrank.reporting.figures import cutoff_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")

CUTOFFS = [1, 2, 5, 10]
MEASURES = "NFaiRR TExFAIR TExFAIR(rbdf=False)"


def words() -> er.WordCounts:
    generator = np.random.default_rng(1)
    ids = [f"d{number}" for number in range(60)]
    lexicon = er.Lexicon.build("sides", {"left": ["l"], "right": ["r"]})
    return er.WordCounts.build(ids, [20] * 60, generator.integers(0, 4, (60, 2)), lexicon)


def random_run(name: str, seed: int, queries: int = 8) -> er.Run:
    generator = np.random.default_rng(seed)
    lists = {
        f"q{query}": {f"d{d}": float(-r) for r, d in enumerate(generator.permutation(60)[:20].tolist())}
        for query in range(queries)
    }
    return er.read_run(lists, name=name)


def scores(queries: int = 8, **more: Any) -> er.Scores:
    runs = {name: random_run(name, seed, queries) for seed, name in enumerate(["one", "two"])}
    given = {"cutoffs": CUTOFFS, "background": [f"d{n}" for n in range(60)], "words": words(), **more}
    return er.evaluate(runs, MEASURES, **given)


def panels(chart: Any) -> list[dict[str, Any]]:
    """The panels, each with the data that may stand above it."""
    whole = chart.to_dict()
    return [{"data": whole.get("data"), **panel} for panel in whole["concat"]]


def rows(panel: dict[str, Any], layer: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = panel["layer"][layer].get("data", panel["data"])["values"]
    return found


def test_the_plotted_values_are_the_scores() -> None:
    own = scores()
    drawn = panels(cutoff_figure(own))
    assert [panel["title"]["text"] for panel in drawn] == [
        ["NFaiRR ↑"], ["TExFAIR ↑"], ["TExFAIR(rbdf=False) ↑"],
    ]  # fmt: skip
    summary = {(row.run, row.measure): row for row in own.summary()}
    for name, panel in zip(MEASURES.split(), drawn, strict=True):
        for layer in range(len(panel["layer"])):
            plotted = rows(panel, layer)
            assert len(plotted) == 2 * len(CUTOFFS)
            for row in plotted:
                wanted = summary[row["run"], f"{name}@{row['cutoff']}"]
                assert (row["value"], row["low"], row["high"]) == (wanted.value, wanted.low, wanted.high)
                assert row["queries"] == wanted.defined


def test_many_runs_are_told_apart() -> None:
    runs = {f"run {number}": random_run("", number) for number in range(13)}
    own = er.evaluate(runs, "TED", words=words(), cutoffs=[5, 10])
    (panel,) = panels(cutoff_figure(own))
    encoding = panel["layer"][-1]["encoding"]
    looks = Counter(
        zip(encoding["color"]["scale"]["range"], encoding["shape"]["scale"]["range"], strict=True)
    )
    assert len(looks) == 13
    colours = Counter(encoding["color"]["scale"]["range"])
    assert len([colour for colour, times in colours.items() if times > 1]) == 1  # grey


def test_columns_and_signed_measures() -> None:
    own = er.evaluate(random_run("one", 0), "GroupExposure ARaB", words=words(), cutoffs=[5, 10])
    left, right, signed = panels(cutoff_figure(own))
    assert [left["title"]["text"], right["title"]["text"]] == [
        ["GroupExposure[left]"], ["GroupExposure[right]"],
    ]  # fmt: skip
    assert signed["title"]["subtitle"] == ["signed", "one"]
    assert [layer["mark"]["type"] for layer in signed["layer"]] == ["rule", "area", "line", "point"]


def test_too_few_queries_have_no_band_and_undefined_points_are_left_out() -> None:
    for panel in panels(cutoff_figure(scores(queries=3))):
        assert all(row["low"] is None and row["high"] is None for row in rows(panel, 0))
    lexicon = er.Lexicon.build("sides", {"left": ["l"], "right": ["r"]})
    last = er.WordCounts.build(["a", "b", "c"], [5] * 3, [[0, 0], [0, 0], [2, 1]], lexicon)
    run = er.Run.build(["q"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0])
    own = er.evaluate(run, "TExFAIR(rbdf=False)", words=last, cutoffs=[1, 2, 3])
    (panel,) = panels(cutoff_figure(own))
    assert [row["cutoff"] for row in rows(panel, 1)] == [3]


def test_measures_without_cutoffs_make_no_line() -> None:
    own = er.evaluate(random_run("one", 0), "TED@5 TED", words=words())
    with pytest.raises(ParameterError, match=re.escape("cutoffs=[5, 10, 20]")):
        cutoff_figure(own)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "vl_convert":
            raise ImportError(name)
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=re.escape("pip install '.[report]'")):
        cutoff_figure(scores())


def test_figures_in_notebooks_need_no_network() -> None:
    scores = er.evaluate({"a": {"q": {"d": 1.0}}, "b": {"q": {"e": 1.0}}}, "P@1 RR", qrels={"q": {"d": 1}})
    for chart in (er.figures.bars_figure(scores, "RR"), er.figures.scatter_figure(scores, "P@1", "RR")):
        shown = chart._repr_mimebundle_()
        (live,) = (kind for kind in shown if "vegalite" in kind)
        assert shown[live] == chart.to_dict()
        assert shown["image/svg+xml"].startswith("<svg")
        assert not any("<script" in str(part) for part in shown.values())
        assert "text/html" not in shown
