"""The command polarise, and what evaluate and explain do with its scores."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars
import pytest

import evenrank as er

Evenrank = Callable[..., SimpleNamespace]

QUERIES = [f"q{number}" for number in range(6)]


@pytest.fixture
def debates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six debates of four documents, vectors that tell their sides apart, and a run."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    rows, vectors, ids, run = [], [], [], []
    for query in QUERIES:
        for place in range(4):
            document = f"{query}-{place}"
            side = "for" if place < 2 else "against"
            rows.append((query, document, f"text {place} of {query}", side))
            ids.append(document)
            vectors.append([3.0 if side == "for" else -3.0, *generator.normal(size=2), 1.0])
            run.append(f"{query} Q0 {document} 1 {9 - place} x\n")
    table = polars.DataFrame(rows, ["query", "document", "text", "perspective"], orient="row")
    table.write_csv("debates.csv")
    table.drop("text").write_csv("ids.csv")
    table.drop("perspective").write_csv("plain.csv")
    polars.DataFrame({"document": ids, "vector": vectors}).write_parquet("good.parquet")
    np.save("noise.npy", generator.normal(size=(len(ids), 5)))
    Path("noise.txt").write_text("\n".join(ids))
    Path("bm25.trec").write_text("".join(run))
    Path("categories.csv").write_text(
        "query,category\n" + "".join(f"{q},{'law' if n < 2 else 'art'}\n" for n, q in enumerate(QUERIES))
    )
    return tmp_path


def test_the_positive_side_can_be_named(evenrank: Evenrank, debates: Path) -> None:
    given = ("polarise", "debates.csv", "--encoder", "good.parquet")
    assert evenrank(*given, "-o", "usual.parquet").code == 0
    assert evenrank(*given, "--positive", "for", "-o", "turned.parquet").code == 0
    usual, turned = er.read_polarity("usual.parquet"), er.read_polarity("turned.parquet")
    np.testing.assert_array_equal(turned.scores, -usual.scores)
    done = evenrank(*given, "--positive", "pro", "-o", "x.parquet")
    assert done.code == 2
    assert "no perspective is called 'pro'" in done.err


def test_scores_are_written_and_accuracy_is_said(evenrank: Evenrank, debates: Path) -> None:
    outcome = evenrank("polarise", "ids.csv", "--encoder", "good.parquet", "-o", "p.parquet")
    assert (outcome.code, outcome.out) == (0, "")
    assert "24 documents of 6 queries\n" in outcome.err
    assert "accuracy 1.0000 [0.7564, 1.0000] over 6 queries; by chance 0.6" in outcome.err
    assert "no meaning" not in outcome.err
    polarity = er.read_polarity("p.parquet")
    assert polarity.oriented
    assert np.sign(polarity.scores[:4, 0]).tolist() == [-1, -1, 1, 1]  # against is positive


def test_scores_are_evaluated_explained_and_split(evenrank: Evenrank, debates: Path) -> None:
    evenrank("polarise", "debates.csv", "--encoder", "good.parquet", "-o", "p.parquet")
    measures = "DUO rND rKL DUO(signed=True)"
    outcome = evenrank(
        "evaluate", "bm25.trec", "--polarity", "p.parquet", "-m", measures, "--format", "jsonl"
    )
    assert outcome.code == 0, outcome.err
    found = [json.loads(line) for line in outcome.out.splitlines()]
    means = {row["measure"]: row["value"] for row in found if "value" in row}
    assert means["rND"] == 1
    assert means["DUO"] == -means["DUO(signed=True)"] > 0.9
    outcome = evenrank("explain", "bm25.trec", "--query", "q1", "--polarity", "p.parquet", "-m", "DUO")
    assert outcome.code == 0, outcome.err
    assert "q1-0" in outcome.out
    lacking = evenrank("explain", "bm25.trec", "--query", "q1", "-m", "DUO")
    assert (lacking.code, lacking.err) == (
        2,
        "evenrank: DUO needs polarity: pass --polarity FILE, as polarise gives\n",
    )


def test_any_measure_by_category(evenrank: Evenrank, debates: Path) -> None:
    evenrank("polarise", "debates.csv", "--encoder", "good.parquet", "-o", "p.parquet")
    arguments = ["evaluate", "bm25.trec", "--polarity", "p.parquet", "-m", "DUO", "--by", "categories.csv"]
    outcome = evenrank(*arguments, "--format", "tsv")
    assert outcome.code == 0, outcome.err
    header, *rows = (line.split("\t") for line in outcome.out.splitlines())
    at = {name: place for place, name in enumerate(header)}
    assert [(row[at["run"]], row[at["queries"]]) for row in rows] == [("law", "2"), ("art", "4")]
    evenrank(*arguments, "-o", "split.md")
    assert "law" in Path("split.md").read_text()
    Path("other.csv").write_text("query,category\nx,law\n")
    outcome = evenrank(*arguments[:-1], "other.csv")
    assert outcome.code == 1
    assert "none of the 1 queries with a category was scored" in outcome.err


@pytest.mark.needs("altair", "vl_convert")
def test_encoders_are_compared_and_drawn(evenrank: Evenrank, debates: Path) -> None:
    outcome = evenrank(
        "polarise", "debates.csv", "--encoder", "good.parquet", "--encoder", "noise.npy", "--figure", "h.svg"
    )
    assert outcome.code == 0, outcome.err
    header, good, noise = (re.split(" {2,}", line) for line in outcome.out.splitlines()[:3])
    assert header == ["encoder", "accuracy", "95% interval", "by chance", "queries"]
    assert (good[0], noise[0]) == ("good.parquet", "noise.npy")
    assert float(good[1]) == 1
    low, high = map(float, noise[2].strip("[]").split(", "))
    assert low <= float(noise[1]) <= high
    assert float(noise[1]) < 0.9
    assert (good[4], noise[4]) == ("6", "6")
    drawn = Path("h.svg").read_text()
    assert "good.parquet" in drawn
    assert "noise.npy" in drawn
    assert "polarity score" in drawn


def test_few_queries_have_no_interval(evenrank: Evenrank, debates: Path) -> None:
    polars.read_csv("debates.csv").head(8).write_csv("two.csv")
    outcome = evenrank("polarise", "two.csv", "--encoder", "good.parquet", "--encoder", "noise.npy")
    assert re.split(" {2,}", outcome.out.splitlines()[1])[2] == "undefined"
    outcome = evenrank("polarise", "two.csv", "--encoder", "good.parquet", "-o", "p.parquet")
    assert "accuracy 1.0000 over 2 queries" in outcome.err
    assert "no interval: fewer than 5 queries have a value" in outcome.err


def test_what_has_no_meaning_or_no_axis_is_said(evenrank: Evenrank, debates: Path) -> None:
    outcome = evenrank("polarise", "plain.csv", "--encoder", "good.parquet", "-o", "p.parquet")
    assert "no perspectives are named, so the sign of the scores has no meaning" in outcome.err
    table = polars.read_csv("debates.csv")
    table[[*range(9), *range(12, 14), *range(16, 24)]].write_csv("some.csv")
    outcome = evenrank("polarise", "some.csv", "--encoder", "good.parquet", "-o", "p.parquet")
    assert "1 query has no axis: one document only, so all scores are 0" in outcome.err
    assert "1 query without both perspectives, where the sign of the scores has no meaning" in outcome.err


def test_columns_of_another_name_and_other_documents(evenrank: Evenrank, debates: Path) -> None:
    table = polars.read_csv("debates.csv")
    renamed = {"query": "topic_id", "document": "name", "perspective": "party"}
    table.drop("text").rename(renamed).write_csv("renamed.csv")
    table.select("query", "document").rename({"query": "topic_id", "document": "name"}).head(4).write_csv(
        "d.csv"
    )
    columns = ",".join(f"{role}={name}" for role, name in renamed.items())
    outcome = evenrank(
        "polarise", "renamed.csv", "--documents", "d.csv", "--columns", columns,
        "--encoder", "good.parquet", "-o", "p.parquet",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert er.read_polarity("p.parquet").doc_ids.to_pylist() == ["q0-0", "q0-1", "q0-2", "q0-3"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["debates.csv", "--encoder", "good.parquet"], 2, "name the file to write: -o polarity.parquet"),
        (["debates.csv", "--encoder", "good.parquet", "-o", "p.csv"], 2, "the name must end in .parquet"),
        (["debates.csv", "--encoder", "none.npy", "-o", "p.parquet"], 1, "none.npy: no such file"),
        (["debates.csv", "--encoder", "./none", "-o", "p.parquet"], 1, "./none: no such folder of a model"),
        (["none.csv", "--encoder", "good.parquet", "-o", "p.parquet"], 1, "none.csv: no such file"),
        (
            ["plain.csv", "--encoder", "good.parquet", "--encoder", "noise.npy"],
            2,
            "FIT must name two perspectives: add that column",
        ),
        (
            ["debates.csv", "--encoder", "good.parquet", "--encoder", "noise.npy", "-o", "p.parquet"],
            2,
            "several encoders are compared, and no scores are written: leave -o out",
        ),
        (["debates.csv", "--encoder", "p.parquet", "-o", "p.parquet"], 2, "p.parquet: is also an input"),
        (["debates.csv", "--axes", "0", "-o", "p.parquet"], 2, "must be an integer > 0, got '0'"),
        (["ids.csv", "--encoder", "./none", "-o", "p.parquet"], 1, "no column for the text"),
        (["-", "--documents", "-", "-o", "p.parquet"], 2, "standard input (-) can stand for one file only"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    evenrank: Evenrank, debates: Path, arguments: list[str], code: int, said: str
) -> None:
    if "p.parquet" in arguments[:3]:
        Path("p.parquet").write_bytes(Path("good.parquet").read_bytes())
    outcome = evenrank("polarise", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err
    assert outcome.err.startswith("evenrank: ")
    assert outcome.err.count("\n") == 1


def test_without_the_extra_the_line_that_installs_it(
    evenrank: Evenrank, debates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    outcome = evenrank("polarise", "debates.csv", "-o", "p.parquet")
    assert outcome.code == 1
    assert "pip install '.[embed]'" in outcome.err


@pytest.mark.needs("altair", "vl_convert")
def test_the_figure_has_the_fit_documents_above_the_others(
    evenrank: Evenrank, debates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figure 5 of pair-duo-2024: two corpora on one axis, and on one scale."""
    from evenrank import reporting

    kept = []
    monkeypatch.setattr(reporting, "save_figure", lambda chart, path: kept.append(chart.to_dict()))
    lines = Path("debates.csv").read_text().splitlines()
    Path("others.csv").write_text("\n".join([lines[0], *lines[1:4], *lines[5:7]]) + "\n")
    given = ("polarise", "debates.csv", "--documents", "others.csv", "--encoder", "good.parquet")
    assert evenrank(*given, "-o", "x.parquet", "--figure", "x.svg").code == 0
    above, below = kept[0]["vconcat"]
    assert [panel["title"]["text"] for panel in (above, below)] == [["debates.csv"], ["others.csv"]]
    assert [panel["title"]["subtitle"] for panel in (above, below)] == ["24 documents", "5 documents"]
    rows = [panel["data"]["values"] for panel in (above, below)]
    assert [sum(row["documents"] for row in part) for part in rows] == [24, 5]
    assert rows[0][0]["from"] == rows[1][0]["from"]
    placed = er.read_polarity("x.parquet").scores[:, 0]
    edges = [row["from"] for row in rows[1]] + [rows[1][-1]["to"]]
    assert [row["documents"] for row in rows[1]] == np.histogram(placed, edges)[0].tolist()
