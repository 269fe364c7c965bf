"""A query that is a text has one name, whether a file or a dictionary tells of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evenrank as er

RUN = {"red lamp": {"a": 2.0, "b": 1.0}, "rug": {"a": 1.0}}
QRELS = {"red lamp": {"b": 1}, "rug": {"a": 1}}
SIDES = {"red lamp": {"a": "x", "b": "y"}, "rug": {"a": "x"}}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    for name, mapping, columns in (
        ("run", RUN, "query,document,score"),
        ("qrels", QRELS, "query,document,grade"),
        ("sides", SIDES, "query,document,side"),
    ):
        rows = [
            f"{query},{found},{value}" for query, inner in mapping.items() for found, value in inner.items()
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join([columns, *rows]) + "\n", encoding="utf-8")
    return {name: str(tmp_path / f"{name}.csv") for name in ("run", "qrels", "sides")}


def reciprocal_ranks(scores: er.Scores) -> dict[str, float]:
    return {row["query"]: row["value"] for row in scores.per_query().to_pylist()}


@pytest.mark.parametrize("run_in", ["dictionary", "file", "frame"])
@pytest.mark.parametrize("qrels_in", ["dictionary", "file"])
def test_runs_and_judgements(run_in: str, qrels_in: str, files: dict[str, Any]) -> None:
    runs = {"dictionary": RUN, "file": files["run"], "frame": pd.read_csv(files["run"])}
    qrels = {"dictionary": QRELS, "file": files["qrels"]}
    scores = er.evaluate({"run": runs[run_in]}, "RR@10", qrels=qrels[qrels_in])
    assert sorted(reciprocal_ranks(scores).values()) == [0.5, 1.0]
    words = run_in == qrels_in == "dictionary"
    assert ("red lamp" in reciprocal_ranks(scores)) == words


def test_queries_texts_weights_and_groups_by_query(files: dict[str, Any]) -> None:
    found = er.evaluate({"run": files["run"]}, "RR@10", qrels=files["qrels"], queries=["red lamp"])
    assert list(reciprocal_ranks(found).values()) == [0.5]
    weighted = er.evaluate(
        {"run": files["run"]},
        "GroupShare@2",
        groups=er.read_groups(SIDES, "side"),
        query_weights={"red lamp": 3, "rug": 1},
    )
    # half of the documents of the lamp and all of the rug's are of side x, weighted 3 to 1
    assert weighted.mean("GroupShare@2", column="x") == pytest.approx(0.75 * 0.5 + 0.25)
    inputs = er.Inputs.of({"run": files["run"]}, query_texts={"red lamp": "a red lamp", "rug": "rugs"})
    assert set(inputs.query_texts or ()) == set(inputs.runs["run"].query_ids)


def test_runs_of_both_kinds(files: dict[str, Any]) -> None:
    compared = er.compare({"one": RUN, "two": files["run"]}, "RR@10", qrels=QRELS)
    assert {run.query_ids for run in compared.inputs.runs.values()} == {  # type: ignore[union-attr]
        er.read_run(files["run"]).query_ids
    }
