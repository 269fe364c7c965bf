"""The study from consent to the end: the order of its steps, and that none is skipped, repeated or lost."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import study_walks as walks

ASKED = ["What do you think now?", "Search", "Results", "What do you think after your search?"]


def test_the_whole_journey(client: Any) -> None:
    pages = walks.walk(client)
    assert [walks.heading(page) for page in pages] == [
        "Your consent", "Your age", "Before you begin", *ASKED, "A short check", *ASKED, *ASKED,
        "Anything to add?", "What this study is about", "Thank you",
    ]  # fmt: skip
    steps = walks.rows(client, "SELECT position, name, answers FROM steps ORDER BY position")
    assert [place for place, _, _ in steps] == list(range(len(pages) - 1))
    asked = [json.loads(answers)["question"] for _, name, answers in steps if name == "prior"]
    assert sorted(asked) == ["cars", "homework", "museums"]  # each once
    assert walks.rows(client, "SELECT standing FROM standings") == [("finished",)]
    assert walks.heading(client.get("/").text) == "Thank you"  # and nothing goes on after the end


def test_results_are_hidden_until_the_prior_is_given(client: Any) -> None:
    pages = walks.walk(client, until="Results")
    titles = titles_of(client.served.folder)
    for page in pages[:-1]:
        assert not any(title in unescape(page) for title in titles.values())
    assert walks.rows(client, "SELECT COUNT(*) FROM assignments") == [(1,)]
    shown = json.loads(walks.rows(client, "SELECT shown FROM assignments")[0][0])
    read = unescape(pages[-1])
    places = [read.index(f">{titles[name]}<") for name in shown["shown"]]
    assert places == sorted(places)  # in the order that was stored
    assert set(shown["leanings"]) == {"labels", "graded"}
    assert set(shown["versions"]) == {"evenrank", "study", "fingerprint"}


def titles_of(folder: Path) -> dict[str, str]:
    lines = [
        line
        for file in (folder / "corpora").iterdir()
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return {record["id"]: record["title"] for record in map(json.loads, lines)}


def test_a_step_is_taken_once(client: Any) -> None:
    """A form that is sent again, from this tab or another, leads to the step that is due."""
    first = walks.walk(client, until="What do you think now?")[-1]
    second = client.get("/").text  # another tab
    assert walks.heading(walks.send(client, first, opinion="2")) == "Search"
    for page in (first, second):
        assert walks.heading(walks.send(client, page, opinion="-3")) == "Search"
    found = walks.rows(client, "SELECT answers FROM steps WHERE name = 'prior'")
    assert [json.loads(answers)["opinion"] for (answers,) in found] == [2]


def test_consent_sent_twice_makes_one_participant(client: Any) -> None:
    page = client.get("/").text
    for _ in range(2):
        walks.send(client, page, consent="agree")
    assert walks.rows(client, "SELECT COUNT(*) FROM participants") == [(1,)]


def test_a_form_of_another_step_changes_nothing(client: Any) -> None:
    pages = walks.walk(client, until="What do you think now?")
    for page in pages[1:-1]:
        answer = client.post("/", data={"token": walks.token(page), "opinion": "3"})
        assert walks.heading(answer.text) == "What do you think now?"
    assert walks.rows(client, "SELECT COUNT(*) FROM steps") == [(3,)]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (
            {"opinion": "Yes yes yes.", "quote": ""},
            "has 1 different words; at least 12 are needed.",
        ),
        ({"opinion": walks.TEXT, "quote": "too short"}, "has 2 words; at least 4 are needed"),
        (
            {"opinion": walks.TEXT, "quote": "these words stand in no result"},
            "does not stand in any",
        ),
        ({"opinion": "x " * 4000, "quote": "a"}, "at most 5000 characters"),
    ],
)
def test_an_opinion_quotes_evidence(client: Any, answers: dict[str, str], said: str) -> None:
    page = walks.walk(client, until="Results")[-1]
    refused = walks.send(client, page, **answers)
    assert walks.heading(refused) == "Results"
    assert said in refused
    assert answers["quote"] in refused  # what was written stays
    assert walks.rows(client, "SELECT COUNT(*) FROM steps WHERE name = 'results'") == [(0,)]
    quote = walks.quote_of(page).upper().replace(" ", "\n - ", 1)  # case and punctuation do not matter
    assert walks.heading(walks.send(client, page, opinion=walks.TEXT, quote=quote)) == ASKED[-1]


def test_every_choice_must_be_made(client: Any) -> None:
    for name in ("Your consent", "Your age", "What do you think now?"):
        page = walks.walk(client, until=name)[-1]
        answer = client.post("/", data={"token": walks.token(page)})
        assert answer.status_code == 422
        assert walks.heading(answer.text) == name
        assert 'role="alert"' in answer.text
    for wrong in ("4", "-4", "0.5", "", "٣", "1 "):
        assert client.post("/", data={"token": walks.token(page), "opinion": wrong}).status_code == 422


def test_who_declines_or_is_too_young_leaves_nothing(client: Any) -> None:
    page = client.get("/").text
    assert walks.heading(walks.send(client, page, consent="decline")) == "You have not taken part"
    assert walks.rows(client, "SELECT COUNT(*) FROM participants") == [(0,)]
    page = walks.walk(client, until="Your age")[-1]
    assert walks.heading(walks.send(client, page, eligible="no")) == "You cannot take part"
    assert walks.heading(client.get("/").text) == "You cannot take part"
    assert walks.rows(client, "SELECT COUNT(*) FROM steps") == [(2,)]


SLOW = pytest.mark.slow  # the same at further steps


@pytest.mark.parametrize(
    ("choice", "until"),
    [
        ("keep", "Your age"),
        ("delete", "Results"),
        *(
            pytest.param(choice, until, marks=SLOW)
            for choice in ("keep", "delete")
            for until in ("What this study is about", "Thank you")
        ),
    ],
)
def test_withdrawing_at_any_step(client: Any, until: str, choice: str) -> None:
    walks.walk(client, until=until)
    before = walks.rows(client, "SELECT COUNT(*) FROM steps")[0][0]
    assigned = walks.rows(client, "SELECT COUNT(*) FROM assignments")
    page = client.get("/withdraw").text
    assert client.post("/withdraw", data={"token": walks.token(page)}).status_code == 422
    answer = client.post("/withdraw", data={"token": walks.token(page), "answers": choice})
    assert walks.heading(answer.text) == "You have withdrawn"
    deleted = choice == "delete"
    assert walks.rows(client, "SELECT COUNT(*) FROM steps") == [(0 if deleted else before,)]
    assert walks.rows(client, "SELECT COUNT(*) FROM assignments") == assigned  # the places stay taken
    if deleted:
        assert walks.rows(client, "SELECT COUNT(*) FROM assignments WHERE participant IS NOT NULL") == [(0,)]
    else:
        assert walks.heading(client.get("/").text) == "You have withdrawn"


def test_a_panel_sends_each_participant_once(tmp_path: Path, serve: Any) -> None:
    folder = walks.write_study(tmp_path / "study")
    file = folder / "study.toml"
    panel = (
        '[panel]\nparameter = "PID"\ncode = "C77"\nredirect = "https://panel.example.org/done?cc={code}"\n'
    )
    file.write_text(file.read_text(encoding="utf-8") + panel, encoding="utf-8")
    client = walks.visitor(serve(folder))
    assert walks.heading(client.get("/").text) == "The link is not complete"
    assert walks.heading(client.get("/?PID=<b>").text) == "The link is not complete"
    pages = walks.walk(client, "/?PID=abc123")
    assert 'href="https://panel.example.org/done?cc=C77"' in pages[-1]
    client.cookies.clear()
    assert walks.heading(client.get("/?PID=abc123").text) == "You have already taken part"
    assert walks.heading(client.get("/?PID=abc124").text) == "Your consent"
    assert walks.rows(client, "SELECT panel_id FROM identities") == [("abc123",)]
    for table in ("steps", "events", "assignments", "planned", "participants"):  # the id is nowhere else
        assert "abc123" not in str(walks.rows(client, f"SELECT * FROM {table}"))


@pytest.mark.slow
def test_two_arrivals_of_one_panel_id_at_once(tmp_path: Path, serve: Any) -> None:
    """Both see the consent page before either agrees."""
    folder = walks.write_study(tmp_path / "study")
    file = folder / "study.toml"
    file.write_text(file.read_text(encoding="utf-8") + '[panel]\nparameter = "PID"\n', encoding="utf-8")
    served = serve(folder)
    one, two = walks.visitor(served), walks.visitor(served)
    pages = [client.get("/?PID=x").text for client in (one, two)]
    found = [
        walks.heading(walks.send(client, page, consent="agree"))
        for client, page in zip((one, two), pages, strict=True)
    ]
    assert found == ["Your age", "You have already taken part"]
    assert walks.rows(one, "SELECT COUNT(*) FROM participants") == [(1,)]


def test_a_study_that_is_closed_takes_nobody_new(tmp_path: Path, serve: Any) -> None:
    folder = walks.write_study(tmp_path / "study")
    client = walks.visitor(serve(folder))
    walks.walk(client, until="Search")
    session = client.cookies["session"]
    client.served.stop()
    walks.change(folder, closed="true")
    later = walks.visitor(serve(folder))
    assert walks.heading(later.get("/").text) == "This study is closed"
    later.cookies.clear()
    later.cookies.set("session", session)
    assert walks.heading(later.get("/").text) == "Search"  # who has begun may finish
    later.served.stop()
    walks.change(folder, closed="false", retention="2001-01-01")
    assert walks.heading(walks.visitor(serve(folder)).get("/").text) == "This study is closed"


@pytest.mark.slow
def test_an_edited_study_is_refused_or_a_new_version(tmp_path: Path, serve: Any, evenrank: Any) -> None:
    folder = walks.write_study(tmp_path / "study")
    serve(folder).stop()
    walks.change(folder, minimum_words="3")  # nobody has seen it yet
    began = walks.visitor(serve(folder))
    walks.walk(began, until="Search")
    session = began.cookies["session"]
    began.served.stop()
    assert evenrank("study", "check", folder).code == 0
    walks.change(folder, minimum_words="4")
    for action in ("check", "serve"):
        refused = evenrank("study", action, folder)
        assert refused.code == 1
        assert "version = 2" in refused.err
    walks.change(folder, version="2")
    client = walks.visitor(serve(folder))
    assert walks.rows(client, "SELECT version FROM versions ORDER BY version") == [(1,), (2,)]
    client.cookies.set("session", session)
    assert walks.heading(client.get("/").text) == "This study is closed"  # begun with version 1
    client.served.stop()
    walks.change(folder, closed="true", retention="2031-01-01")  # what participants do not see may change
    assert evenrank("study", "check", folder).code == 0
