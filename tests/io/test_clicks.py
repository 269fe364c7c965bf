"""Clicks as judgements, against a sum written from the definition."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from evenrank import evaluate
from evenrank.errors import DataError, ParameterError
from evenrank.inputs.description import Description
from evenrank.inputs.file_options import QRELS, RUN
from evenrank.io.clicks import propensity_from_swaps, read_clicks

Row = dict[str, str | int]


def some_rows(seed: int = 0, count: int = 200) -> list[Row]:
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    for _ in range(count):
        shown = int(generator.integers(0, 20))
        rows.append(
            {
                "qid": f"q{generator.integers(5)}",
                "docno": f"d{generator.integers(12)}",
                "position": int(generator.integers(1, 8)),
                "impressions": shown,
                "clicks": int(generator.integers(0, shown + 1)),
            }
        )
    return rows


def write(path: Path, rows: list[Row]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("eta", [1.0, 0.5, 0.0])
def test_relevance_is_clicks_over_what_was_looked_at(tmp_path: Path, eta: float) -> None:
    rows = some_rows()
    found = read_clicks(write(tmp_path / "clicks.csv", rows), eta=eta)
    seen = dict(zip(zip(found.queries, found.documents, strict=True), found.relevance, strict=True))
    for query in {row["qid"] for row in rows}:
        for document in {row["docno"] for row in rows}:
            own = [row for row in rows if (row["qid"], row["docno"]) == (query, document)]
            weight = sum(int(row["impressions"]) / int(row["position"]) ** eta for row in own)
            if weight == 0:
                assert (query, document) not in seen
            else:
                clicked = sum(int(row["clicks"]) for row in own)
                assert seen[query, document] == pytest.approx(min(1.0, clicked / weight))
    assert sum(found.impressions) == sum(int(row["impressions"]) for row in rows)
    assert "What was never shown has no judgement" in found.describe()


def test_propensities_can_be_given_or_measured() -> None:
    table = {"query": ["q", "q"], "document": ["a", "b"], "rank": [1, 3], "clicks": [1, 0]}
    assert read_clicks(table).impressions == (1.0, 1.0)
    measured = propensity_from_swaps({3: (50, 100, 20, 80)})
    assert measured == {1: 1.0, 3: 0.5}
    table |= {"clicks": [10, 10], "impressions": [20, 40]}
    assert read_clicks(table, propensity=measured).relevance == (0.5, 0.5)
    with pytest.raises(DataError, match="no propensity for rank 3"):
        read_clicks(table, propensity={1: 1.0})
    with pytest.raises(DataError, match="no click at rank 1"):
        propensity_from_swaps({2: (0, 100, 20, 80)})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rank": [0]}, "row 1: rank 0 is not a whole number >= 1"),
        ({"clicks": [3], "impressions": [2]}, "3 clicks on 2 impressions cannot be"),
        ({"clicks": ["many"]}, "clicks 'many' is not a number"),
        ({"impressions": [0], "clicks": [0]}, "nothing was shown"),
        ({"rank": None}, "no column for the rank"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, list[object] | None], says: str) -> None:
    table = {"query": ["q"], "document": ["a"], "rank": [1], "clicks": [1], **change}
    with pytest.raises(DataError, match=says):
        read_clicks({name: cells for name, cells in table.items() if cells is not None})


def test_eta_is_a_number() -> None:
    with pytest.raises(ParameterError, match="eta must be a number >= 0"):
        read_clicks({}, eta=-1)


def test_clicks_stand_for_judgements_of_a_command(tmp_path: Path) -> None:
    clicks = write(
        tmp_path / "clicks.csv",
        [
            {"query": "q", "document": "a", "rank": 1, "clicks": 20, "impressions": 100},
            {"query": "q", "document": "b", "rank": 2, "clicks": 20, "impressions": 100},
        ],
    )
    (tmp_path / "run.trec").write_text("q Q0 a 1 2 x\nq Q0 b 2 1 x\n")
    run = RUN.parse(str(tmp_path / "run.trec"))
    values = {}
    for form in ("clicks", "clicks:eta=0"):
        known = Description(runs=(run,), qrels=(QRELS.parse(f"{clicks}:{form}"),))
        assert known.clicked
        values[form] = evaluate(known.read(), "nDCG@2").mean("nDCG@2")
        assert any("relevance comes from clicks on 200 impressions" in note for note in known.notes)
    right = (0.2 + 0.4 / np.log2(3)) / (0.4 + 0.2 / np.log2(3))
    assert values == {"clicks": pytest.approx(right), "clicks:eta=0": pytest.approx(1.0)}
    with pytest.raises(ParameterError, match="eta is a number"):
        Description(runs=(run,), qrels=(QRELS.parse(f"{clicks}:clicks:eta=x"),)).read()


def test_relevance_above_1_is_cut_and_counted() -> None:
    """Rank 4 is taken to be looked at in a quarter of impressions, and 60 of 100 were clicked."""
    table = {
        "query": ["q", "q"],
        "document": ["a", "b"],
        "rank": [4, 1],
        "clicks": [60, 50],
        "impressions": [100, 100],
    }
    found = read_clicks(table)
    assert (found.relevance, found.capped) == ((1.0, 0.5), 1)
    assert "1 of 2" in found.describe()
    fitting = read_clicks(table, eta=0.3)
    assert fitting.capped == 0
    assert "of 2" not in fitting.describe()
    # all that was looked at was clicked: exactly 1, and nothing is cut
    assert read_clicks({**table, "clicks": [25, 50]}).capped == 0
