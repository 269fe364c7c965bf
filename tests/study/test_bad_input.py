"""What is wrong with a study's folder: one clear error, with the file and the way out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import study_walks as walks

from evenrank.cli import main


def edit(name: str, pattern: str, replacement: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        text, count = re.subn(pattern, lambda _: replacement, path.read_text(encoding="utf-8"))
        assert count, pattern
        path.write_text(text, encoding="utf-8")

    return change


def documents(keep: Callable[[dict[str, str]], bool]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "corpora/synthetic.jsonl"
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        path.write_text("".join(json.dumps(row) + "\n" for row in rows if keep(row)), encoding="utf-8")

    return change


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


CASES = {
    "one document": (
        documents(lambda row: row["question"] != "cars" or row["id"] == "cars-s1"),
        ["cars", "3"],
    ),
    "a side that is never first": (
        documents(lambda row: row["question"] != "cars" or row["side"] == "for" or row["id"] == "cars-s2"),
        ["cars", "against"],
    ),
    "empty consent text": (edit("consent.txt", r"(?s).+", " \n"), ["consent.txt"]),
    "no polarity": (
        edit("study.toml", r'polarity = \{ labels = "side", graded = "strength" \}', ""),
        ["corpora.synthetic", "polarity"],
    ),
    "a document without polarity": (
        edit("corpora/natural.jsonl", r'"side": "against", "strength": -0.3', '"strength": -0.3'),
        ["natural.jsonl:1", "cars-n1", "side"],
    ),
    "a missing file of polarity": (
        edit("study.toml", r'graded = "strength"', 'graded = "minilm.parquet"'),
        ["minilm.parquet"],
    ),
    "no contact": (edit("study.toml", r"(?m)^contact.*$", ""), ["contact"]),
    "no retention date": (edit("study.toml", r"(?m)^retention.*$", ""), ["retention"]),
    "no content warning": (edit("texts.toml", r"\[warning\]", "[warnung]"), ["[warning]"]),
    "a wrong value": (edit("study.toml", r"results = 10", "results = 40"), ["results", "2", "10", "40"]),
    "a text without its page": (edit("texts.toml", r"(?m)^agree = .*$", ""), ["[consent]", "agree"]),
    "an unknown word in braces": (
        edit("texts.toml", r"\{contact\}\.", "{phone}."),
        ["{phone}"],
    ),
    "no such corpus": (edit("study.toml", r'= "natural"', '= "nature"'), ["nature"]),
    "one condition": (
        edit("study.toml", r"(?s)\[\[conditions\]\].*\[attention\]", "[attention]"),
        ["conditions"],
    ),
    "a condition without an order": (
        edit("study.toml", r'order = "MinDUO"\nfirst = "for"', ""),
        ["conditions 3", "order", "run"],
    ),
    "too many questions": (
        edit("study.toml", r"questions_each = 3", "questions_each = 4"),
        ["questions_each", "4", "3"],
    ),
    "a question twice": (
        edit("questions.csv", r"homework,", "cars,"),
        ["questions.csv:3", "cars"],
    ),
    "no perspective": (edit("questions.csv", r"perspective", "view"), ["questions.csv:1", "perspective"]),
    "broken JSON": (edit("corpora/synthetic.jsonl", r"^\{", "{{"), ["synthetic.jsonl:1"]),
    "no title": (edit("corpora/synthetic.jsonl", r'"title": "[^"]*"', '"title": ""'), ["title"]),
    "a wrong check": (edit("study.toml", r"correct = .*", 'correct = "x"'), ["correct"]),
    "a redirect without https": (
        edit("study.toml", r"# \[panel\]", '[panel]\nparameter = "P"\nredirect = "javascript:alert(1)"\n#'),
        ["redirect", "https://"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_clear_error(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    change, words = CASES[name]
    folder = walks.write_study(tmp_path / "study")
    change(folder)
    assert main(["study", "check", str(folder)]) == 1
    said = capsys.readouterr().err
    assert [word for word in (str(folder), *words) if word not in said] == []


def test_a_store_is_named_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = walks.write_study(tmp_path / "study", store='"$STUDY_STORE"')
    monkeypatch.delenv("STUDY_STORE", raising=False)
    assert main(["study", "status", str(folder)]) == 1
    assert "STUDY_STORE" in capsys.readouterr().err
    monkeypatch.setenv("STUDY_STORE", str(tmp_path / "elsewhere.sqlite"))
    assert main(["study", "status", str(folder)]) == 1
    assert "elsewhere.sqlite" in capsys.readouterr().err
