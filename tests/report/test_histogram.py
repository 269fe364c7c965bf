"""The histogram of polarity: every document once, on one scale, nothing of 0 on a side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.reporting.figures import polarity_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")


def polarity(scores: Any) -> er.Polarity:
    return er.Polarity.build([f"d{place}" for place in range(len(scores))], scores)


def panels(given: dict[str, er.Polarity]) -> list[dict[str, Any]]:
    whole = polarity_figure(given).to_dict()
    return [{"data": whole.get("data"), **panel} for panel in whole["vconcat"]]


def test_every_document_is_in_one_bar_and_panels_have_their_own_scale() -> None:
    generator = np.random.default_rng(0)
    given = {"one": polarity(generator.normal(size=300)), "other": polarity([-7.0, 0.0, 0.5])}
    drawn = panels(given)
    assert [panel["title"]["text"] for panel in drawn] == [["one"], ["other"]]
    for panel, part in zip(drawn, given.values(), strict=True):
        rows = panel["data"]["values"]
        assert len(rows) > 10
        assert sum(row["documents"] for row in rows) == len(part)
        for row in rows[:-1]:
            inside = (part.scores[:, 0] >= row["from"]) & (part.scores[:, 0] < row["to"])
            assert row["documents"] == inside.sum()
        reach = float(np.abs(part.scores).max())
        assert panel["encoding"]["x"]["scale"]["domain"] == [-reach, reach]
        assert panel["title"]["subtitle"].startswith(f"{len(part)} documents")


def test_documents_of_queries_without_an_axis_are_left_out() -> None:
    scores = er.Polarity.build(
        ["a", "b", "c"], [1.0, -1.0, 0.0], queries=["q", "q", "r"], without_axis={"r": "one document only"}
    )
    (panel,) = panels({"model": scores})
    assert sum(row["documents"] for row in panel["data"]["values"]) == 2
    assert panel["title"]["subtitle"].startswith("2 documents")


def test_a_score_of_0_is_on_neither_side() -> None:
    (panel,) = panels({"flat": polarity(np.zeros((4, 2)))})
    (bar,) = [row for row in panel["data"]["values"] if row["documents"]]
    assert bar["from"] == -bar["to"] < 0


def test_the_first_axis_is_drawn() -> None:
    (panel,) = panels({"two": polarity([[1.0, -9.0], [1.0, -9.0]])})
    assert [row["documents"] for row in panel["data"]["values"]][-1] == 2
