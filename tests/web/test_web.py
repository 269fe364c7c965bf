"""The base of pages with forms: stores, steps, tokens, limits and headers, without any study."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenrank.errors import DataError
from evenrank.web import steps
from evenrank.web.application import HEADERS, POLICY, WRITERS, Reply, Site, VisitLimits, make_application
from evenrank.web.forms import MOST_BYTES, FormTokens, parse_form
from evenrank.web.pages import Pages
from evenrank.web.rates import TokenBucket
from evenrank.web.serving import address_of
from evenrank.web.store import SQLiteStore, Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = open_store(str(tmp_path / "answers.sqlite"))
    steps.prepare_steps(found)
    return found


def make_site(**options: Any) -> Site:
    def echo(visit: Any) -> Reply:
        return Reply(visit.token("form") if visit.purpose is None else f"{visit.purpose} {visit.form}")

    def busy(visit: Any) -> Reply:
        raise DataError("the disk is full")

    handlers = {("GET", "/"): echo, ("POST", "/"): echo, ("GET", "/busy"): busy}
    failed = lambda status: Reply(f"failed {status}", status)  # noqa: E731
    return Site(
        **{"handlers": handlers, "files": {"a.css": (b"x", "text/css")}, "tokens": FormTokens("key"),
           "failed": failed, "secure": False, **options}
    )  # fmt: skip


def client_of(**options: Any) -> Any:
    pytest.importorskip("starlette", reason="starlette is not installed: pages are not tested")
    from starlette.testclient import TestClient

    return TestClient(make_application(make_site(**options)), follow_redirects=False)


def test_a_step_is_recorded_once_and_in_order(store: Store) -> None:
    with store.writing() as transaction:
        participant, is_new = steps.begin(transaction, "arrival", "session")
        assert is_new
        assert steps.begin(transaction, "arrival", "session") == (participant, False)
        assert steps.record(transaction, participant, 0, "first", {"a": 1})
        assert not steps.record(transaction, participant, 0, "first", {"a": 2})
        assert not steps.record(transaction, participant, 2, "third", {})
        assert steps.record(transaction, participant, 1, "second", {})
        found = steps.steps_of(transaction, participant)
    assert [(step.position, step.name, step.answers) for step in found] == [
        (0, "first", {"a": 1}), (1, "second", {}),
    ]  # fmt: skip


def test_many_threads_record_each_step_once(store: Store) -> None:
    with store.writing() as transaction:
        participant, _ = steps.begin(transaction, "arrival", "session")
    taken = []

    def race(number: int) -> None:
        for position in range(10):
            with store.writing() as transaction:
                if steps.record(transaction, participant, position, "step", {"by": number}):
                    taken.append(position)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(10))


def test_what_fails_leaves_nothing(store: Store) -> None:
    def failing() -> None:
        with store.writing() as transaction:
            steps.count(transaction, "visits")
            raise KeyError("a mistake")

    with pytest.raises(KeyError):
        failing()
    with store.writing() as transaction:
        assert steps.counters(transaction) == {}
        steps.count(transaction, "visits")
        steps.count(transaction, "visits")
    with store.reading() as transaction:
        assert steps.counters(transaction) == {"visits": 2}


def test_forgetting_overwrites_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    store = open_store(str(path))
    steps.prepare_steps(store)
    with store.writing() as transaction:
        participant, _ = steps.begin(transaction, "arrival", "session")
        steps.record(transaction, participant, 0, "opinion", {"text": "a secret opinion"})
    with store.writing() as transaction:
        steps.forget(transaction, participant)
    store.close()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"a secret opinion" not in kept
    assert participant.encode() in kept  # so that it can be counted


def test_only_the_owner_of_a_store_reads_it(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "a.sqlite").writing() as transaction:
        transaction.run("CREATE TABLE made (x)")
    files = list(tmp_path.iterdir())
    assert len(files) == 3  # with its log
    assert {path.stat().st_mode & 0o077 for path in files} == {0}


def test_only_the_first_waits_for_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenrank.web.store.PATIENCE", 0.5)
    store = SQLiteStore(tmp_path / "a.sqlite")
    other = sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    def refused() -> float:
        began = time.monotonic()
        with pytest.raises(DataError, match=r"a\.sqlite"), store.writing():
            pass
        return time.monotonic() - began

    assert refused() >= 0.5
    assert sum(refused() for _ in range(20)) < 5  # rather than 10 seconds
    other.execute("ROLLBACK")
    for _ in range(2):
        with store.writing() as transaction:
            transaction.rows("SELECT 1")
    other.execute("BEGIN EXCLUSIVE")
    assert refused() >= 0.5  # it is patient again
    other.close()


def test_a_transaction_is_on_disk_when_it_ends(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "a.sqlite")
    with store.writing() as transaction:
        assert transaction.rows("PRAGMA synchronous") == [(2,)]  # FULL
        assert transaction.rows("PRAGMA journal_mode") == [("wal",)]


@pytest.mark.parametrize("content", [b"", b"not a database, but a text that is long enough" * 9])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(content)
    if not content:
        open_store(str(path)).close()  # an empty file becomes one
        assert sqlite3.connect(path).execute("SELECT 1").fetchall() == [(1,)]
        return
    for wrong in (path, tmp_path / "nowhere/a.sqlite"):
        with pytest.raises(DataError, match=re.escape(str(wrong))):
            open_store(str(wrong))


def test_tokens_are_of_one_session_and_one_purpose() -> None:
    tokens = FormTokens("secret")
    token = tokens.issue("session", "step-3")
    assert tokens.purpose(token, "session") == "step-3"
    for wrong in ("", ".", "step-3", token[:-1], token.replace("3", "4", 1), "x" + token, token + "ä"):
        assert tokens.purpose(wrong, "session") is None
    assert tokens.purpose(token, "another") is None
    assert FormTokens("other").purpose(token, "session") is None


def test_a_form_without_our_token_is_refused() -> None:
    client = client_of()
    assert client.post("/", data={"a": "b"}).status_code == 403  # no session
    token = client.get("/").text
    assert client.post("/", data={"a": "b"}).status_code == 403
    assert client.post("/", data={"a": "b", "token": "form.0"}).status_code == 403
    assert client.post("/", data={"a": "b", "token": token}).text == "form {'a': 'b'}"
    foreign = {"sec-fetch-site": "cross-site"}
    assert client.post("/", data={"token": token}, headers=foreign).status_code == 403
    other = client_of()
    other.get("/")
    assert other.post("/", data={"token": token}).status_code == 403


def test_headers_and_cookies_are_strict() -> None:
    client = client_of()
    answer = client.get("/")
    assert answer.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert POLICY.startswith("default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "set-cookie" not in client.get("/").headers  # it has one
    secure = client_of(secure=True).get("/").headers
    assert secure["set-cookie"].startswith("__Host-session=")
    assert "Secure" in secure["set-cookie"]
    assert "max-age" in secure["strict-transport-security"]
    for path, status in (("/nowhere", 404), ("/busy", 503), ("/static/b.css", 404)):
        answer = client.get(path)
        assert answer.status_code == status
        assert answer.headers["content-security-policy"] == POLICY
    assert client.get("/static/a.css").text == "x"
    assert client.delete("/").status_code == 405
    assert client.get("/static/../a.css").status_code == 404


@pytest.mark.needs("uvicorn", "httpx")
def test_forms_that_wait_leave_other_pages_alone() -> None:
    """Whatever many forms wait for: pages are shown meanwhile."""
    import httpx

    from evenrank.study.browser import served

    waiting, begun = threading.Event(), threading.Semaphore(0)

    def slow(visit: Any) -> Reply:
        begun.release()
        waiting.wait(60)
        return Reply("written")

    def page(visit: Any) -> Reply:
        return Reply(visit.token("form"))

    site = make_site(handlers={("GET", "/"): page, ("POST", "/"): slow})
    with served(SimpleNamespace(site=lambda: site)) as address, httpx.Client(base_url=address) as client:  # type: ignore[arg-type]
        client.timeout = 90
        token = client.get("/").text
        with ThreadPoolExecutor(60) as threads:
            sent = [threads.submit(client.post, "/", data={"token": token}) for _ in range(60)]
            assert all(begun.acquire(timeout=60) for _ in range(WRITERS))
            shown = [client.get("/").text for _ in range(5)]
            finished = [one.done() for one in sent]
            waiting.set()
            assert {one.result().text for one in sent} == {"written"}
    assert shown == [token] * 5
    assert not any(finished)


def test_a_mistake_is_a_strict_answer_and_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def broken(visit: Any) -> Reply:
        raise KeyError("somewhere")

    client = client_of(handlers={("GET", "/broken"): broken})
    answer = client.get("/broken")
    assert answer.status_code == 500
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "somewhere" not in answer.text
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_threads_that_end_leave_no_connection_open(store: Store) -> None:
    """A server starts a thread when many ask at once, and ends it when nobody does."""
    files = Path("/proc/self/fd")
    if not files.exists():
        pytest.skip("open files cannot be counted here")

    def read() -> None:
        with store.reading() as transaction:
            transaction.rows("SELECT 1")

    read()
    before = len(list(files.iterdir()))
    for _ in range(20):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert len(list(files.iterdir())) <= before


def test_too_much_is_refused() -> None:
    client = client_of()
    token = client.get("/").text
    assert client.post("/", data={"token": token, "a": "x" * MOST_BYTES}).status_code == 413
    assert client.post("/", content="&".join(f"a{n}=1" for n in range(200)).encode()).status_code == 400
    assert client.post("/", content=b"a=%ff").status_code == 400
    assert client.post("/", content=b"\xff").status_code == 400


def test_too_often_is_refused() -> None:
    limits = VisitLimits(session=TokenBucket(0.0, 3), newcomers=TokenBucket(0.0, 2))
    client = client_of(limits=limits)
    assert [client.get("/").status_code for _ in range(5)] == [200, 200, 200, 200, 429]
    client.cookies.clear()
    assert client.get("/").status_code == 200
    client.cookies.clear()
    assert client.get("/").status_code == 429  # a third newcomer from the same address


def test_buckets_fill_again_and_do_not_grow() -> None:
    time = [0.0]
    bucket = TokenBucket(2.0, 2, clock=lambda: time[0])
    assert [bucket.allows("a") for _ in range(3)] == [True, True, False]
    time[0] = 0.5
    assert [bucket.allows("a"), bucket.allows("a")] == [True, False]
    assert bucket.allows("b")


def test_templates_escape_whatever_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("{{ text }}", encoding="utf-8")
    assert Pages([tmp_path]).render("page.txt", text="<b>&\"'") == "&lt;b&gt;&amp;&#34;&#39;"


def test_forms_are_read_strictly() -> None:
    assert parse_form(b"a=1&b=%C3%A4%0D%0A&a=2&c") == {"a": "2", "b": "ä\n", "c": ""}
    with pytest.raises(DataError):
        parse_form(b"a=%ff")


@pytest.mark.parametrize("wrong", ["", "8000", "localhost:", "localhost:http", ":80", "a:99999"])
def test_addresses(wrong: str) -> None:
    with pytest.raises(ValueError, match="an address is HOST:PORT"):
        address_of(wrong)
    assert address_of("[::1]:80") == ("::1", 80)
