"""Who writes behind the name of a file how it is read is told what to write, and that works."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Evenrank = Callable[..., SimpleNamespace]

BEHIND = {
    "judgements": (["--qrels", "q.txt:format=tsv"], "AP"),
    "clicks": (["--qrels", "clicks.csv:clicks:eta=0.7"], "AP"),
    "labels of polarity": (["--polarity", "labels.csv:positive=pro"], "DUO"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("r.trec").write_text("q Q0 a 1 2 r\nq Q0 b 2 1 r\n")
    Path("q.txt").write_text("query\tdocument\tgrade\nq\ta\t1\nq\tb\t0\n")
    Path("clicks.csv").write_text("query,document,rank,clicked\nq,a,1,1\nq,b,2,0\n")
    Path("labels.csv").write_text("document,polarity\na,pro\nb,con\n")
    Path("grades.txt").write_text("q 0 a 1\nq 0 b 0\n")
    Path("intents.txt").write_text("q 1 a 1\nq 2 b 1\nq 2 a 0\n")
    return tmp_path


@pytest.mark.parametrize("case", BEHIND)
def test_what_the_message_says_to_write_works(case: str, evenrank: Evenrank) -> None:
    option, measure = BEHIND[case]
    outcome = evenrank("evaluate", "r.trec", *option, "-m", measure)
    assert outcome.code == 2
    found = re.search(r"\[(data\.[a-z]+)\]: (file = .*?) \(try:", " ".join(outcome.err.split()))
    assert found is not None, outcome.err
    Path("evenrank.toml").write_text(f"[{found[1]}]\n" + found[2].replace(", ", "\n"))
    outcome = evenrank("evaluate", "r.trec", "-m", measure)
    assert outcome.code == 0, outcome.err


def test_judgements_by_intent_have_an_option(evenrank: Evenrank) -> None:
    outcome = evenrank("evaluate", "r.trec", "--qrels", "intents.txt:intents", "-m", "ERR_IA@2")
    assert outcome.code == 2
    assert "--intents intents.txt" in outcome.err
    assert evenrank("evaluate", "r.trec", "--intents", "intents.txt", "-m", "ERR_IA@2").code == 0


def test_a_word_that_says_nothing_is_not_sent_to_the_project_file(evenrank: Evenrank) -> None:
    outcome = evenrank("evaluate", "r.trec:zip", "--qrels", "grades.txt", "-m", "AP")
    assert outcome.code == 2
    assert "'zip'" in outcome.err
    assert "project" not in outcome.err


def test_a_command_without_a_project_file_names_none(evenrank: Evenrank) -> None:
    arguments = ("lexicon", "sensitivity", "--words", "counts.parquet", "-m", "NFaiRR@2")
    outcome = evenrank(*arguments, "r.trec:format=csv")
    assert outcome.code == 2
    assert "'format=csv'" in outcome.err
    assert "project" not in outcome.err


@pytest.mark.parametrize("more", ['positive = "pro"', ""])
def test_columns_of_polarity_are_named_in_its_table(more: str, evenrank: Evenrank) -> None:
    value, score = ("side", "pro,con") if more else ("lean", "1,-1")
    first, second = score.split(",")
    Path("p.csv").write_text(f"sku,{value}\na,{first}\nb,{second}\n")
    role = "value" if more else "score"
    columns = f'columns = {{document = "sku", {role} = "{value}"}}'
    Path("evenrank.toml").write_text(f'[data.polarity]\nfile = "p.csv"\n{columns}\n{more}\n')
    outcome = evenrank("evaluate", "r.trec", "-m", "DUO", "--format", "tsv")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[1].split("\t")[1:]


def test_a_column_of_categories_is_renamed(evenrank: Evenrank) -> None:
    Path("by.csv").write_text("asked,category\nq,x\n")
    arguments = ("evaluate", "r.trec", "--qrels", "grades.txt", "-m", "AP", "--by", "by.csv")
    outcome = evenrank(*arguments)
    assert outcome.code == 1
    assert "project" not in outcome.err
    assert "rename the column" in outcome.err
    Path("by.csv").write_text("query,category\nq,x\n")
    assert evenrank(*arguments).code == 0
