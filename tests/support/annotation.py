"""A folder of sheets, and the annotation page on it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

from evenrank.queryset import Procedure, write_sheets

TOO_MANY = 429
TOKEN = re.compile(r'name="token" value="([^"]+)"')
TEXTS = {"1": "best school", "2": "who is he", "3": "what is pay"}


def written(folder: Path, stage: int, texts: Mapping[str, str] = TEXTS) -> list[Path]:
    return write_sheets(folder, stage, Procedure(), texts)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def command(folder: Path, address: str) -> list[str]:
    return [sys.executable, "-m", "evenrank", "queryset", "page", str(folder), address]


@contextmanager
def served(folder: Path, port: int | None = None) -> Iterator[dict[str, str]]:
    """The command in a process of its own, which is killed at the end and has no time to write anything.

    What comes is the address of each annotator's page, as the command says it.
    """
    port = port or free_port()
    process = subprocess.Popen(
        command(folder, f"127.0.0.1:{port}"), stderr=subprocess.PIPE, text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        addresses, said = {}, []
        for line in process.stderr:  # the last line comes before the page is served
            said.append(line)
            if found := re.search(r"(\S+): (http://\S+)$", line):
                addresses[found[1]] = found[2]
            if "Ctrl-C" in line:
                break
        else:
            raise AssertionError("".join(said))
        while True:
            with socket.socket() as there:
                there.settimeout(1)
                if there.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
        yield addresses
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


@contextmanager
def visited(folder: Path) -> Iterator[Any]:
    """A client of the page, as a browser without scripts would be; ``addresses`` by annotator."""
    import httpx2

    with served(folder) as addresses, httpx2.Client(follow_redirects=True, timeout=60) as client:
        client.addresses = addresses
        yield client


def answer(client: Any, address: str, **fields: str) -> Any:
    """Fill the form of an address and send it, as often as the page says that it was too soon."""
    page = _in_time(lambda: client.get(address)).text
    token = unescape(TOKEN.search(page).group(1))  # type: ignore[union-attr]
    return _in_time(lambda: client.post(address, data={"token": token, **fields}))


def _in_time(ask: Callable[[], Any]) -> Any:
    while (found := ask()).status_code == TOO_MANY:
        time.sleep(0.1)
    return found
