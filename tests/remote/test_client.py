"""The HTTP client: which of its connections check certificates."""

from __future__ import annotations

import ssl
from typing import Any

from evenrank.remote.client import Client


def test_certificates_are_checked_wherever_a_server_redirects_to() -> None:
    """Those of a plain address are never loaded; one that leads to https gets a client that checks them."""
    client = Client("http://localhost:1")
    plain, secure = (client._opened(f"{scheme}://localhost:1") for scheme in ("http", "https"))
    assert plain is client._opened("http://localhost:1/other")
    assert plain is not secure
    context: Any = secure._transport._pool._ssl_context  # type: ignore[attr-defined]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    client.close()
    assert plain.is_closed
    assert secure.is_closed
