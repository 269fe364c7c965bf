"""What is wrong with several files is said at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Evenrank = Callable[..., SimpleNamespace]


@pytest.fixture
def bad(files: Path) -> Path:
    (files / "one.trec").write_text("q1 Q0 a 1 nan x\n")
    (files / "two.trec").write_text("q1 Q0 a\n")
    (files / "bad.qrels").write_text("q1 0 a x\n")
    (files / "bad.csv").write_text("document,g\na,f,m\n")
    (files / "bad.txt").write_bytes(b"\xff\n")
    (files / "many").mkdir()
    for name in ("a", "b", "c"):
        (files / "many" / name).write_text("nothing\n" if name != "b" else "q1 Q0 a 1 2 x\n")
    return files


SAID = {
    "one.trec:1: score 'nan' is not finite": "one.trec",
    "two.trec:1: 3 fields": "two.trec",
    "bad.qrels:1: grade 'x'": "bad.qrels",
    "bad.csv:2: 3 columns": "bad.csv",
    "bad.txt:1: is not UTF-8": "bad.txt",
}
EVIDENCE = ["--qrels", "bad.qrels", "--groups", "g=bad.csv"]


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "one.trec", "two.trec", "-m", "P@1", "--queries", "bad.txt"],
        ["compare", "one.trec", "two.trec", "-m", "P@1", "--queries", "bad.txt"],
        ["select", "one.trec", "two.trec", "--relevance", "P@1", "--fairness", "GF@1"],
        ["explain", "one.trec", "-m", "P@1", "--query", "q1"],
        ["rerank", "one.trec", "--with", "Random", "-o", "o.trec", "--table", "p=two.csv"],
        ["evaluate", "bm25.trec", "--against", "two.trec", "-m", "P@1"],
        ["report", "one.trec", "bm25.trec", "two.trec", "-m", "P@1", "-o", "o.html", "--queries", "bad.txt"],
    ],
    ids=lambda command: f"{command[0]} {command[1]}",
)
def test_all_bad_files_are_told(evenrank: Evenrank, bad: Path, command: list[str]) -> None:
    (bad / "two.csv").write_text("a,b\n1,2\n")
    done = evenrank(*command, *EVIDENCE)
    assert done.code == 1, done.err
    wanted = [what for what, file in SAID.items() if file in [*command, *EVIDENCE, "bad.csv"]]
    assert len(wanted) > 2
    assert [what for what in wanted if what not in done.err] == []
    assert "unexpected" not in done.err
    assert ("two.csv: no column" in done.err) == (command[0] == "rerank")


def test_all_bad_files_of_a_folder_are_told(evenrank: Evenrank, bad: Path) -> None:
    done = evenrank("evaluate", "many", "one.trec", "--qrels", "bad.qrels", "-m", "P@1")
    assert done.code == 1
    for what in ("many/a:1: 1 field", "many/c:1: 1 field", "one.trec:1: ", "bad.qrels:1: "):
        assert what in done.err
    assert "many/b" not in done.err


def test_files_of_scores_too(evenrank: Evenrank, bad: Path) -> None:
    (bad / "s.csv").write_text("x\n")
    (bad / "t.csv").write_text("y\n")
    done = evenrank("compare", "--scores", "s.csv", "--scores", "t.csv")
    assert done.code == 1
    assert "s.csv:1: " in done.err
    assert "t.csv:1: " in done.err


def test_not_every_one_of_very_many(evenrank: Evenrank, bad: Path) -> None:
    names = [f"r{n}.trec" for n in range(25)]
    for name in names:
        (bad / name).write_text("x\n")
    done = evenrank("evaluate", *names, "-m", "P@1", "--qrels", "qrels.txt")
    assert done.code == 1
    assert sum(f"{name}:1: " in done.err for name in names) == 20
    assert "and 5 further files with problems" in done.err


def test_a_background_is_a_table_with_columns_of_its_own_too(evenrank: Evenrank, files: Path) -> None:
    (files / "run.csv").write_text("query,ware,score\nq1,a,2\nq1,b,1\n")
    (files / "d.tsv").write_text("a\tshe\nb\the\n")
    (files / "two.trec").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n")
    assert evenrank("scan", "d.tsv", "--lexicon", "gender-en", "-o", "c.parquet").code == 0
    (files / "evenrank.toml").write_text(
        '[data]\nwords = "c.parquet"\nruns = ["two.trec"]\n'
        'background = { file = "run.csv", columns = { document = "ware" } }\n'
    )
    done = evenrank("evaluate", "-m", "NFaiRR@2")
    assert done.code == 0, done.err
