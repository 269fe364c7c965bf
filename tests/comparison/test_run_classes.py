"""The class of a run: said behind its file, kept with scores, and overruled by a file of systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evenrank as er
from evenrank.cli import main

QUERIES = [f"q{place}" for place in range(6)]
DOCUMENTS = [f"d{place}" for place in range(5)]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for at, name in enumerate(("tasb", "splade", "bm25", "tasb2")):
        lists = {query: {document: (place * 7 + row * 3 + at * 5) % 11 + place / 100
                         for place, document in enumerate(DOCUMENTS)}
                 for row, query in enumerate(QUERIES)}  # fmt: skip
        er.write_run(er.read_run(lists, name=name), f"{name}.trec")
    Path("qrels.txt").write_text("".join(f"{q} 0 d{at % 5} 1\n" for at, q in enumerate(QUERIES)))
    Path("bm25.trec.system.json").write_text(json.dumps({"class": "lexical"}))
    return tmp_path


def rows(capsys: Any) -> list[tuple[str, str]]:
    """Class and system of the rows that were printed."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return list(dict.fromkeys((line["class"], line["system"]) for line in lines))


RUNS = """[data.runs]
tasb = { file = "tasb.trec", class = "dense" }
splade = { file = "splade.trec", class = "sparse" }
bm25 = "bm25.trec"
"""
SEEDS = """[data.runs]
one = { file = "tasb.trec", class = "dense", system = "TAS-B" }
two = { file = "tasb2.trec", class = "dense", system = "TAS-B" }
bm25 = "bm25.trec"
"""
CHOSEN = ["--qrels", "qrels.txt", "-m", "RR"]
EXPECTED = [("lexical", "bm25"), ("sparse", "splade"), ("dense", "tasb")]


def test_in_the_table_of_a_run(runs: Path, capsys: Any) -> None:
    Path("evenrank.toml").write_text(RUNS)
    assert main(["compare", *CHOSEN, "--view", "systems", "--format", "jsonl"]) == 0
    assert rows(capsys) == EXPECTED
    Path("evenrank.toml").write_text(SEEDS)
    assert main(["compare", *CHOSEN, "--view", "systems", "--format", "jsonl"]) == 0
    assert rows(capsys) == [("lexical", "bm25"), ("dense", "TAS-B")]
    Path("evenrank.toml").write_text('[data.runs]\ntasb = { file = "tasb.trec", class = "" }\n')
    assert main(["compare", "tasb", "bm25.trec", *CHOSEN]) == 1
    assert "data.runs.tasb.class" in capsys.readouterr().err


def test_scores_keep_it(runs: Path, capsys: Any) -> None:
    Path("evenrank.toml").write_text(RUNS)
    assert main(["evaluate", *CHOSEN, "-o", "scores.jsonl"]) == 0
    assert main(["evaluate", *CHOSEN, "-o", "scores.parquet"]) == 0
    capsys.readouterr()
    for file in ("scores.jsonl", "scores.parquet"):
        given = ["compare", "--scores", file, "--no-project", "--view"]
        assert main([*given, "systems", "--format", "jsonl"]) == 0
        assert rows(capsys) == EXPECTED
    # a file of systems overrules it, and needs to name only some of the runs
    Path("systems.csv").write_text("run,class,system\ntasb,late interaction,ColBERT\n")
    assert main([*given, "systems:systems=systems.csv", "--format", "jsonl"]) == 0
    assert rows(capsys) == [("lexical", "bm25"), ("sparse", "splade"), ("late interaction", "ColBERT")]
    Path("systems.csv").write_text("run,class\nother,dense\n")
    assert main([*given, "systems:systems=systems.csv"]) == 1
    assert "none of the runs that the file of systems names was scored" in capsys.readouterr().err


def test_scores_without_a_class_say_nothing_of_it(runs: Path) -> None:
    assert main(["evaluate", "tasb.trec", *CHOSEN, "-o", "scores.jsonl"]) == 0
    assert "systems" not in er.Scores.read("scores.jsonl").provenance


def test_a_name_may_hold_a_colon(runs: Path, capsys: Any) -> None:
    assert main(["evaluate", "2024:clas=tasb.trec", "bm25.trec", *CHOSEN]) == 0
    assert "2024:clas" in capsys.readouterr().out


def test_a_folder_of_runs_with_their_records(runs: Path, capsys: Any) -> None:
    """A folder is a set of rankings; the records that ``evenrank retrieve`` writes beside them are none."""
    folder = Path("both")
    folder.mkdir()
    for name in ("tasb", "bm25"):
        Path(f"{name}.trec").rename(folder / f"{name}.trec")
    Path("bm25.trec.system.json").rename(folder / "bm25.trec.system.json")
    assert main(["evaluate", "both", *CHOSEN]) == 0, capsys.readouterr().err
