"""``evenrank origin`` and ``evenrank select``: from files to tables and figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank import origin, select

Evenrank = Callable[..., Any]
COLLECTION, BACKGROUND = "(collection)", "(background)"  # places beside the runs
TEXTS = ["he and his son", "she saw her mother", "a king and a queen", "nothing of note", "the man", "her"]
DOCUMENTS = {f"d{place}": text for place, text in enumerate(TEXTS * 2)}
MEASURES = "NFaiRR@3 TExFAIR@3"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1)
    for name in ("first", "second", "third"):
        lists = {f"q{q}": dict(zip(DOCUMENTS, generator.random(12).tolist(), strict=True)) for q in range(8)}
        er.write_run(er.read_run(lists, name=name), f"{name}.trec")
    (tmp_path / "documents.tsv").write_text("".join(f"{d}\t{text}\n" for d, text in DOCUMENTS.items()))
    (tmp_path / "qrels.txt").write_text("".join(f"q{q} 0 d{q} 1\n" for q in range(8)))
    (tmp_path / "by.csv").write_text("query,category\nq0,east\nq1,east\nq2,west\n")
    er.scan("documents.tsv", er.read_lexicon("gender-en"), terms=True, output="counts.parquet")
    return tmp_path


def ours(**more: Any) -> Any:
    runs = {name: er.read_run(f"{name}.trec", name=name) for name in ("first", "second")}
    given = {"words": "counts.parquet", "background": er.read_run("third.trec"), "draws": 5, **more}
    return origin(runs, MEASURES, **given)


ORIGIN = ("explain", "first.trec", "second.trec", "--words", "counts.parquet", "--background", "third.trec")
DRAWS = ("--draws", "5", "-m", MEASURES)


def test_the_table_is_that_of_the_function(folder: Path, evenrank: Evenrank) -> None:
    outcome = evenrank(*ORIGIN, *DRAWS, "--format", "jsonl", "-o", "scores.jsonl", "--notes")
    assert outcome.code == 0
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    steps = ours().steps()
    assert [(row["measure"], row["place"], row["value"]) for row in rows] == [
        (repr(step.measure), step.place, step.value) for step in steps
    ]
    assert [row["verdict"] for row in rows] == [step.verdict for step in steps]
    assert "wrote scores.jsonl" in outcome.err
    assert "all runs: background: run 'third'" in outcome.err
    assert er.Scores.read("scores.jsonl").runs == (COLLECTION, BACKGROUND, "first", "second")
    table = evenrank(*ORIGIN, *DRAWS).out
    assert "NFaiRR@3 ↑" in table
    assert f"(collection)  {steps[0].value:.4f}" in table


def test_the_seed_is_that_of_the_option(folder: Path, evenrank: Evenrank) -> None:
    out = evenrank(*ORIGIN, *DRAWS, "--seed", "3", "--format", "jsonl").out
    drawn = [json.loads(line)["value"] for line in out.splitlines()]
    assert drawn == [step.value for step in ours(seed=3).steps()]
    assert drawn != [step.value for step in ours().steps()]


def test_categories_extremes_and_words(folder: Path, evenrank: Evenrank) -> None:
    outcome = evenrank(*ORIGIN, *DRAWS, "--by", "by.csv", "--view", "extremes:1", "--view", "terms:2")
    assert outcome.code == 0
    for wanted in ("NFaiRR@3 ↑, east", "TermExposure@3, (no category)", "lowest  q2", "mean exposure"):
        assert wanted in outcome.out, wanted
    assert outcome.out.count("adds: the difference") == 1  # said once for all categories
    rows = evenrank(
        *ORIGIN, *DRAWS, "--by", "by.csv", "--view", "extremes:1", "--format", "tsv"
    ).out.splitlines()
    assert rows[0].split("\t")[:5] == ["category", "measure", "column", "system", "end"]
    assert len(rows) == 1 + 3 * 2 * 2 * 2 - 2 * 2  # west has one query, which is not at both ends
    terms = evenrank(*ORIGIN, *DRAWS, "--view", "terms:2", "--format", "jsonl").out.splitlines()
    exposed = [row for row in map(json.loads, terms) if "term" in row]
    whole = er.evaluate(er.read_run("first.trec"), "TermExposure@3", words="counts.parquet")
    for row in exposed:
        if row["place"] == "first":
            assert row["exposure"] == pytest.approx(whole.mean("TermExposure@3", column=row["term"]))


def test_documents_are_the_collection(folder: Path, evenrank: Evenrank) -> None:
    """Where no words were counted, and where --collection names documents rather than ids."""
    half = list(DOCUMENTS)[:6]
    Path("half.csv").write_text("id,text\n" + "".join(f"{d},{DOCUMENTS[d]}\n" for d in half))
    Path("side.csv").write_text(
        "document,side\n" + "".join(f"{d},{'ab'[len(text) % 2]}\n" for d, text in DOCUMENTS.items())
    )
    known = ("--groups", "side=side.csv", "--background", "third.trec", "--draws", "5", "-m", "GF@3")
    start = ("explain", "first.trec", "second.trec", *known, "--format", "jsonl")

    def places(*more: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in evenrank(*start, *more).out.splitlines()]

    without = evenrank(*start[:-2])
    assert "the collection is not known: pass --documents, --words or --collection" in " ".join(
        without.out.split()
    )
    assert COLLECTION not in {row["place"] for row in places()}
    Path("ids.txt").write_text("\n".join(half))
    expected = places("--collection", "ids.txt")
    assert COLLECTION in {row["place"] for row in expected}
    assert places("--documents", "half.csv") == expected
    assert places("--collection", "half.csv") == expected


def test_collection_and_queries(folder: Path, evenrank: Evenrank) -> None:
    (folder / "ids.txt").write_text("d3\nd9\n")  # without group words
    (folder / "some.txt").write_text("q1\nq4\n")
    out = evenrank(*ORIGIN, "-m", "NFaiRR@3", "--collection", "ids.txt", "--queries", "some.txt",
                   "--format", "jsonl").out  # fmt: skip
    first, *_ = map(json.loads, out.splitlines())
    assert first["place"] == COLLECTION
    assert first["queries"] == 2
    known = ours(collection=["d3", "d9"], queries=["q1", "q4"]).steps()[0]
    assert first["value"] == known.value


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["-m", "NFaiRR@3", "--view", "extremes:1", "--view", "terms:1", "--format", "tsv"],
            "ask for one of them",
        ),
        (["-m", "NFaiRR@3", "--kind", "places:arrow=first>second"], "add --figure FILE"),
        (
            ["-m", "NFaiRR@3", "--kind", "places:arrow=first>fifth", "--figure", "x.svg"],
            "no run is called 'fifth'",
        ),
        (["-m", "NFaiRR@3", "--kind", "places:arrow=first", "--figure", "x.svg"], "must be RUN>RUN"),
        (["-m", "NFaiRR@3", "--figure", "x.gif"], "must end in"),
        (["-m", "NoSuch@3"], "NoSuch"),
        (["-m", "NFaiRR@3", "--draws", "0"], "must be an integer > 0"),
    ],
)
def test_what_is_wrong_is_said_before_files_are_read(
    folder: Path, evenrank: Evenrank, options: list[str], says: str
) -> None:
    (folder / "first.trec").write_text("broken\n")
    outcome = evenrank(*ORIGIN, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err


def test_words_are_needed_for_terms(folder: Path, evenrank: Evenrank) -> None:
    outcome = evenrank("explain", "first.trec", "--qrels", "qrels.txt", "-m", "RR@3", "--view", "terms:1")
    assert outcome.code == 2
    assert "--view terms needs counts of words" in outcome.err


@pytest.mark.needs("altair", "vl_convert")
def test_the_figure(folder: Path, evenrank: Evenrank) -> None:
    assert evenrank(*ORIGIN, *DRAWS, "--figure", "x.svg", "--kind", "places:arrow=first>second").code == 0
    drawn = (folder / "x.svg").read_text(encoding="utf-8")
    assert all(text in drawn for text in ("(collection)", "(background)", "first → second", "TExFAIR@3 ↑"))


SELECT = (
    "select", "first.trec", "second.trec", "third.trec", "--words", "counts.parquet", "--background",
    "third.trec", "--qrels", "qrels.txt", "--relevance", "nDCG@5", "--fairness", "NFaiRR@5", "--folds", "2",
)  # fmt: skip


def test_select_is_that_of_the_function(folder: Path, evenrank: Evenrank) -> None:
    outcome = evenrank(
        *SELECT, "--also", "RR", "--beta", "0,1,inf", "--baseline", "second", "--format", "jsonl",
        "-o", "scores.jsonl",
    )  # fmt: skip
    assert outcome.code == 0
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    known = select(
        er.Scores.read("scores.jsonl"), relevance="nDCG@5", fairness="NFaiRR@5", others="RR",
        betas=[0, 1, float("inf")], baseline="second", folds=2,
    )  # fmt: skip
    assert [row["chosen"] for row in rows] == [row.chosen for row in known.rows]
    assert [row["nDCG@5"] for row in rows] == [row.relevance.value for row in known.rows]
    assert [row["RR p"] for row in rows] == [row.others["RR"].p_value for row in known.rows]
    assert "seed 0" in evenrank(*SELECT).out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--beta", "0,-1"], "beta must be a number >= 0, or inf; got '-1'"),
        (["--beta", "0,x"], "got 'x'"),
        (["--baseline", "nobody"], "no run is called 'nobody'"),
        (["--family", "a=*"], "add --figure FILE"),
        (["--family", "a=z*", "--figure", "x.svg"], "no run matches 'z*'"),
        (["--shade", "a=([", "--figure", "x.svg"], "is not a regular expression"),
        (["--shade", "a=f.", "--figure", "x.svg"], "with one group"),
        (["--shade", "a=fi(r)", "--figure", "x.svg"], "'r' in 'first' is not a number"),
        (["--shade", "a=z([0-9])", "--figure", "x.svg"], "no run has 'z([0-9])' in its name"),
        (["--fairness", "nDCG@5"], "are the same measure"),
    ],
)
def test_select_says_what_is_wrong(folder: Path, evenrank: Evenrank, options: list[str], says: str) -> None:
    (folder / "first.trec").write_text("broken\n")
    outcome = evenrank(*SELECT, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err


@pytest.mark.needs("altair", "vl_convert")
def test_the_cloud(folder: Path, evenrank: Evenrank) -> None:
    assert evenrank(*SELECT, "--figure", "x.svg", "--family", "s=s*", "--family", "f=f*").code == 0
    drawn = (folder / "x.svg").read_text(encoding="utf-8")
    assert all(text in drawn for text in ("nDCG@5 ↑ against NFaiRR@5 ↑", "(others)", "third"))
