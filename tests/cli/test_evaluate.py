"""``evenrank evaluate``: exact output on a small example, every option, and what it refuses."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er
from evenrank.inputs.file_options import FileOption
from evenrank.inputs.run_names import run_names
from evenrank.scores.score_tables import ONE_MEANING, QUERIES_MEANING

Evenrank = Callable[..., SimpleNamespace]


def test_table_on_stdout_and_notes_on_stderr(evenrank: Evenrank, files: Path) -> None:
    outcome = evenrank("evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG@10 RR@10")
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "measure     value  95% interval  n",
        "nDCG@10 ↑  0.5436     undefined  3",
        "RR@10 ↑    0.5000     undefined  3",
        ONE_MEANING,
        "nDCG@10, RR@10: no interval: fewer than 5 queries have a value",
        "↑ higher is better",
    ]
    lines = outcome.err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("evenrank: bm25: 1 query ") for line in lines)


def test_several_runs_in_one_table(evenrank: Evenrank, files: Path) -> None:
    outcome = evenrank("evaluate", "bm25.trec", "dense.trec", "--qrels", "qrels.txt", "-m", "RR", "-m", "AP")
    assert [line.split()[:2] for line in outcome.out.splitlines()[1:3]] == [
        ["bm25", "0.5000"],
        ["dense", "0.5000"],
    ]
    assert outcome.out.splitlines()[0].split() == ["run", "RR", "↑", "AP", "↑", "n"]


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("tsv", "run\tmeasure\tcolumn\tvalue\t"),
        ("jsonl", '{"run": "bm25", "measure": "RR@10", "column": "", "value": 0.5, '),
        ("latex", "% needs \\usepackage{booktabs}"),
        ("markdown", "| measure | value | 95% interval | n |"),
    ],
)
def test_formats(evenrank: Evenrank, files: Path, form: str, first: str) -> None:
    outcome = evenrank("evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "RR@10", "--format", form)
    assert outcome.code == 0
    assert outcome.out.startswith(first)
    assert "in the run" not in outcome.out
    assert "in the run" in outcome.err


def test_per_query(evenrank: Evenrank, files: Path) -> None:
    command = ["evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "RR@10", "--view", "queries"]
    assert evenrank(*command).out.splitlines() == [
        "query  RR@10 ↑", "q1      0.5000", "q2      1.0000", "q4      0.0000", QUERIES_MEANING,
    ]  # fmt: skip
    assert evenrank(*command, "--format", "tsv").out.splitlines()[1] == "bm25\tq1\tRR@10\t\t0.5\tok"
    values = [json.loads(line)["value"] for line in evenrank(*command, "--format", "jsonl").out.splitlines()]
    assert values == [0.5, 1.0, 0.0]
    assert evenrank(*command, "--format", "csv").out.splitlines()[1] == "bm25,q1,RR@10,,0.5,ok"
    assert "q2 & 1.0000" in evenrank(*command, "--format", "latex").out


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


def test_ties(evenrank: Evenrank, files: Path) -> None:
    (files / "tied.trec").write_text("q1 Q0 a 1 1.0 x\nq1 Q0 b 2 1.0 x\n")
    command = [
        "evaluate",
        "tied.trec",
        "--qrels",
        "qrels.txt",
        "-m",
        "RR",
        "--view",
        "queries",
        "--format",
        "tsv",
    ]
    assert "q1\tRR\t\t1.0\tok" in evenrank(*command).out
    assert "q1\tRR\t\t0.5\tok" in evenrank("evaluate", "tied.trec:ties=file", *command[2:]).out


def test_ties_of_a_table_with_ranks(evenrank: Evenrank, files: Path) -> None:
    (files / "tied.csv").write_text("query,document,score,rank\nq1,a,1,1\nq1,b,1,2\n")
    command = [
        "evaluate",
        "tied.csv",
        "--qrels",
        "qrels.txt",
        "-m",
        "RR",
        "--view",
        "queries",
        "--format",
        "tsv",
    ]
    assert "q1\tRR\t\t0.5\tok" in evenrank(*command).out
    assert "q1\tRR\t\t1.0\tok" in evenrank("evaluate", "tied.csv:ties=trec", *command[2:]).out


def test_columns_and_formats(evenrank: Evenrank, files: Path) -> None:
    (files / "run.dat").write_text("topic_id,page,sim,bm25\nq1,a,1,2\nq1,b,2,1\nq2,c,1,1\n")
    (files / "judged.dat").write_text("topic_id\tpage\tgain\tside\nq1\tb\t1\tx\nq2\tc\t2\ty\n")
    columns = "query=topic_id,document=page,score=bm25,grade=gain,intent=side"
    command = ["evaluate", "run.dat:format=csv", "--columns", columns, "--view", "queries"]
    graded = evenrank(*command, "--qrels", "judged.dat:format=tsv", "-m", "RR", "--format", "tsv")
    assert "q1\tRR\t\t0.5\tok" in graded.out
    by_intent = ["--qrels", "judged.dat:format=tsv:intents", "-m", "I_rec@2", "--format", "tsv"]
    assert "q1\tI_rec@2\t\t1.0\tok" in evenrank(*command, *by_intent).out
    mixed = evenrank(*command, "--qrels", "qrels.txt", "-m", "RR", "--format", "tsv")
    assert "q1\tRR\t\t0.5\tok" in mixed.out
    unnamed = evenrank("evaluate", "run.dat:format=csv", "--qrels", "qrels.txt", "-m", "RR")
    assert (unnamed.code, unnamed.out) == (1, "")
    assert "(in the shell: --columns ROLE=NAME)" in unnamed.err


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


def test_judgements_by_intent_alone_and_beside_others(evenrank: Evenrank, files: Path) -> None:
    command = [
        "evaluate",
        "bm25.trec",
        "--qrels",
        "intents.txt:intents",
        "--view",
        "queries",
        "--format",
        "tsv",
    ]
    assert "q1\tI_rec@1\t\t0.5\tok" in evenrank(*command, "-m", "I_rec@1").out
    both = evenrank(*command, "--qrels", "qrels.txt", "-m", "I_rec@1 RR").out
    assert "q1\tI_rec@1\t\t0.5\tok" in both
    assert "q1\tRR\t\t0.5\tok" in both  # by intent alone, a is relevant too and this would be 1


def test_standard_input(evenrank: Evenrank, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (files / "bm25.trec").read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    outcome = evenrank("evaluate", "-", "bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--format", "tsv")
    assert [line.split("\t")[0] for line in outcome.out.splitlines()] == ["run", "stdin", "bm25"]
    twice = evenrank("evaluate", "-", "--qrels", "-", "-m", "RR")
    assert (twice.code, twice.err) == (2, "evenrank: standard input (-) can stand for one file only\n")


@pytest.mark.parametrize("name", ["s.jsonl", "s.csv", "s.tsv", "s.parquet"])
def test_output_file(evenrank: Evenrank, files: Path, name: str) -> None:
    command = ["evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG@10 RR@10"]
    outcome = evenrank(*command, "-o", name)
    assert (outcome.code, outcome.out) == (0, "")
    assert f"evenrank: wrote {name}" in outcome.err
    assert er.Scores.read(files / name) == er.evaluate("bm25.trec", "nDCG@10 RR@10", qrels="qrels.txt")
    assert evenrank(*command, "-o", name, "--format", "table").out.startswith("measure")
    assert evenrank(*command, "-o", name, "--view", "queries").out.startswith("query")


@pytest.mark.parametrize(("name", "start"), [("s.tex", "% needs"), ("s.md", "| measure")])
def test_output_table(evenrank: Evenrank, files: Path, name: str, start: str) -> None:
    assert evenrank("evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", name).code == 0
    assert (files / name).read_text().startswith(start)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["x/bm25.trec", "dense.run.gz"], ["bm25", "dense"]),
        (["a/bm25.trec", "b/bm25.trec", "c/dense.trec"], ["a/bm25", "b/bm25", "dense"]),
        (["x/a/r.trec", "y/a/r.trec"], ["x/a/r", "y/a/r"]),
        (["a/r.trec", "a/r.txt"], ["a/r.trec", "a/r.txt"]),
        (["input.bm25", "-"], ["input.bm25", "stdin"]),
        (["bad\udcff.trec"], ["bad\ufffd"]),
    ],
)
def test_run_names(paths: list[str], names: list[str]) -> None:
    assert run_names([FileOption(path) for path in paths]) == names


USAGE = [
    (["bm25.trec"], "nothing is known about the documents, so no measure can be chosen"),
    (["--qrels", "qrels.txt", "-m", "RR"], "name a run: a file such as bm25.trec"),
    (["bm25.trec", "-m", "RR"], "RR needs judgements"),
    (
        ["bm25.trec", "--qrels", "qrels.txt", "-m", "nDGC@10"],
        "no measure is called 'nDGC'; did you mean nDCG",
    ),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "P"], "P needs a cut-off, as in P@10"),
    (
        ["bm25.trec", "--qrels", "qrels.txt", "-m", "RR@0"],
        "RR: cutoff must be an integer >= 1 or None, got 0",
    ),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR("], "is not of the form"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "Success"], "Success needs cutoff, as in Success@10"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "BPM@3"], "needs max_rel, as in BPM(max_rel=...)"),
    (
        ["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--cutoffs", "5,x"],
        "integers > 0 separated by commas",
    ),
    (
        ["bm25.trec:ties=coin", "--qrels", "qrels.txt", "-m", "RR"],
        "ties must be one of trec, file, got 'coin'",
    ),
    (
        ["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--que"],
        "unknown option --que; did you mean --queries?",
    ),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", "x.xlsx"], "the name must end in .jsonl, "),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", "x.xlsx"], ", .md, .markdown\n"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", "sub/../bm25.trec"], "would be overwritten"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", "link.csv"], "link.csv: is also an input"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--columns", "side=x"], "'side' is not a role"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--columns", "query"], "must be ROLE=NAME,"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--columns", "rank=a,rank=b"], "named twice"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--columns", "query=x"], "--columns needs a table"),
    (["bm25.trec:format=xml", "--qrels", "qrels.txt", "-m", "RR"], "format must be one of trec, csv,"),
    (["bm25.trec", "./bm25.trec", "--qrels", "qrels.txt", "-m", "RR"], "is given twice"),
    (
        ["a=bm25.trec", "a=dense.trec", "--qrels", "qrels.txt", "-m", "RR"],
        "both be named",
    ),
]
DATA = [
    (["none.trec", "--qrels", "qrels.txt", "-m", "RR"], "none.trec: no such file"),
    (["bm25.trec", "--qrels", "none.txt", "-m", "RR"], "none.txt: no such file"),
    (["bad.trec", "--qrels", "qrels.txt", "-m", "RR"], "bad.trec:1: "),
    (
        ["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--queries", "empty.txt"],
        "empty.txt: holds no query id",
    ),
    (
        ["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--queries", "tab.txt"],
        "tab.txt:2: there is no query id",
    ),
    (
        ["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--queries", "latin.txt"],
        "latin.txt:1: is not UTF-8",
    ),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--queries", "other.txt"], "is in a run or judged"),
    (["bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", "none/x.csv"], "none/x.csv: no such folder"),
]


@pytest.mark.parametrize(
    ("code", "arguments", "message"), [(2, *case) for case in USAGE] + [(1, *case) for case in DATA]
)
def test_errors_are_one_line(
    evenrank: Evenrank, files: Path, code: int, arguments: list[str], message: str
) -> None:
    (files / "bad.trec").write_text("q1 Q0 a 1 nan x\n")
    (files / "empty.txt").write_text("# nothing\n\n")
    (files / "tab.txt").write_text("q1\n\tno id\n")
    (files / "latin.txt").write_bytes(b"caf\xe9\n")
    (files / "other.txt").write_text("q99\n")
    (files / "sub").mkdir()
    (files / "link.csv").symlink_to("qrels.txt")
    before = (files / "bm25.trec").read_bytes()
    outcome = evenrank("evaluate", *arguments)
    assert (files / "bm25.trec").read_bytes() == before
    assert outcome.code == code
    assert outcome.out == ""
    assert message in outcome.err
    assert outcome.err.startswith("evenrank: ")
    assert outcome.err.count("\n") == 1


def test_all_problems_of_a_file_are_listed(evenrank: Evenrank, files: Path) -> None:
    (files / "bad.trec").write_text("q1 Q0 a 1 nan x\nq1 Q0 b 2 inf x\n")
    outcome = evenrank("evaluate", "bad.trec", "--qrels", "qrels.txt", "-m", "RR")
    assert outcome.code == 1
    assert [line.partition(": ")[2][:11] for line in outcome.err.splitlines()] == [
        "bad.trec:1:",
        "bad.trec:2:",
    ]


def test_warnings_go_to_stderr(evenrank: Evenrank, files: Path) -> None:
    (files / "bom.trec").write_bytes(b"\xef\xbb\xbf" + (files / "bm25.trec").read_bytes())
    outcome = evenrank("evaluate", "bom.trec", "--qrels", "qrels.txt", "-m", "RR")
    assert outcome.code == 0
    assert outcome.err.splitlines()[0].startswith(
        "evenrank: warning: bom.trec: begins with a byte order mark"
    )


def test_real_queries(evenrank: Evenrank, shared: Path) -> None:
    folder = shared / "data" / "msmarco_trecdl"
    outcome = evenrank(
        "evaluate", folder / "runs_cpjku_dl19fair" / "BM25.run", "--qrels", folder / "qrels.dl19-passage.txt",
        "--queries", folder / "trecdeep19_passage.fair.tsv", "-m", "nDCG@10", "--format", "jsonl",
    )  # fmt: skip
    assert outcome.code == 0
    row = json.loads(outcome.out)
    assert (row["run"], row["queries"], row["defined"]) == ("BM25", 30, 30)
