"""An S3 server on this machine, for tests that read from a store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

SECRET = "a-secret-that-no-message-holds"


@contextmanager
def local_s3(monkeypatch: pytest.MonkeyPatch, bucket: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Files in a bucket behind a real HTTP server; the environment points there. It gives the endpoint."""
    pytest.importorskip("flask", reason="moto[server] is not installed")
    server_module: Any = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    fs: Any = pytest.importorskip("pyarrow.fs")
    if not hasattr(fs, "S3FileSystem"):
        pytest.skip("this build of Arrow has no S3")
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = server_module.DomainDispatcherApplication(server_module.create_backend_app)
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
