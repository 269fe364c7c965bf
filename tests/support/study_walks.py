"""Walking through a study without a browser: what the page asks is read from the page."""

from __future__ import annotations

import contextlib
import io
import re
import sqlite3
from html import unescape
from pathlib import Path
from typing import Any

TOKEN = re.compile(r'name="token" value="([^"]+)"')
EVENTS = re.compile(r'data-token="([^"]+)"')
TEXT = "I think that this is right because the reports that I have read give clear reasons for it"


def write_study(folder: Path, **changes: str) -> Path:
    """A copy of the example; ``changes`` are lines of study.toml by their name."""
    from evenrank.cli import main

    with contextlib.redirect_stderr(io.StringIO()):
        assert main(["study", "new", str(folder)]) == 0
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


def visitor(served: Served, **options: Any) -> Any:
    """A browser of its own, without scripts."""
    import httpx2

    client = httpx2.Client(base_url=served.address, follow_redirects=True, timeout=60, **options)
    client.served = served
    return client


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


def stored(file: Path) -> Any:
    """A store of a study, to look into."""
    return contextlib.closing(sqlite3.connect(file))


def rows(where: Any, sql: str) -> list[Any]:
    """What the store of a study holds; ``where`` is a server or a visitor of it."""
    with stored(getattr(where, "served", where).folder / "study.sqlite") as store:
        return store.execute(sql).fetchall()


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
    served = Served(folder)
    try:
        with visitor(served) as client:
            walk(client)
    finally:
        said = served.stop()
    assert "serving" in said
