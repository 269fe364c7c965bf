"""``evenrank explain``: what it prints and what it refuses."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

import evenrank as er
from evenrank.cli import main
from evenrank.evidence.scan import scan_file

TEXTS = {
    "a": "she said that she would",
    "b": "he and she met",
    "c": "nobody was there",
    "d": "he told him",
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bm25.trec").write_text(
        "q1 Q0 a 1 4.0 x\nq1 Q0 b 2 3.0 x\nq1 Q0 c 3 2.0 x\nq1 Q0 d 4 1.0 x\n"
    )
    (tmp_path / "qrels.txt").write_text("q1 0 b 1\n")
    (tmp_path / "texts.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in TEXTS.items()))
    for terms, name in ((True, "counts.parquet"), (False, "plain.parquet")):
        scan_file("texts.tsv", er.read_lexicon("gender-en"), name, terms=terms)
    return tmp_path


def test_labels(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", "bm25.trec", "-m", "NFaiRR@3 FaiRR@2", "--words", "counts.parquet"]
    for which in (["--query", "q1"], ["--worst", "1"]):
        assert main([*command, *which, "--rename", "NFaiRR@3=Neutrality"]) == 0
        said = capsys.readouterr()
        first, second = (line for line in said.out.splitlines() if " of query 'q1'" in line)
        assert (first.partition(" of ")[0], second.partition(" of ")[0]) == ("Neutrality", "FaiRR@2")
        assert "NFaiRR@3" in said.out
    assert main([*command, "--query", "q1", "--rename", "RR=x"]) == 2
    assert "'RR'" in capsys.readouterr().err


def test_jsonl_is_for_each_measure_what_explain_gives_for_it_alone(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing that one measure needs, as a background, changes what is said of another."""
    names = ["nDCG@2", "NFaiRR@3", "TED@2", "0.5*nDCG@2 + 0.5*NFaiRR@3", "FaiRR@2"]
    command = ["explain", "bm25.trec", "--query", "q1", "-m", " ".join(names), "--words"]
    command += ["counts.parquet", "--qrels", "qrels.txt", "--background", "collection"]
    assert main([*command, "--depth", "1", "--format", "jsonl"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    run = er.read_run("bm25.trec", name="bm25")
    known = {"words": "counts.parquet", "qrels": "qrels.txt", "background": "collection"}
    alone = [er.explain(run, name, "q1", depth=1, **known).to_dict() for name in names]
    for line, own in zip(found, alone, strict=True):
        assert line == json.loads(json.dumps(own))


def test_rows_for_programs_and_papers(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each rank with every digit; a column that one measure lacks is empty for it."""
    command = ["explain", "bm25.trec", "--query", "q1", "-m", "NFaiRR@3 nDCG@3", "--words", "counts.parquet"]
    command += ["--qrels", "qrels.txt", "--format"]
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        assert main([*command, form]) == 0
        rows = list(csv.DictReader(capsys.readouterr().out.splitlines(), delimiter=delimiter))
        assert [row["measure"] for row in rows] == ["NFaiRR@3"] * 3 + ["nDCG@3"] * 3
        assert {row["query"] + row["run"] for row in rows} == {"q1bm25"}
        assert float(rows[1]["adds"]) == pytest.approx(float(rows[2]["adds"]) * math.log2(4) / math.log2(3))
        assert len(rows[1]["adds"]) > 10
        assert (rows[3]["neutrality"], rows[1]["words"]) == ("", "female: she 1; male: he 1")
    assert main([*command, "markdown"]) == 0
    out = capsys.readouterr().out
    assert "| rank | document |" in out.replace("  ", " ")
    assert "NFaiRR@3 of query 'q1'" in out
    assert main([*command, "latex"]) == 0
    assert capsys.readouterr().out.count(r"\begin{tabular}") == 2


def test_notes_of_all_lists_stand_once(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = "".join(
        f"{query} Q0 {name} {rank} {-rank} x\n" for query in "pqr" for rank, name in enumerate("abcd")
    )
    (files / "three.trec").write_text(run)
    command = ["explain", "three.trec", "--worst", "3", "-m", "FaiRR@3 TED@3", "--words", "plain.parquet"]
    assert main(command) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.count(" of query ") == 6
    assert out.count("--terms") == 1


def test_shares_of_groups_are_words(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "sides.csv").write_text("document,side\na,left\nb,both\nc,right\nd,left\n")
    side = "side=sides.csv:values=left,right:even=both"
    assert main(["explain", "bm25.trec", "--query", "q1", "-m", "GF@4", "--groups", side]) == 0
    out = capsys.readouterr().out
    assert "left 0.5, right 0.5" in out
    assert "{" not in out


@pytest.mark.parametrize(
    ("options", "code", "names"),
    [
        (["--query", "q2", "-m", "FaiRR@3", "--words", "counts.parquet"], 1, ["'q2'", "'bm25'"]),
        (["--query", "q1", "-m", "FaiRR@3"], 2, ["FaiRR@3", "--words"]),
        (["--query", "q1", "-m", "FaiRRR@3"], 2, ["FaiRRR", "FaiRR"]),
        (["--query", "q1", "--worst", "2", "-m", "FaiRR@3"], 2, ["--query", "--worst"]),
        (["--query", "q1", "-m", "nDCG@3", "--background", "collection"], 2, ["--words"]),
        (["--query", "q1", "-m", "nDCG@3", "--depth", "0"], 2, ["--depth", "'0'"]),
        (["--query", "q1", "-m", "nDCG@3", "--qrels", "no.txt"], 1, ["no.txt"]),
    ],
)
def test_wrong_usage_is_named(
    files: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, names: list[str]
) -> None:
    assert main(["explain", "bm25.trec", *options]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert all(name in captured.err for name in names)
