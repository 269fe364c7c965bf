"""What a study refuses, hides and keeps apart; that nothing is lost when the server is killed."""

from __future__ import annotations

import csv
import json
import re
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pages
import pytest
import study_walks as walks


def test_nothing_about_the_visitor_is_kept(client: Any) -> None:
    """Neither the address nor what the browser says about itself, in any file of the folder."""
    folder = client.served.folder
    client.headers["user-agent"] = "a-browser-of-its-own"
    walks.walk(client)
    said = client.served.stop()
    settings = folder / "study.toml"
    files = [path for path in folder.rglob("*") if path.is_file() and path != settings]
    kept = b"".join(path.read_bytes() for path in files) + "".join(said.splitlines()[1:]).encode()
    for secret in (b"127.0.0.1", b"a-browser-of-its-own", client.cookies["session"].encode()):
        assert secret not in kept


def test_what_participants_write_is_text(client: Any) -> None:
    """Thirty payloads in the opinion, the phrase and the comment come back escaped."""
    page = walks.walk(client, until="Results")[-1]
    tags = re.compile(r"<(?!/?(?:textarea|input|p|li|ul|div|h1|h2|form|label|details|summary|ol|button|a|"
                      r"footer|header|main|html|head|meta|title|link|script|body)\b|!DOCTYPE)")  # fmt: skip
    for payload in pages.PAYLOADS:
        for name in ("opinion", "quote"):
            refused = walks.send(client, page, **{"opinion": "x", "quote": "y", name: payload})
            assert payload not in refused or not set("<>\"'&") & set(payload)
            assert not tags.search(refused)
            assert refused.count("<script") == 1  # the study's own
            assert refused.count("<textarea") == refused.count("</textarea>") == 1


