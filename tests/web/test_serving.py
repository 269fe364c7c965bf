"""Pages with forms, from a server on loopback: who may send what, how much and how often."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import study_walks as walks

pytestmark = pytest.mark.needs("starlette", "uvicorn", "httpx2")

FIELD_BYTES = 64 * 1024


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[walks.Served]:
    server = walks.Served(walks.write_study(tmp_path_factory.mktemp("served") / "study"))
    yield server
    server.stop()


def client_of(served: walks.Served) -> Any:
    """A browser without scripts, with cookies of its own."""
    import httpx2

    return httpx2.Client(base_url=served.address, timeout=60)


def test_a_form_without_our_token_is_refused(served: walks.Served) -> None:
    client = client_of(served)
    assert client.post("/", data={"consent": "agree"}).status_code == 403  # no session
    token = walks.token(client.get("/").text)
    purpose, _, signature = token.rpartition(".")
    wrong = [
        "",
        ".",
        purpose,
        token[:-1],
        f"{purpose}x.{signature}",
        f"x{token}",
        f"{token}ä",
        f"{purpose}.0",
    ]
    for one in wrong:
        assert client.post("/", data={"consent": "agree", "token": one}).status_code == 403, one
    other = client_of(served)
    other.get("/")
    assert other.post("/", data={"consent": "agree", "token": token}).status_code == 403
    foreign = {"sec-fetch-site": "cross-site"}
    assert client.post("/", data={"consent": "agree", "token": token}, headers=foreign).status_code == 403
    assert client.post("/", data={"consent": "agree", "token": token}).status_code == 303


def test_nobody_can_make_up_a_session(served: walks.Served) -> None:
    client = client_of(served)
    client.get("/")
    own = client.cookies["session"]
    for session in (f"x{own}", own[:-1] + ("0" if own[-1] != "0" else "1"), "mine", ""):
        other = client_of(served)
        assert "set-cookie" in other.get("/", headers={"cookie": f"session={session}"}).headers


def assert_strict(headers: Any) -> None:
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"


def test_headers_and_cookies_are_strict(served: walks.Served) -> None:
    client = client_of(served)
    answer = client.get("/")
    assert_strict(answer.headers)
    assert answer.headers["cache-control"] == "no-store"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "set-cookie" not in client.get("/").headers  # it has one
    for path, status in (("/nowhere", 404), ("/static/nothing.css", 404), ("/static/../study.toml", 404)):
        answer = client.get(path)
        assert answer.status_code == status
        assert_strict(answer.headers)
    assert client.get("/static/%2e%2e/study.toml").status_code == 404
    assert client.get("/static/web.css").status_code == 200
    assert client.delete("/").status_code == 405


def test_cookies_of_a_site_with_https_are_sent_by_https_alone(tmp_path: Path) -> None:
    folder = walks.write_study(tmp_path / "study", public_address='"https://study.example.org"')
    server = walks.Served(folder)
    try:
        headers = client_of(server).get("/").headers
    finally:
        server.stop()
    assert headers["set-cookie"].startswith("__Host-session=")
    assert "Secure" in headers["set-cookie"]
    assert "max-age" in headers["strict-transport-security"]


def test_too_much_is_refused(served: walks.Served) -> None:
    client = client_of(served)
    token = walks.token(client.get("/").text)
    assert client.post("/", data={"token": token, "a": "x" * FIELD_BYTES}).status_code == 413
    assert client.post("/", content="&".join(f"a{n}=1" for n in range(200)).encode()).status_code == 400
    assert client.post("/", content=b"a=%ff").status_code == 400
    assert client.post("/", content=b"\xff").status_code == 400


def test_only_the_owner_reads_what_is_stored(served: walks.Served) -> None:
    client_of(served).get("/")
    files = list(served.folder.glob("study.sqlite*"))
    assert len(files) == 3  # with its log
    assert {path.stat().st_mode & 0o077 for path in files} == {0}


def test_a_store_that_another_program_has_locked_is_said_and_pages_are_shown(served: walks.Served) -> None:
    client = client_of(served)
    token = walks.token(client.get("/").text)
    other = sqlite3.connect(served.folder / "study.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for _ in range(2):
        answer = client.post("/", data={"consent": "agree", "token": token})
        assert answer.status_code == 503
        assert "retry-after" in answer.headers
        assert_strict(answer.headers)
        assert client.get("/").status_code == 200
    other.execute("ROLLBACK")
    other.close()
    assert client.post("/", data={"consent": "agree", "token": token}).status_code == 303


def test_too_often_is_refused(tmp_path: Path) -> None:
    """Of newcomers from one address 240, and then two a second; who was here before is let in."""
    server = walks.Served(walks.write_study(tmp_path / "study"))
    try:
        here = client_of(server)
        assert here.get("/").status_code == 200
        client, found = client_of(server), []
        while len(found) < 2000 and found[-1:] != [429]:
            client.cookies.clear()
            found.append(client.get("/").status_code)
        assert found[-1] == 429
        assert len(found) > 200
        assert here.get("/").status_code == 200
    finally:
        server.stop()


def test_what_is_deleted_is_overwritten(tmp_path: Path, evenrank: Any) -> None:
    folder = walks.write_study(tmp_path / "study")
    walks.serve_and_visit(folder)

    def kept() -> bytes:
        return b"".join(path.read_bytes() for path in folder.glob("study.sqlite*"))

    opinion = walks.TEXT.encode()
    assert opinion in kept()
    assert evenrank("study", "delete", folder, "everything").code == 0
    assert opinion not in kept()


@pytest.mark.parametrize("content", [b"not a database, but a text that is long enough" * 9, None])
def test_a_store_that_is_no_database(tmp_path: Path, evenrank: Any, content: bytes | None) -> None:
    folder = walks.write_study(tmp_path / "study")
    path = folder / "a.sqlite"
    if content is None:
        walks.change(folder, store='"nowhere/a.sqlite"')
    else:
        walks.change(folder, store='"a.sqlite"')
        path.write_bytes(content)
    done = evenrank("study", "status", folder)
    assert (done.code, "a.sqlite" in done.err) == (1, True)
    assert content is None or path.read_bytes() == content


@pytest.mark.parametrize("wrong", ["8000", "localhost:", "localhost:http", ":80", "a:99999"])
def test_an_address_that_cannot_be_listened_on(tmp_path: Path, evenrank: Any, wrong: str) -> None:
    folder = walks.write_study(tmp_path / "study", address=f'"{wrong}"')
    done = evenrank("study", "serve", folder)
    assert done.code in (1, 2)
    assert "HOST:PORT" in done.err
