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


NAMED = ["tasb.trec:class=dense", "splade.trec:class=sparse", "bm25.trec"]
CHOSEN = ["--qrels", "qrels.txt", "-m", "RR", "--no-project"]
EXPECTED = [("lexical", "bm25"), ("sparse", "splade"), ("dense", "tasb")]


def test_behind_the_file(runs: Path, capsys: Any) -> None:
    assert main(["compare", *NAMED, *CHOSEN, "--view", "systems", "--format", "jsonl"]) == 0
    assert rows(capsys) == EXPECTED
    seeds = ["one=tasb.trec:class=dense:system=TAS-B", "two=tasb2.trec:class=dense:system=TAS-B", "bm25.trec"]
    assert main(["compare", *seeds, *CHOSEN, "--view", "systems", "--format", "jsonl"]) == 0
    assert rows(capsys) == [("lexical", "bm25"), ("dense", "TAS-B")]


def test_scores_keep_it(runs: Path, capsys: Any) -> None:
    assert main(["evaluate", *NAMED, *CHOSEN, "-o", "scores.jsonl"]) == 0
    assert main(["evaluate", *NAMED[:2], "bm25.trec", *CHOSEN, "-o", "scores.parquet"]) == 0
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


def test_a_project_file_says_it(runs: Path, capsys: Any) -> None:
    Path("evenrank.toml").write_text(
        '[data]\nqrels = "qrels.txt"\n\n[measures]\nuse = ["RR"]\n\n[data.runs]\n'
        'tasb = "tasb.trec:class=dense"\nsplade = "splade.trec:class=sparse"\nbm25 = "bm25.trec"\n'
    )
    assert main(["compare", "--view", "systems", "--format", "jsonl"]) == 0
    assert rows(capsys) == EXPECTED


def test_scores_without_a_class_say_nothing_of_it(runs: Path) -> None:
    assert main(["evaluate", "tasb.trec", *CHOSEN, "-o", "scores.jsonl"]) == 0
    assert "systems" not in er.Scores.read("scores.jsonl").provenance


def test_an_empty_class(runs: Path, capsys: Any) -> None:
    assert main(["compare", "tasb.trec:class=", "bm25.trec", *CHOSEN]) == 2
    assert "class= names nothing in 'tasb.trec:class='" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("tasb.trec:clas=dense", "clas is no option of a run in 'tasb.trec:clas=dense'; did you mean class?"),
        ("mine=tasb.trec:kind=dense", "kind is no option of a run in 'mine=tasb.trec:kind=dense'; there are"),
        ("none.trec:frmat=csv", "frmat is no option of a run in 'none.trec:frmat=csv'; did you mean format?"),
    ],
)
def test_a_misspelt_option_is_no_file(runs: Path, capsys: Any, written: str, complaint: str) -> None:
    assert main(["compare", written, "bm25.trec", *CHOSEN]) == 2
    assert complaint in capsys.readouterr().err


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
