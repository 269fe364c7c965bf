"""What no page shows: that answers are on disk, and that those who wait hold nobody else up.

No public name reaches these, and a fault of the disk or a full lecture hall cannot be made with one.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenrank.errors import DataError
from evenrank.web.application import WRITERS, Reply, Site, make_application
from evenrank.web.forms import FormTokens
from evenrank.web.store import SQLiteStore


def make_site(**handlers: Any) -> Site:
    return Site(
        handlers={tuple(name.split("_")): handler for name, handler in handlers.items()},  # type: ignore[misc]
        files={}, tokens=FormTokens("key"), failed=lambda status: Reply(f"failed {status}", status),
        secure=False,
    )  # fmt: skip


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


@pytest.mark.needs("uvicorn", "httpx2")
def test_forms_that_wait_leave_other_pages_alone() -> None:
    """Whatever many forms wait for: pages are shown meanwhile."""
    import httpx2

    from evenrank.study.browser import served

    waiting, begun = threading.Event(), threading.Semaphore(0)

    def slow(visit: Any) -> Reply:
        begun.release()
        waiting.wait(60)
        return Reply("written")

    def page(visit: Any) -> Reply:
        return Reply(visit.token("form"))

    site = make_site(**{"GET_/": page, "POST_/": slow})
    with served(SimpleNamespace(site=lambda: site)) as address, httpx2.Client(base_url=address) as client:  # type: ignore[arg-type]
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

    testclient = pytest.importorskip("starlette.testclient", reason="starlette is not installed")
    answer = testclient.TestClient(make_application(make_site(**{"GET_/broken": broken}))).get("/broken")
    assert answer.status_code == 500
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "somewhere" not in answer.text
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_threads_that_end_leave_no_connection_open(tmp_path: Path) -> None:
    """A server starts a thread when many ask at once, and ends it when nobody does."""
    store = SQLiteStore(tmp_path / "a.sqlite")
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
