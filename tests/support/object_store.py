"""An S3 server on this machine, for tests that read from a store."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

SECRET = "a-secret-that-no-message-holds"


class Reading(NamedTuple):
    """A request that a store answered with content: of which file, from which byte on, and how many."""

    path: str
    begin: int
    size: int


class _Noting:
    """A server that notes what is read of it."""

    def __init__(self, app: Any, readings: list[Reading]) -> None:
        self._app, self._readings = app, readings

    def __call__(self, environ: Any, start_response: Any) -> Any:
        asked = environ.get("HTTP_RANGE", "bytes=0-").removeprefix("bytes=")

        def started(status: str, headers: Any, *more: Any) -> Any:
            if environ["REQUEST_METHOD"] == "GET" and "list-type" not in environ["QUERY_STRING"]:
                size = int(dict(headers)["Content-Length"])
                self._readings.append(Reading(environ["PATH_INFO"], int(asked.partition("-")[0]), size))
            return start_response(status, headers, *more)

        return self._app(environ, started)


@contextmanager
def local_s3(
    monkeypatch: pytest.MonkeyPatch,
    bucket: str,
    files: Mapping[str, bytes],
    readings: list[Reading] | None = None,
) -> Iterator[str]:
    """Files in a bucket behind a real HTTP server; the environment points there. It gives the endpoint.

    What is read of the files is added to ``readings``."""
    pytest.importorskip("flask", reason="moto[server] is not installed")
    server_module: Any = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    fs: Any = pytest.importorskip("pyarrow.fs")
    if not hasattr(fs, "S3FileSystem"):
        pytest.skip("this build of Arrow has no S3")
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = server_module.DomainDispatcherApplication(server_module.create_backend_app)
    app = _Noting(app, [] if readings is None else readings)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    try:
        store = fs.S3FileSystem(region="us-east-1", endpoint_override=endpoint, allow_bucket_creation=True)
        store.create_dir(bucket)
        for name, content in files.items():
            with store.open_output_stream(f"{bucket}/{name}", compression=None) as out:
                out.write(content)
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def local_gcs(monkeypatch: pytest.MonkeyPatch, bucket: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Files in a bucket of an emulator of Google's store; the environment points to it. It gives its address.

    It runs in a process of its own: Arrow holds the interpreter's lock while it waits for an answer.
    """
    pytest.importorskip("gcp_storage_emulator", reason="gcp-storage-emulator is not installed")
    fs: Any = pytest.importorskip("pyarrow.fs")
    if not hasattr(fs, "GcsFileSystem"):
        pytest.skip("this build of Arrow has no Google Cloud Storage")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    command = ["-m", "gcp_storage_emulator", "start", "--host=127.0.0.1", f"--port={host.rpartition(':')[2]}"]
    process = subprocess.Popen(
        [sys.executable, *command, "--in-memory", f"--default-bucket={bucket}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while not _answers(host):
            assert process.poll() is None, "the emulator has ended"
            assert time.monotonic() < deadline, "the emulator does not answer"
            time.sleep(0.05)  # between two looks
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://{host}")
        store = fs.GcsFileSystem(anonymous=True, scheme="http", endpoint_override=host)
        for name, content in files.items():
            with store.open_output_stream(f"{bucket}/{name}", compression=None) as out:
                out.write(content)
        yield f"http://{host}"
    finally:
        process.terminate()
        process.wait()


def _answers(host: str) -> bool:
    address, _, port = host.partition(":")
    try:
        socket.create_connection((address, int(port))).close()
    except OSError:
        return False
    return True
