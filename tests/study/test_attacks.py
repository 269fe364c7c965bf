"""A study that is attacked from outside, and one whose disk or database fails, on a real server."""

from __future__ import annotations

import base64
import secrets
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
import study_walks as walks

pytestmark = pytest.mark.needs("uvicorn", "httpx2")

SECRET = "correct horse battery"
GUESSES, ALL_GUESSES = 5, 30  # of the password in a minute: from one address, and from all together
NEWCOMERS, EACH_SECOND = 240, 2  # sessions from one address: at once, and then
HEADERS = {
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
TEXTS = (".toml", ".csv", ".txt", ".jsonl", ".json")


@pytest.fixture
def served(tmp_path: Path, serve: Any) -> walks.Served:
    running: walks.Served = serve(walks.write_study(tmp_path / "study"), EVENRANK_STUDY_PASSWORD=SECRET)
    return running


def visitor(served: walks.Served, **options: Any) -> Any:
    return httpx2.Client(base_url=served.address, follow_redirects=True, timeout=25, **options)


def with_panel(folder: Path) -> Path:
    file = folder / "study.toml"
    file.write_text(file.read_text(encoding="utf-8") + '[panel]\nparameter = "PID"\n', encoding="utf-8")
    return folder


def assert_strict(answer: Any) -> None:
    for name, value in HEADERS.items():
        assert answer.headers[name].startswith(value), (answer.status_code, name)


def test_the_password_is_not_found_by_guessing(served: walks.Served) -> None:
    """A few guesses a minute are looked at, whatever address a request claims to come from; while the others
    are refused, the right password is refused as well."""
    began = time.monotonic()
    with visitor(served) as client:

        def guess(password: str) -> int:
            claims = {"X-Forwarded-For": f"192.0.2.{secrets.randbelow(255)}"}
            status: int = client.get("/admin", auth=("x", password), headers=claims).status_code
            return status

        found = [guess(f"guess {number}") for number in range(80)]
        refilled = (time.monotonic() - began) * GUESSES / 60
        assert found.count(401) <= GUESSES + refilled
        assert set(found) == {401, 429}
        for _ in range(20):
            around = guess("wrong"), guess(SECRET), guess("wrong")
            if around[0] == around[2] == 429:  # blocked before it and after it
                break
        assert around == (429, 429, 429)
        refused = client.get("/admin", auth=("x", SECRET))
    assert_strict(refused)
    assert int(refused.headers["retry-after"]) <= 60


def test_strangers_neither_guess_nor_keep_the_owner_out(tmp_path: Path, serve: Any) -> None:
    """Behind a web server of this machine, which says who asks."""
    folder = walks.write_study(tmp_path / "study", public_address='"https://study.example.org"')
    served = serve(folder, EVENRANK_STUDY_PASSWORD=SECRET)
    name = "__Host-session"
    with visitor(served) as client:

        def ask(address: str, password: str, session: str | None = None) -> Any:
            client.cookies.clear()
            headers = {"X-Forwarded-For": address} | ({"Cookie": f"{name}={session}"} if session else {})
            return client.get("/admin", auth=("x", password), headers=headers)

        arrived = client.get("/", headers={"X-Forwarded-For": "203.0.113.9"})
        session = arrived.headers["set-cookie"].partition(f"{name}=")[2].partition(";")[0]

        def owner(password: str) -> int:
            status: int = ask("203.0.113.9", password, session).status_code
            return status

        for _ in range(10 * GUESSES):  # looking often is no guessing
            assert owner(SECRET) == 200
        began = time.monotonic()
        network = [f"2001:db8::{number:x}" for number in range(1, 20)]  # one network counts as one address
        found = [ask(address, "guess").status_code for address in network]
        refilled = (time.monotonic() - began) * GUESSES / 60
        assert GUESSES <= found.count(401) <= GUESSES + refilled
        crowd = [f"192.0.2.{number}" for number in range(100)]
        found += [ask(address, "guess").status_code for address in crowd for _ in range(2)]
        refilled = (time.monotonic() - began) * ALL_GUESSES / 60
        assert ALL_GUESSES <= found.count(401) <= ALL_GUESSES + refilled
        for _ in range(20):
            around = [ask(f"198.51.100.{at}", password).status_code
                      for at, password in enumerate(("guess", SECRET, "guess"))]  # fmt: skip
            if around[0] == around[2] == 429:  # all together are too many, before it and after it
                break
        assert around == [429] * 3  # from a new address as well
        assert owner(SECRET) == 200  # in the session that gave it
        began = time.monotonic()
        found = [owner("guess") for _ in range(4 * GUESSES)]  # which is no way to guess either
        assert GUESSES <= found.count(401) <= GUESSES + (time.monotonic() - began) * GUESSES / 60


def test_invented_sessions_are_newcomers(served: walks.Served) -> None:
    """Neither an invented id nor one with another's signature stands for anybody."""
    with visitor(served) as client:
        client.get("/")
        name, _, signature = client.cookies["session"].partition(".")
    for invented in (secrets.token_urlsafe(32), f"{secrets.token_urlsafe(32)}.{signature}", name, "ä" * 40):
        with visitor(served, headers={"Cookie": f"session={invented}".encode()}) as client:
            page = client.get("/")
            assert page.cookies["session"] != invented  # a new one, which the attacker does not use
            answer = client.post("/", data={"token": walks.token(page.text), "consent": "agree"})
            assert answer.status_code == 403
    assert walks.rows(served, "SELECT COUNT(*) FROM participants") == [(0,)]


def test_participants_of_one_address_are_limited(served: walks.Served) -> None:
    """Whether visitors come without a session or with an invented one; and after a while others may come."""
    with visitor(served) as client:

        def arrive(number: int) -> int:
            client.cookies.clear()
            invented = {"Cookie": f"session={secrets.token_urlsafe(32)}"} if number % 2 else {}
            status: int = client.get("/", headers=invented).status_code
            return status

        began = time.monotonic()
        found = [arrive(number) for number in range(NEWCOMERS + 200)]
        most = NEWCOMERS + (time.monotonic() - began) * EACH_SECOND
        if len(found) > most:  # they came fast enough
            assert NEWCOMERS <= found.count(200) <= most
            assert set(found) == {200, 429}
        last = time.monotonic() + 20
        while arrive(0) != 200:
            assert time.monotonic() < last


def test_who_deletes_the_answers_does_not_take_part_again_in_the_same_session(served: walks.Served) -> None:
    with visitor(served) as client:
        client.get("/")
        given = [client.cookies["session"]]
        for _ in range(3):
            for session in given[:4]:
                for path, name, choice in (("/", "consent", "agree"), ("/withdraw", "answers", "delete")):
                    client.cookies.clear()
                    headers = {"Cookie": f"session={session}"}
                    page = client.get(path, headers=headers).text
                    if f'name="{name}"' in page:
                        fields = {"token": walks.token(page), name: choice}
                        client.cookies.clear()
                        answer = client.post(path, data=fields, headers=headers, follow_redirects=False)
                        given += answer.cookies.values()
    assert walks.rows(served, "SELECT COUNT(*) FROM participants") == [(1,)]


def test_a_session_is_renewed_at_consent(served: walks.Served) -> None:
    """Who planted a session in somebody's browser does not follow into the study."""
    with visitor(served) as attacker, visitor(served) as victim:
        attacker.get("/")
        planted = attacker.cookies["session"]
        victim.cookies.set("session", planted, domain="127.0.0.1", path="/")
        page = victim.get("/").text
        agreed = victim.post("/", data={"token": walks.token(page), "consent": "agree"})
        (given,) = [
            value for answer in agreed.history for name, value in answer.cookies.items() if name == "session"
        ]
        assert given != planted
        assert walks.heading(agreed.text) == "Your age"
        victim.cookies.clear()
        victim.cookies.set("session", given, domain="127.0.0.1", path="/")
        assert walks.heading(attacker.get("/").text) == "Your consent"
        assert walks.heading(walks.send(victim, agreed.text, eligible="yes")) == "Before you begin"
        page = attacker.get("/").text
        assert attacker.post("/", data={"token": walks.token(page), "consent": "agree"}).status_code == 403
        assert walks.heading(victim.get("/").text) == "Before you begin"
    assert walks.rows(served, "SELECT COUNT(*) FROM participants") == [(1,)]


def test_an_answer_to_consent_that_is_lost_loses_nobody(tmp_path: Path, serve: Any) -> None:
    """The form sent again, and the page opened again, lead on to the same participant, also of a panel."""
    client = walks.visitor(serve(with_panel(walks.write_study(tmp_path / "study"))))
    page = client.get("/?PID=somebody").text
    arrival = client.cookies["session"]
    fields = {"token": walks.token(page), "panel_id": "somebody", "consent": "agree"}
    given = []
    for _ in range(2):
        client.cookies.clear()
        client.cookies.set("session", arrival)
        answer = client.post("/", data=fields, follow_redirects=False)
        given.append(answer.cookies["session"])
    assert given[0] == given[1] != arrival
    client.cookies.clear()
    client.cookies.set("session", arrival)
    page = client.get("/?PID=somebody").text
    client.cookies.clear()
    client.cookies.set("session", arrival)
    answer = client.post("/", data={**fields, "token": walks.token(page)}, follow_redirects=False)
    assert answer.cookies["session"] not in (arrival, given[0])  # of another page, so another
    client.cookies.clear()
    client.cookies.set("session", answer.cookies["session"])
    assert walks.heading(client.get("/").text) == "Your age"
    assert walks.rows(client, "SELECT COUNT(*) FROM participants") == [(1,)]
    client.cookies.clear()
    assert walks.heading(client.get("/?PID=somebody").text) == "You have already taken part"


def test_the_key_of_sessions_stays_in_the_database(served: walks.Served, serve: Any, evenrank: Any) -> None:
    keys = [walks.rows(served, "SELECT value FROM settings WHERE name = 'secret'")[0][0]]
    with visitor(served) as client:
        pages = walks.walk(client)
        session = client.cookies["session"]
    said = served.stop()
    for options in ((), ("--anonymous",)):
        folder = served.folder / f"export{len(options)}"
        assert evenrank("study", "export", str(served.folder), *options, "-o", str(folder)).code == 0
    texts = [path.read_bytes() for path in served.folder.rglob("*") if path.suffix in TEXTS]
    assert len(texts) > 10
    for text in (*texts, said.encode(), "".join(pages).encode()):
        assert keys[0].encode() not in text
    other = walks.visitor(serve(walks.write_study(served.folder.parent / "other")))
    keys.append(walks.rows(other, "SELECT value FROM settings WHERE name = 'secret'")[0][0])
    assert len(set(keys)) == 2
    page = other.get("/", headers={"Cookie": f"session={session}"})
    assert page.cookies["session"] != session  # of one study, and of no other
    assert all(len(bytes.fromhex(key)) == 32 for key in keys)


def test_a_locked_database_delays_only_what_writes(served: walks.Served) -> None:
    """More forms than the server has threads: each is refused before long, and other pages go on."""
    with visitor(served) as client, ThreadPoolExecutor(80) as threads:
        page = walks.walk(client, until="Your age")[-1]
        fields = {"token": walks.token(page), "eligible": "yes"}
        with closing(sqlite3.connect(served.folder / "study.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            sent = [threads.submit(client.post, "/", data=fields) for _ in range(80)]
            for _ in range(10):
                assert client.get("/static/web.css").status_code == 200
                assert walks.heading(client.get("/").text) == "Your age"
            refused = [one.result() for one in sent]
            assert {answer.status_code for answer in refused} == {503}
            for answer in refused:
                assert_strict(answer)
                assert 0 < int(answer.headers["retry-after"]) <= 60
            other.execute("ROLLBACK")
        assert walks.heading(client.post("/", data=fields).text) == "Before you begin"
    said = served.stop()
    assert "study.sqlite" in said
    assert "Traceback" not in said


@pytest.mark.needs("resource")
def test_a_full_disk_is_said_and_nothing_is_lost(served: walks.Served) -> None:
    import resource

    if not hasattr(resource, "prlimit"):
        pytest.skip("the size of files cannot be limited from outside here")
    with visitor(served) as client:
        page = walks.walk(client, until="Your age")[-1]
        before = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (1024, before[1]))
        for _ in range(3):
            refused = client.post("/", data={"token": walks.token(page), "eligible": "yes"})
            assert refused.status_code == 503
            assert_strict(refused)
            assert walks.heading(refused.text) == "This did not work"
            assert walks.heading(client.get("/").text) == "Your age"
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, before)
        assert walks.heading(walks.send(client, page, eligible="yes")) == "Before you begin"
    assert [line for line in served.stop().splitlines() if "study.sqlite" in line]
    assert walks.rows(served, "SELECT COUNT(*) FROM steps") == [(2,)]


def test_a_database_that_cannot_be_written_is_one_error(tmp_path: Path, serve: Any) -> None:
    folder = walks.write_study(tmp_path / "study")
    served = serve(folder)
    served.stop()
    walks.rows(served, "PRAGMA wal_checkpoint(TRUNCATE)")  # all of it in one file
    file = folder / "study.sqlite"
    content = bytearray(file.read_bytes())
    content[18] = 3  # the format's sign for "read, but do not write", which holds for root as well
    file.write_bytes(content)
    command = [sys.executable, "-m", "evenrank", "study", "serve", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert str(file) in line
    assert "unexpected" not in line


def test_what_cannot_be_understood_gets_a_strict_answer(served: walks.Served) -> None:
    with visitor(served) as client:
        client.get("/")
        for method, path, headers, statuses in (
            ("FOO", "/", {}, {405}),
            ("TRACE", "/", {}, {405}),
            ("GET", "/static/..%2f..%2fserver.py", {}, {404}),
            ("GET", "/static/%2e%2e/study.toml", {}, {404}),
            ("GET", "/nowhere%00", {}, {404}),
            ("GET", "/", {"Host": "["}, {200}),
            ("GET", "/nowhere", {"Host": f"{served.address}/static/web.css?"}, {404}),
            ("GET", "/admin", {"Authorization": "Basic " + base64.b64encode(b"\xff:\xff").decode()}, {401}),
        ):
            answer = client.request(method, path, headers=headers)
            assert answer.status_code in statuses, (method, path)
            assert_strict(answer)
        large = client.get("/", headers={"X-Large": "x" * 400_000})
        assert large.status_code in (400, 431)
    with visitor(served) as client:
        assert walks.heading(client.get("/").text) == "Your consent"
    assert "Traceback" not in served.stop()
