"""A search server on loopback that does whatever a test says: answers, refuses, hangs up, lies."""

from __future__ import annotations

import io
import json
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import zstandard

from evenrank.engines import ask, open_engine

Behaviour = Callable[["Asked"], None]
ENDS = 60  # seconds in which a call must be over; a server here would go on for ever


class Asked:
    """One request, and ways to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, query: str, server: MisbehavingServer) -> None:
        self.handler, self.query, self.server = handler, query, server
        self.authorization = handler.headers.get("Authorization", "")

    def send(self, content: Any, status: int = 200, **headers: str) -> None:
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.handler.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(raw)

    def hits(self, *ids: str | None, **more: Any) -> dict[str, Any]:
        """Hits with falling scores."""
        hits = [
            {"id": key, "score": float(len(ids) - at), "seller": "small", "text": "x" * 300}
            for at, key in enumerate(ids)
        ]
        return {"hits": hits, "total": len(hits), **more}

    def good(self) -> None:
        self.send(self.hits(f"{self.query}-1", f"{self.query}-2"))


class MisbehavingServer:
    """``behaviours`` are by query; ``asked`` are the queries that came, in their order."""

    def __init__(self, behaviours: dict[str, Behaviour] | None = None) -> None:
        self.behaviours = behaviours or {}
        self.asked: list[str] = []
        self.released = threading.Event()  # what hangs goes on when the test is over
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16  # an answer in one packet: two would wait for each other

            def do_GET(self) -> None:
                self.answer({})

            def do_POST(self) -> None:
                self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def answer(self, body: dict[str, Any]) -> None:
                query = str(body.get("q", self.path))
                outer.asked.append(query)
                try:
                    outer.behaviours.get(query, Asked.good)(Asked(self, query, outer))
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients may leave
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @contextmanager
    def running(self, certificates: Path | None = None) -> Iterator[MisbehavingServer]:
        """With a folder for ``certificates`` it speaks TLS; ``cert.pem`` there is what to trust."""
        if certificates is not None:
            self._speak_tls(certificates)
        self._thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._server.shutdown()
            self._server.server_close()

    def _speak_tls(self, folder: Path) -> None:
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem",
             "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost"],
            cwd=folder, capture_output=True, check=False,
        )  # fmt: skip
        if made.returncode:
            pytest.skip("openssl cannot make a certificate here")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.address = f"https://localhost:{self._server.server_port}"

    def engine(self, **more: Any) -> dict[str, Any]:
        """The table of an engine that asks this server."""
        return {
            "engine": "http",
            "address": f"{self.address}/search",
            "body": {"q": "{query}", "limit": "{size}"},
            "rate": float("inf"),
            **more,
        }


class Still:
    """A clock whose waits are noted and take no time."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def random(self) -> float:
        return 1.0


def failure(table: Any, text: str = "x", **opened: Any) -> str:
    """Why the only query failed; an endless wait fails the test and does not hang it."""
    found: list[Any] = []

    def asking() -> None:
        try:
            found.append(ask(open_engine(table, **opened), {"q": text}))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=asking, daemon=True)
    thread.start()
    thread.join(ENDS)
    assert not thread.is_alive(), "it goes on"
    if isinstance(found[0], BaseException):
        raise found[0]
    ((problem,),) = found[0].problems.values()
    assert problem.kind == "failed"
    return str(problem.what)


def unpacked(path: Path) -> str:
    """A file in Zstandard, as any other tool reads it."""
    reader = zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(path.read_bytes()), read_across_frames=True
    )
    return reader.read().decode()


def silent(asked: Asked) -> None:
    asked.server.released.wait()
