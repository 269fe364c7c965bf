"""``evenrank evaluate``: exact output on a small example, every option, and what it refuses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er
from evenrank.cli import main

Evenrank = Callable[..., SimpleNamespace]


def test_queries_cutoffs_and_names(evenrank: Evenrank, files: Path) -> None:
    (files / "queries.tsv").write_bytes(b"\xef\xbb\xbf# mine\r\n\r\nq2\twhat is c\r\n\nq1\n")
    outcome = evenrank(
        "evaluate", "one=bm25.trec", "two=dense.trec", "--qrels", "qrels.txt", "-m", "P", "--cutoffs", "1,2",
        "--queries", "queries.tsv", "--format", "tsv",
    )  # fmt: skip
    rows = [line.split("\t") for line in outcome.out.splitlines()[1:]]
    assert [(row[0], row[1], row[3], row[6]) for row in rows] == [
        ("one", "P@1", "0.5", "2"),
        ("one", "P@2", "0.5", "2"),
        ("two", "P@1", "0.5", "2"),
        ("two", "P@2", "0.5", "2"),
    ]
    assert outcome.err == ""


def test_cutoffs_of_measures_that_ir_measures_computes(evenrank: Evenrank, files: Path) -> None:
    command = ["evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "Judged NumRet", "--cutoffs", "1,2"]
    rows = [line.split("\t") for line in evenrank(*command, "--format", "tsv").out.splitlines()[1:]]
    assert [(row[1], float(row[3])) for row in rows] == [
        ("Judged@1", pytest.approx(1 / 3)),
        ("Judged@2", pytest.approx(1 / 2)),
        ("NumRet", 3.0),
    ]


def test_columns_and_formats(evenrank: Evenrank, files: Path) -> None:
    (files / "run.dat").write_text("topic_id,page,sim,bm25\nq1,a,1,2\nq1,b,2,1\nq2,c,1,1\n")
    (files / "judged.dat").write_text("topic_id\tpage\tgain\tside\nq1\tb\t1\tx\nq2\tc\t2\ty\n")
    judged = 'file = "judged.dat"\nformat = "tsv"\ncolumns = { query = "topic_id", document = "page", '
    (files / "evenrank.toml").write_text(
        '[data.runs.run]\nfile = "run.dat"\nformat = "csv"\n'
        'columns = { query = "topic_id", document = "page", score = "bm25" }\n'
        f'[data.qrels]\n{judged}grade = "gain" }}\n'
        f'[data.intents]\n{judged}grade = "gain", intent = "side" }}\n'
    )
    asked = ("--view", "queries", "--format", "tsv", "-m")
    assert "q1\tRR\t\t0.5\tok" in evenrank("evaluate", *asked, "RR").out
    assert "q1\tI_rec@2\t\t1.0\tok" in evenrank("evaluate", *asked, "I_rec@2").out
    assert "q1\tRR\t\t0.5\tok" in evenrank("evaluate", "--qrels", "qrels.txt", *asked, "RR").out
    (files / "evenrank.toml").write_text('[data.runs.run]\nfile = "run.dat"\nformat = "csv"\n')
    unnamed = evenrank("evaluate", "--qrels", "qrels.txt", "-m", "RR")
    assert (unnamed.code, unnamed.out) == (1, "")
    assert "columns=" in unnamed.err
    behind = evenrank("evaluate", "run.dat:format=csv", "--qrels", "qrels.txt", "-m", "RR")
    assert (behind.code, "project file" in behind.err) == (2, True)


def test_a_note_of_several_runs_is_printed_once(evenrank: Evenrank, files: Path) -> None:
    (files / "copy.trec").write_bytes((files / "bm25.trec").read_bytes())
    command = ["evaluate", "bm25.trec", "copy.trec", "--qrels", "qrels.txt", "-m", "RR"]
    lines = evenrank(*command).err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("evenrank: all runs: 1 query ") for line in lines)
    (files / "whole.trec").write_text("q1 Q0 b 1 2.0 x\nq2 Q0 c 2 1.0 x\nq4 Q0 x 1 1 x\n")
    lines = evenrank(*command[:3], "whole.trec", *command[3:]).err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("evenrank: bm25, copy: 1 query ") for line in lines)


@pytest.mark.parametrize("name", ["s.jsonl", "s.csv", "s.tsv", "s.parquet"])
def test_output_file(evenrank: Evenrank, files: Path, name: str) -> None:
    command = ["evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG@10 RR@10"]
    outcome = evenrank(*command, "-o", name)
    assert (outcome.code, outcome.out) == (0, "")
    assert f"evenrank: wrote {name}" in outcome.err
    assert er.Scores.read(files / name) == er.evaluate("bm25.trec", "nDCG@10 RR@10", qrels="qrels.txt")
    assert evenrank(*command, "-o", name, "--format", "table").out.startswith("measure")
    assert evenrank(*command, "-o", name, "--view", "queries").out.startswith("query")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["x/bm25.trec", "dense.run.gz"], ["bm25", "dense"]),
        (["a/bm25.trec", "b/bm25.trec", "c/dense.trec"], ["a/bm25", "b/bm25", "dense"]),
        (["x/a/r.trec", "y/a/r.trec"], ["x/a/r", "y/a/r"]),
        (["a/r.trec", "a/r.txt"], ["a/r.trec", "a/r.txt"]),
        (["input.bm25"], ["input.bm25"]),
        (["bad\udcff.trec"], ["bad\ufffd"]),
    ],
)
def test_a_run_is_named_by_what_its_file_has_of_its_own(
    evenrank: Evenrank, files: Path, paths: list[str], names: list[str]
) -> None:
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        content = Path("bm25.trec").read_bytes()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    asked = ["--qrels", "qrels.txt", "-m", "RR", "-o", "scores.jsonl"]
    assert main(["evaluate", *paths, *asked]) == 0
    assert list(er.Scores.read("scores.jsonl").runs) == names


def test_all_problems_of_a_file_are_listed(evenrank: Evenrank, files: Path) -> None:
    (files / "bad.trec").write_text("q1 Q0 a 1 nan x\nq1 Q0 b 2 inf x\n")
    outcome = evenrank("evaluate", "bad.trec", "--qrels", "qrels.txt", "-m", "RR")
    assert outcome.code == 1
    assert [line.partition(": ")[2][:11] for line in outcome.err.splitlines()] == [
        "bad.trec:1:",
        "bad.trec:2:",
    ]


def test_real_queries(evenrank: Evenrank, shared: Path) -> None:
    folder = shared / "data" / "msmarco_trecdl"
    outcome = evenrank(
        "evaluate", folder / "runs_cpjku_dl19fair" / "BM25.run", "--qrels", folder / "qrels.dl19-passage.txt",
        "--queries", folder / "trecdeep19_passage.fair.tsv", "-m", "nDCG@10", "--format", "jsonl",
    )  # fmt: skip
    assert outcome.code == 0
    row = json.loads(outcome.out)
    assert (row["run"], row["queries"], row["defined"]) == ("BM25", 30, 30)
