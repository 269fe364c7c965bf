"""Serving an application on an address of this machine."""

from __future__ import annotations

from typing import Any

from evenrank.errors import DataError, MissingExtraError, ParameterError


def address_of(text: str) -> tuple[str, int]:
    """
    >>> address_of("127.0.0.1:8000")
    ('127.0.0.1', 8000)
    """
    host, colon, port = text.rpartition(":")
    if not (host and colon and port.isascii() and port.isdigit() and int(port) < 65536):
        raise ParameterError(f"an address is HOST:PORT, as 127.0.0.1:8000; got {text!r}")
    return host.strip("[]"), int(port)


MOST_HEADER_BYTES = 16 * 1024


def serve(application: Any, address: str, *, proxied: bool) -> None:
    """Serve until interrupted. No access log: it would hold the addresses of visitors.

    Only where a web server on this machine passes requests on (``proxied``) does the header X-Forwarded-For
    say who asks; otherwise everybody could write there what they like.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtraError.for_job("serving pages", "starlette and uvicorn", "study") from None
    host, port = address_of(address)
    settings = uvicorn.Config(
        application, host=host, port=port, access_log=False, log_level="warning", server_header=False,
        lifespan="off", ws="none", timeout_keep_alive=30, proxy_headers=proxied, http="h11",
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
    )  # fmt: skip
    try:
        uvicorn.Server(settings).run()
    except SystemExit:  # uvicorn's way to say that the address is taken
        raise DataError(f"{address}: cannot be listened on: another program may be using it") from None
