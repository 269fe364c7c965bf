"""A language model as an annotator: its sheet, answers that cannot be read, and that it never decides."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from chat_server import Call, ChatServer
from echoes import KEY, echoed, leaks

from evenrank.queryset import Procedure, decide, read_sheets

Evenrank = Callable[..., SimpleNamespace]
TEXTS = {"1": "best school", "2": "who is he", "3": 'say "n" {"label": "f"}', "4": "a list", "5": "fenced"}
SAID = {
    "best school": '{"label": "n"}',
    "who is he": "The label is m, because of the word he.",
    'say "n"': '{"label": "x"}',
    "a list": "[1]",
    "fenced": '```json\n{"label": "f"}\n```',
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENRANK_MODEL_KEY", "hunter2")
    with Path("queries.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["query", "text"], *TEXTS.items()])
    return tmp_path


def settings(url: str, **more: Any) -> None:
    lines = {"url": url, "name": "m1", "key": "EVENRANK_MODEL_KEY", "rate": 100000.0, "retries": 0, **more}
    text = "\n".join(f"{name} = {json.dumps(value)}" for name, value in lines.items())
    Path("gender.toml").write_text(f"workers = 1\n[model]\n{text}\n")


def scripted(call: Call, number: int) -> Callable[[Call], None]:
    said = next(answer for text, answer in SAID.items() if json.dumps(text)[1:-1] in call.prompt)
    return lambda one: one.say(said)


def ask(evenrank: Evenrank, *files: str, output: str = "model.csv") -> SimpleNamespace:
    return evenrank("queryset", "ask", *files, "--procedure", "gender.toml", "-o", output)


def test_the_sheet_of_a_model_is_marked_and_unread_answers_are_listed(evenrank: Evenrank) -> None:
    with ChatServer(scripted).running() as server:
        settings(server.url)
        done = ask(evenrank, "queries.csv")
        assert done.code == 0, done.err
        assert server.authorizations == {"Bearer hunter2"}
        calls = len(server.calls)
        assert ask(evenrank, "queries.csv").code == 0  # everything is on disk
        assert len(server.calls) == calls == 5
    assert "query 2: the answer is not JSON, so the vote is missing: 'The label is m, because" in done.err
    assert "query 3: the answer has none of the labels n, m, f, o, so the vote is missing" in done.err
    assert "query 4: the answer is not a JSON object, so the vote is missing: '[1]'" in done.err
    votes = read_sheets(["model.csv"], Procedure())
    assert votes.machines == {"model:m1"}
    assert {query: own["model:m1"] for query, own in votes.labels.items()} == {"1": "n", "5": "f"}
    assert b"hunter2" not in Path("model.answers.jsonl.zst").read_bytes()


def test_a_key_that_a_server_repeats_is_in_no_file(
    evenrank: Evenrank, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENRANK_MODEL_KEY", KEY)
    with ChatServer(scripted, echo=echoed).running() as server:
        settings(server.url)
        done = ask(evenrank, "queries.csv")
        assert server.authorizations == {f"Bearer {KEY}"}
    assert done.code == 0, done.err
    assert "***" in done.err
    assert leaks(folder, done.out, done.err) == []


def test_it_never_decides_and_its_agreement_is_beside_that_of_people(evenrank: Evenrank) -> None:
    for who in ("a", "b"):
        rows = [[who, query, text, "n"] for query, text in TEXTS.items()]
        with Path(f"{who}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["annotator", "query", "text", "label"], *rows])
    procedure = Procedure(workers=2)
    alone = decide(read_sheets(["a.csv", "b.csv"], procedure), procedure)
    with ChatServer(scripted).running() as server:
        settings(server.url)
        ask(evenrank, "queries.csv")
    assert decide(read_sheets(["a.csv", "b.csv", "model.csv"], procedure), procedure) == alone
    done = evenrank("queryset", "collect", "a.csv", "b.csv", "model.csv", "--procedure", "gender.toml")
    assert done.code == 0, done.err
    assert "agreement of machines with people" in done.out
    assert "model:m1 has no label of 3 queries: '2', '3', '4'" in done.out


def test_a_server_that_fails_keeps_what_was_answered(evenrank: Evenrank) -> None:
    def broken(call: Call, number: int) -> Callable[[Call], None]:
        if "a list" in call.prompt and number == 0:
            return lambda one: one.send({"error": "no"}, 400)
        return scripted(call, number)

    with ChatServer(broken).running() as server:
        settings(server.url)
        failed = ask(evenrank, "queries.csv")
        assert failed.code != 0
        assert "(3 of 5 answers are kept in model.answers.jsonl.zst: the same command goes on" in failed.err
        assert not Path("model.csv").exists()
        assert ask(evenrank, "queries.csv").code == 0
        assert max(server.seen.values()) == 2  # what failed, and nothing else, was asked again
        assert len(server.calls) == 6


def test_opinions_of_a_model(evenrank: Evenrank) -> None:
    answers = {
        "best school": {"non_gendered": "Yes", "problematic": "yes", "domains": ["Education", "Sport"],
                        "reason": "who\nteaches"},
        "who is he": {"non_gendered": "no"},
        "a list": {"non_gendered": "yes", "problematic": "perhaps"},
    }  # fmt: skip

    def opinion(call: Call, number: int) -> Callable[[Call], None]:
        found = next((answer for text, answer in answers.items() if text in call.prompt), None)
        return lambda one: one.say(json.dumps(found), "length" if found is None else "stop")

    rows = [["w", query, text, "n"] for query, text in TEXTS.items()]
    with Path("w.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["annotator", "query", "text", "label"], *rows])
    with ChatServer(opinion).running() as server:
        settings(server.url)
        done = ask(evenrank, "w.csv", output="experts.csv")
    assert done.code == 0, done.err
    assert "query 1: unknown domain 'Sport', which is left out" in done.err
    assert "query 4: the answer has no yes or no to problematic, so the vote is missing" in done.err
    assert "query 5: the answer did not end by itself (length), so the vote is missing" in done.err
    votes = read_sheets(["w.csv", "experts.csv"], Procedure(workers=1))
    assert votes.problems == ()
    assert votes.opinions["1"]["model:m1"] == ((True, True), ("Education",), "who teaches")
    assert votes.opinions["2"]["model:m1"].answers == (False, None)
    assert set(votes.opinions) == {"1", "2"}


def test_settings_and_files_that_cannot_be_used(evenrank: Evenrank) -> None:
    def refused(*words: str) -> None:
        done = ask(evenrank, "queries.csv")
        assert done.code == 1
        assert [word for word in ("gender.toml", *words) if word not in done.err] == []
        assert not Path("model.csv").exists()

    Path("gender.toml").write_text("workers = 1\n")
    refused("[model]")
    settings("http://127.0.0.1:9/v1", color="red")
    refused("[model]", "color")
    settings("http://127.0.0.1:9/v1", max_tokens="many")
    refused("max_tokens", "many")
    settings("http://127.0.0.1:9/v1")
    Path("model.csv").write_text("annotator,query,text,label\nann,1,best school,n\n")
    assert "may hold votes of people" in ask(evenrank, "queries.csv").err
    with ChatServer(lambda call, number: lambda one: one.say("{}", model="m2")).running() as server:
        settings(server.url)
        assert 'write answers_as = "m2" below [model]' in ask(evenrank, "queries.csv", output="o.csv").err
