"""The figure of origins draws the scores of places and systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn import made, marks, rows

from evenrank import Scores
from evenrank.errors import ParameterError
from evenrank.reporting.figures import origin_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")

PLACES = ("(collection)", "(background)")
LEVELS = {"(collection)": 0.5, "(background)": 0.6, "low": 0.55, "high": 0.7, "new": 0.65}


def scores(measures: tuple[str, ...] = ("NFaiRR@10",), **more: float) -> Scores:
    generator = np.random.default_rng(0)
    return made(
        {
            name: {m: (level + generator.normal(0, 0.01, 9)).tolist() for m in measures}
            for name, level in (LEVELS | more).items()
        }
    )


def panels(chart: Any) -> list[dict[str, Any]]:
    found = []
    for panel in chart.to_dict()["concat"]:
        layers = [{"data": panel.get("data"), **layer} for layer in panel["layer"]]
        found.append({"title": panel["title"], "layers": layers})
    return found


def test_points_and_intervals_are_the_scores() -> None:
    own = scores()
    (panel,) = panels(origin_figure({"": own}, PLACES))
    (points,) = marks(panel["layers"], "point")
    summary = {row.run: row for row in own.summary()}
    assert [row["place"] for row in rows(points)] == list(LEVELS)
    for row in rows(points):
        wanted = summary[row["place"]]
        assert (row["value"], row["low"], row["high"], row["queries"]) == (
            wanted.value, wanted.low, wanted.high, 9,
        )  # fmt: skip
    assert points["encoding"]["x"]["title"] == ["NFaiRR@10 ↑, mean over queries"]
    assert points["encoding"]["y"]["title"] is None
    assert panel["title"]["text"] == ["NFaiRR@10 ↑"]
    levels = [
        row["value"]
        for layer in marks(panel["layers"], "rule")
        if "x2" not in layer["encoding"]
        for row in rows(layer)
    ]
    assert levels == [summary[place].value for place in PLACES]


def test_bars_reach_from_the_background_to_systems() -> None:
    own = scores(("NFaiRR@10", "TED@10"))
    first, second = panels(origin_figure({"": own}, PLACES))
    meaning = {}
    for panel, good in ((first, ("high", "new")), (second, ("low",))):
        (bars,) = marks(panel["layers"], "bar")
        measure = "NFaiRR@10" if panel is first else "TED@10"
        assert {row["place"] for row in rows(bars)} == {"low", "high", "new"}
        for row in rows(bars):
            assert row["from"] == own.mean(measure, "(background)")
            assert row["value"] == own.mean(measure, row["place"])
            include = row["low"] is not None and row["low"] <= row["from"] <= row["high"]
            said = "not shown" if include else "better" if row["place"] in good else "worse"
            assert meaning.setdefault(row["colour"], said) == said
    assert {*meaning.values()} >= {"better", "worse"}


def test_what_became_of_a_run_stands_on_its_row() -> None:
    own = scores()
    (panel,) = panels(origin_figure({"": own}, PLACES, improved=[("low", "new")]))
    (points, diamonds) = sorted(marks(panel["layers"], "point"), key=lambda layer: -len(rows(layer)))
    assert [row["place"] for row in rows(points)] == ["(collection)", "(background)", "low → new", "high"]
    assert rows(diamonds) == [
        {
            "place": "low → new",
            "from": own.mean("NFaiRR@10", "low"),
            "value": own.mean("NFaiRR@10", "new"),
            "after": "new",
        }
    ]


def test_a_panel_for_each_category_and_measure() -> None:
    own = scores(("NFaiRR@10", "AP"))
    drawn = panels(origin_figure({"east": own, "west": own}, PLACES))
    assert [panel["title"]["text"] for panel in drawn] == [
        ["NFaiRR@10 ↑, east"], ["AP ↑, east"], ["NFaiRR@10 ↑, west"], ["AP ↑, west"],
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="26 panels are too many"):
        origin_figure({str(n): own for n in range(13)}, PLACES)
    with pytest.raises(ParameterError, match="there is nothing to draw"):
        origin_figure({"": made({"(background)": {"AP": [0.1] * 6}})}, PLACES)


def test_without_a_background_there_are_no_bars() -> None:
    (panel,) = panels(origin_figure({"": made({"a": {"AP": [0.1] * 6}})}, PLACES))
    assert [rows(layer) for layer in marks(panel["layers"], "bar")] == [[]]
    assert panel["title"]["subtitle"] == ["lines: 95% intervals"]
