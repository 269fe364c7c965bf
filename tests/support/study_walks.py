"""Walking through a study without a browser: what the page asks is read from the page."""

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

from evenrank.study.texts import EXAMPLE

TOKEN = re.compile(r'name="token" value="([^"]+)"')
EVENTS = re.compile(r'data-token="([^"]+)"')
LOADED: dict[str, Any] = {}
TEXT = "I think that this is right because the reports that I have read give clear reasons for it"


def write_study(folder: Path, **changes: str) -> Path:
    """A copy of the example; ``changes`` are lines of study.toml by their name."""
    shutil.copytree(EXAMPLE, folder)
    if changes:
        change(folder, **changes)
    return folder


def change(folder: Path, **changes: str) -> None:
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8")
    for name, value in changes.items():
        text, found = re.subn(rf"(?m)^{name} = .*$", lambda _, line=f"{name} = {value}": line, text, count=1)
        if not found:
            text = f"{name} = {value}\n" + text
    file.write_text(text, encoding="utf-8")


def client_of(folder: Path, **options: Any) -> Any:
    """A client of a server on the folder's store, as a browser would be."""
    import pytest

    pytest.importorskip("starlette", reason="starlette is not installed: the study's pages are not tested")
    from starlette.testclient import TestClient

    from evenrank.study.server import StudyServer
    from evenrank.study.settings import read_settings
    from evenrank.web.application import make_application
    from evenrank.web.store import open_store

    settings = read_settings(folder)
    server = StudyServer(_loaded(folder), open_store(settings.store_address))
    client = TestClient(make_application(server.site(**options)), base_url=settings.public_address)
    client.study_server = server
    return client


def _loaded(folder: Path) -> Any:
    """The study of a folder; the lists of equal ones are made once."""
    from dataclasses import replace

    from evenrank.study.conditions import load_study
    from evenrank.study.corpora import fingerprint
    from evenrank.study.settings import read_settings

    settings = read_settings(folder)
    found = LOADED.get(fingerprint(settings))
    if found is None:
        found = LOADED[fingerprint(settings)] = load_study(settings)
    return replace(found, settings=settings)


def heading(page: str) -> str:
    return unescape(re.search(r"<h1>(.*?)</h1>", page, re.DOTALL)[1]).strip()


def token(page: str) -> str:
    return unescape(TOKEN.search(page)[1])


def quote_of(page: str, words: int = 6) -> str:
    """The first words of the first document."""
    text = unescape(re.search(r'<div class="document">\s*<p>(.*?)</p>', page, re.DOTALL)[1])
    return " ".join(text.split()[:words])


def answers_to(page: str) -> dict[str, str]:
    """A valid answer to whatever the page asks."""
    if 'name="consent"' in page:
        return {"consent": "agree"}
    if 'name="eligible"' in page:
        return {"eligible": "yes"}
    if 'name="quote"' in page:
        return {"opinion": TEXT, "quote": quote_of(page)}
    if 'type="radio" name="opinion"' in page:
        return {"opinion": "1"}
    if 'name="answer"' in page:
        return {"answer": "The second answer"}
    if 'name="comment"' in page:
        return {"comment": "fine"}
    return {}


def send(client: Any, page: str, **answers: str) -> str:
    """Send the form of a page; the page that follows."""
    hidden = re.search(r'name="panel_id" value="([^"]+)"', page)
    fields = {"token": token(page), **({"panel_id": hidden[1]} if hidden else {}), **answers}
    return client.post("/", data=fields).text


def walk(client: Any, start: str = "/", until: str | None = None) -> list[str]:
    """The pages from the first to the one with a completion code, or to the one with this heading."""
    pages = [client.get(start).text]
    while 'id="code"' not in pages[-1] and heading(pages[-1]) != until:
        pages.append(send(client, pages[-1], **answers_to(pages[-1])))
        assert len(pages) < 100, heading(pages[-1])
    return pages


def rows(client: Any, sql: str, *values: Any) -> list[Any]:
    with client.study_server.store.reading() as transaction:
        return transaction.rows(sql, *values)


def free_port() -> int:
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


class Served:
    """``evenrank study serve`` in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder, self.environment = folder, environment
        self.address = f"http://127.0.0.1:{free_port()}"
        change(folder, address=f'"{self.address.removeprefix("http://")}"')
        self.process = self.start()

    def start(self) -> Any:
        import os
        import subprocess
        import sys
        import time

        import httpx2

        command = [sys.executable, "-m", "evenrank", "study", "serve", str(self.folder)]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, env={**os.environ, **self.environment}, text=True
        )
        last = time.monotonic() + 120
        while True:
            try:
                httpx2.get(f"{self.address}/static/web.css", timeout=10)
                return self.process
            except httpx2.HTTPError:
                if self.process.poll() is not None or time.monotonic() > last:
                    raise AssertionError(f"the server did not start: {self.stop()}") from None
                time.sleep(0.05)

    def kill(self) -> None:
        """kill -9"""
        self.process.kill()
        self.process.communicate()

    def stop(self) -> str:
        self.process.terminate()
        said: str = self.process.communicate()[1]
        return said


def serve_and_visit(folder: Path) -> None:
    """Serve a study for a moment and take part once."""
    import httpx2

    served = Served(folder)
    try:
        with httpx2.Client(base_url=served.address, follow_redirects=True, timeout=60) as client:
            walk(client)
    finally:
        said = served.stop()
    assert "serving" in said
