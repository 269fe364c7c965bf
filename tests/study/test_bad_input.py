"""What is wrong with a study's folder: one clear error, with the file and the way out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import study_walks as walks

from evenrank.errors import DataError
from evenrank.study.conditions import load_study
from evenrank.study.settings import read_settings


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
    "one side only": (
        documents(lambda row: row["question"] != "cars" or row["side"] == "for"),
        "synthetic.jsonl: question 'cars' has one side only: none of its documents is against",
    ),
    "one document": (
        documents(lambda row: row["question"] != "cars" or row["id"] == "cars-s1"),
        "question 'cars' has 1 documents; a list whose order matters needs at least 3",
    ),
    "a side that is never first": (
        documents(lambda row: row["question"] != "cars" or row["side"] == "for" or row["id"] == "cars-s2"),
        "no order of the documents of question 'cars' leans to the side 'against'",
    ),
    "no consent text": (remove("consent.txt"), "consent.txt: no such file: it is the text"),
    "empty consent text": (edit("consent.txt", r"(?s).+", " \n"), "consent.txt: is empty: write what"),
    "no polarity": (
        edit("study.toml", r'polarity = \{ labels = "side", graded = "strength" \}', ""),
        "corpora.synthetic: has no polarity, so its lists cannot be ordered",
    ),
    "a document without polarity": (
        edit("corpora/natural.jsonl", r'"side": "against", "strength": -0.3', '"strength": -0.3'),
        "natural.jsonl:1: document 'cars-n1' has no polarity: field 'side' must be a number",
    ),
    "a missing file of polarity": (
        edit("study.toml", r'graded = "strength"', 'graded = "minilm.parquet"'),
        "minilm.parquet: no such file: corpora.synthetic.polarity.graded names it",
    ),
    "no contact": (edit("study.toml", r"(?m)^contact.*$", ""), "contact is missing: contact = "),
    "no retention date": (edit("study.toml", r"(?m)^retention.*$", ""), "retention is missing"),
    "no content warning": (edit("texts.toml", r"\[warning\]", "[warnung]"), "there is no table [warning]"),
    "an unknown setting": (edit("study.toml", r"minimum_words", "minimal_words"), "mean minimum_words"),
    "a wrong value": (edit("study.toml", r"results = 10", "results = 40"), "number from 2 to 10, got 40"),
    "a text without its page": (edit("texts.toml", r"(?m)^agree = .*$", ""), "[consent] has no text 'agree'"),
    "an unknown word in braces": (
        edit("texts.toml", r"\{contact\}\.", "{phone}."),
        "{phone} is not filled in here",
    ),
    "no such corpus": (edit("study.toml", r'= "natural"', '= "nature"'), "no corpus is 'nature'"),
    "one condition": (
        edit("study.toml", r"(?s)\[\[conditions\]\].*\[attention\]", "[attention]"),
        "there must be at least two conditions",
    ),
    "a condition without an order": (
        edit("study.toml", r'order = "MinDUO"\nfirst = "for"', ""),
        'conditions 3: needs either order = "MaxDUO" or "MinDUO", or run = ',
    ),
    "too many questions": (
        edit("study.toml", r"questions_each = 3", "questions_each = 4"),
        "questions_each is 4, but there are 3 questions",
    ),
    "a question twice": (
        edit("questions.csv", r"homework,", "cars,"),
        "questions.csv:3: question 'cars' stands there twice",
    ),
    "no perspective": (edit("questions.csv", r"perspective", "view"), "csv:1: no column 'perspective'"),
    "broken JSON": (edit("corpora/synthetic.jsonl", r"^\{", "{{"), "synthetic.jsonl:1: is not a JSON object"),
    "no title": (edit("corpora/synthetic.jsonl", r'"title": "[^"]*"', '"title": ""'), "title must be a text"),
    "a wrong check": (edit("study.toml", r"correct = .*", 'correct = "x"'), "correct, which is one of"),
    "a redirect without https": (
        edit("study.toml", r"# \[panel\]", '[panel]\nparameter = "P"\nredirect = "javascript:alert(1)"\n#'),
        "panel: redirect must be an address that begins with https://",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_clear_error(tmp_path: Path, name: str) -> None:
    change, said = CASES[name]
    folder = walks.write_study(tmp_path / "study")
    change(folder)
    with pytest.raises(DataError) as caught:
        load_study(read_settings(folder))
    assert said in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_folder_that_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such file: evenrank study new .* writes an example"):
        read_settings(tmp_path)


def test_a_store_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read_settings(walks.write_study(tmp_path / "study", store='"$STUDY_STORE"'))
    monkeypatch.delenv("STUDY_STORE", raising=False)
    with pytest.raises(DataError, match="the environment has no STUDY_STORE"):
        settings.store_address  # noqa: B018
    monkeypatch.setenv("STUDY_STORE", "postgresql://host/base")
    assert settings.store_address == "postgresql://host/base"