class Elements(HTMLParser):
    """The elements of a page and the names of their attributes: what payloads would add to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(sorted(name for name, _ in attrs))))


@pytest.mark.slow
def test_texts_of_a_study_are_text(tmp_path: Path, serve: Any) -> None:
    """Thirty payloads in every text of the pages, in the title and in the contact: no page has an element or
    an attribute more than with plain words in their places."""
    hostile = json.dumps(" ".join(pages.PAYLOADS), ensure_ascii=False)[1:-1]
    plain = re.sub(r"\W+", " ", hostile)
    walked = {}
    for name, words in (("hostile", hostile), ("plain", plain)):
        folder = walks.write_study(tmp_path / name)
        file = folder / "texts.toml"
        lines = file.read_text(encoding="utf-8").splitlines()
        changed = [re.sub(r'^(\w+ = ")(?!"")', lambda head: head[1] + words, line) for line in lines]  # noqa: B023
        file.write_text("\n".join(changed), encoding="utf-8")
        walks.change(folder, title=f'"{words}"', contact=f'"{words}"')
        client = walks.visitor(serve(folder))
        seen = [client.get("/").text]
        while 'id="code"' not in seen[-1]:
            seen.append(walks.send(client, seen[-1], **walks.answers_to(seen[-1])))
        walked[name] = seen + [client.get(path).text for path in ("/withdraw", "/declined", "/nowhere")]
    assert len(walked["hostile"]) == len(walked["plain"]) > 10
    for page, other in zip(walked["hostile"], walked["plain"], strict=True):
        assert "&lt;img src=x onerror" in page
        assert Elements(page).found == Elements(other).found


def test_events_are_of_the_list_that_is_shown(client: Any) -> None:
    page = walks.walk(client, until="Results")[-1]
    token = walks.EVENTS.search(page)[1]
    usual = {"token": token, "page": "0123456789abcdef", "number": "1", "kind": "open", "rank": "2",
             "milliseconds": "1500"}  # fmt: skip
    assert client.post("/events", data=usual).status_code == 204
    assert client.post("/events", data=usual).status_code == 204  # told twice, kept once
    assert client.post("/events", data={**usual, "number": "2", "rank": "77"}).status_code == 204
    for wrong in (
        {"kind": "explode"},
        {"page": "<b>"},
        {"number": "-1"},
        {"rank": "x"},
        {"milliseconds": ""},
    ):
        assert client.post("/events", data={**usual, **wrong}).status_code == 400
    assert client.post("/events", data={**usual, "token": walks.token(page)}).status_code == 400
    assert client.post("/events", data={**usual, "token": ""}).status_code == 403
    assert walks.rows(client, "SELECT kind, rank, milliseconds FROM events") == [("open", 2, 1500)]
    for _ in range(2):
        page = walks.send(client, page, **walks.answers_to(page))
    client.post("/events", data={**usual, "number": "3"})  # the list is no longer shown
    assert walks.rows(client, "SELECT COUNT(*) FROM events") == [(1,)]


def test_dwell_is_the_time_that_documents_are_open_and_in_sight(client: Any, evenrank: Any) -> None:
    page = walks.walk(client, until="Results")[-1]
    token = walks.EVENTS.search(page)[1]
    for tab, told in (
        ("0123456789abcdef", [
            ("shown", "", 0), ("open", 1, 1000), ("open", 2, 2000), ("close", 1, 4000), ("hidden", "", 5000),
            ("visible", "", 60_000), ("leave", "", 61_000),
        ]),
        ("fedcba9876543210", [("open", 1, 500), ("leave", "", 1500)]),
    ):  # fmt: skip
        for number, (kind, rank, at) in enumerate(told, 1):
            event = {"page": tab, "number": number, "kind": kind, "rank": rank, "milliseconds": at}
            sent = {"token": token} | {name: str(value) for name, value in event.items() if value != ""}
            assert client.post("/events", data=sent).status_code == 204
    walks.walk(client)
    folder = client.served.folder
    assert evenrank("study", "export", folder).code == 0
    with (folder / "export/trials.csv").open(encoding="utf-8", newline="") as file:
        trial = next(row for row in csv.DictReader(file) if row["place"] == "1")
    assert (trial["clicked"], trial["opened"]) == ("true", "2")
    assert float(trial["dwell_seconds"]) == 3 + 1 + 2 + 1 + 1


def test_the_admin_page_needs_the_password(tmp_path: Path, serve: Any) -> None:
    for name, password in (("none", {}), ("empty", {"EVENRANK_STUDY_PASSWORD": ""})):
        served = serve(walks.write_study(tmp_path / name), **password)
        assert walks.visitor(served).get("/admin", auth=("x", "")).status_code == 404
    served = serve(walks.write_study(tmp_path / "study"), EVENRANK_STUDY_PASSWORD="correct horse")
    client = walks.visitor(served)
    refused = client.get("/admin")
    assert (refused.status_code, refused.headers["www-authenticate"].split()[0]) == (401, "Basic")
    assert client.get("/admin", auth=("x", "")).status_code == 401
    assert client.get("/admin", headers={"authorization": "Basic %%%"}).status_code == 401
    walks.walk(client, until="Results")
    answer = client.get("/admin", auth=("anybody", "correct horse"))
    assert answer.status_code == 200
    assert "agreed to take part" in answer.text


def test_deleting_a_participant(tmp_path: Path, serve: Any, evenrank: Any) -> None:
    folder = walks.write_study(tmp_path / "study")
    file = folder / "study.toml"
    file.write_text(file.read_text(encoding="utf-8") + '[panel]\nparameter = "PID"\n', encoding="utf-8")
    client = walks.visitor(serve(folder))
    for name in ("one", "two", "three"):
        client.cookies.clear()
        walks.walk(client, f"/?PID={name}")
    ((code,),) = walks.rows(
        client,
        "SELECT s.code FROM standings s JOIN identities i ON i.participant = s.participant "
        "WHERE i.panel_id = 'two'",
    )
    missing = evenrank("study", "delete", str(folder), "nobody")
    assert (missing.code, missing.err.count("\n")) == (1, 1)
    assert "there is no participant 'nobody'" in missing.err
    assert evenrank("study", "delete", str(folder)).code == 2
    for who in ("one", code):
        assert evenrank("study", "delete", str(folder), who).code == 0
    assert len(walks.rows(client, "SELECT DISTINCT participant FROM steps")) == 1
    assert walks.rows(client, "SELECT panel_id FROM identities WHERE panel_id IS NOT NULL") == [("three",)]
    client.cookies.clear()
    assert walks.heading(client.get("/?PID=one").text) == "You have already taken part"
    assert evenrank("study", "delete", str(folder), "everything").code == 0
    assert walks.rows(client, "SELECT COUNT(*) FROM steps") == [(0,)]
    status = evenrank("study", "status", str(folder)).out
    assert re.search(r"withdrew, answers deleted +3\n", status)


def walk_with_kills(served: walks.Served, sessions: int, kills: int) -> None:
    """Several visitors, and a server that is killed while they are half way; nothing acknowledged is lost."""
    import httpx2

    people = [httpx2.Client(base_url=served.address, timeout=60) for _ in range(sessions)]
    acknowledged = [0] * sessions
    pages_of = [client.get("/").text for client in people]
    for round_ in range(40):
        if round_ < kills:
            # a request that is on its way while the server dies
            dying = threading.Thread(target=served.kill)
            dying.start()
        for place, client in enumerate(people):
            page = pages_of[place]
            if 'id="code"' in page:
                continue
            fields = {"token": walks.token(page), **walks.answers_to(page)}
            try:
                answer = client.post("/", data=fields)
                assert answer.status_code == 303
                acknowledged[place] += 1
            except httpx2.HTTPError:
                pass
        if round_ < kills:
            dying.join()
            served.start()
        pages_of = [client.get("/").text for client in people]
    assert all('id="code"' in page for page in pages_of)
    codes = [re.search(r'id="code"[^>]*>\s*([^<\s]+)', page)[1] for page in pages_of]
    with (folder_of_export(served) / "steps.jsonl").open(encoding="utf-8") as file:
        steps = [json.loads(line) for line in file]
    with (served.folder / "export/identities.csv").open(encoding="utf-8", newline="") as file:
        participants = {row["completion_code"]: row["participant"] for row in csv.DictReader(file)}
    for code, count in zip(codes, acknowledged, strict=True):
        places = [step["step"] for step in steps if step["participant"] == participants[code]]
        assert places == list(range(18))
        assert count <= 18


def folder_of_export(served: walks.Served) -> Path:
    from evenrank.cli import main

    assert main(["study", "export", str(served.folder)]) == 0
    return served.folder / "export"


@pytest.mark.needs("uvicorn")
@pytest.mark.slow
def test_a_killed_server_loses_no_step(tmp_path: Path, serve: Any) -> None:
    walk_with_kills(serve(walks.write_study(tmp_path / "study")), 4, 5)


@pytest.mark.needs("psycopg", "uvicorn")
@pytest.mark.slow
def test_postgresql_holds_what_sqlite_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Any
) -> None:
    """The same journey, withdrawal, races and kills on a real PostgreSQL."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
    import servers

    try:
        with servers.postgresql() as url:
            address = url if "@" in url else url.replace("://", f"://evenrank:{servers.KEY}@", 1)
            monkeypatch.setenv("STUDY_STORE", address)
            served = serve(walks.write_study(tmp_path / "study", store='"$STUDY_STORE"'))
            client = walks.visitor(served)
            assert walks.heading(walks.walk(client)[-1]) == "Thank you"
            page = client.get("/withdraw").text
            client.post("/withdraw", data={"token": walks.token(page), "answers": "delete"})
            assert (folder_of_export(served) / "steps.jsonl").read_text(encoding="utf-8") == ""
            client.cookies.clear()
            races(client)
            walk_with_kills(served, 4, 5)
            served.stop()
    except servers.NotThere as error:
        pytest.skip(str(error))


def test_forms_sent_at_once_are_taken_once(client: Any) -> None:
    races(client)


def races(client: Any) -> None:
    """Eight threads send the same form of every step at the same moment."""

    def send(fields: dict[str, str], session: str, given: list[Any]) -> None:
        with walks.visitor(client.served, headers={"Cookie": f"session={session}"}) as one:
            answer = one.post("/", data=fields, follow_redirects=False)
            given.append((answer.status_code, answer.cookies.get("session")))

    page, sent = client.get("/").text, 0
    session = client.cookies["session"]
    while 'id="code"' not in page:
        fields, given = {"token": walks.token(page), **walks.answers_to(page)}, []
        threads = [threading.Thread(target=send, args=(fields, session, given)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [status for status, _ in given] == [303] * 8
        if sent == 0:
            (session,) = {own for _, own in given}  # all eight got the same one
        sent += 1
        with walks.visitor(client.served, headers={"Cookie": f"session={session}"}) as one:
            page = one.get("/").text
    steps = [
        json.loads(line)
        for line in (folder_of_export(client.served) / "steps.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [step["step"] for step in steps] == list(range(sent))
    assert sum(step["name"] == "prior" for step in steps) == 3
