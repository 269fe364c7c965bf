"""Addresses of servers: ``opensearch+https://host:9200/products?rate=20``, without any secret in them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from evenrank.errors import EvenrankWarning, ParameterError
from evenrank.text import without_userinfo

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WEB = ("http", "https")
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Address:
    """What a URL says: the kind of server before the plus sign, where it is, and settings after the ``?``."""

    scheme: str  # http, https, postgresql, sqlite
    kind: str | None = None  # opensearch in opensearch+http; None where only the scheme is said
    host: str = ""
    port: int | None = None
    path: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Scheme, host and port, as they are shown and asked."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (f":{self.port}" if self.port is not None else "")

    def __str__(self) -> str:
        return (f"{self.kind}+" if self.kind else "") + self.origin + self.path


def is_address(text: object) -> bool:
    """Whether this is an address and not the path of a file.

    >>> is_address("opensearch+http://localhost:9200/products"), is_address("runs/bm25.trec")
    (True, False)
    """
    return isinstance(text, str) and _SCHEME.match(text) is not None


def is_remote(text: object) -> bool:
    """Whether this is the address of a server, on whatever machine; a database file is none.

    >>> is_remote("postgresql://localhost/shop"), is_remote("sqlite:///shop.db")
    (True, False)
    """
    return is_address(text) and not str(text).lower().startswith("sqlite:")


def parse_address(text: str) -> Address:
    """Read an address. A user name and a password in it are left out, with a warning that does not repeat
    them.

    >>> parse_address("typesense+http://localhost:8108/shop?rate=20").settings
    {'rate': '20'}
    >>> str(parse_address("https://search.example/"))
    'https://search.example/'
    """
    if not is_address(text):
        raise ParameterError(
            "an address begins with the kind of engine and ://, as "
            f"opensearch+http://localhost:9200/products; got {shown_address(text)!r}"
        )
    try:
        parts = urlsplit(text)
        port = parts.port
        settings = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError as error:
        raise ParameterError(f"{shown_address(text)}: is not an address: {_safe(error, text)}") from None
    kind, _, scheme = parts.scheme.lower().rpartition("+")
    if "@" in parts.path + parts.query + parts.fragment:
        raise ParameterError(
            f"{shown_address(text)}: an at sign stands behind the host: write it as %40, and put user "
            "names and passwords into environment variables"
        )
    if parts.fragment:
        raise ParameterError(f"{shown_address(text)}: an address has no part after #")
    host = unquote(parts.hostname or "")
    if scheme in _WEB and not host:
        raise ParameterError(f"{shown_address(text)}: there is no host in the address")
    if parts.username is not None or parts.password is not None:
        warnings.warn(
            EvenrankWarning(
                f"{parts.hostname}: the user name and password in the address were left out, since "
                "addresses are shown and kept; put them into environment variables and name those: "
                "?user=EVENRANK_USER&password=EVENRANK_PASSWORD"
            ),
            stacklevel=2,
        )
    return Address(scheme, kind or None, host, port, parts.path, settings)


def shown_address(text: str) -> str:
    """An address for a message: without what stands before the at sign, and without its settings, where
    somebody may have put a password by mistake.

    >>> shown_address("https://me:secret@host/index?rate=5")
    'https://host/index'
    """
    return without_userinfo(text).partition("?")[0]


def _safe(error: Exception, text: str) -> str:
    """The reason, unless it repeats what stands before the at sign."""
    return str(error) if "@" not in text and "?" not in text else "its host, port or settings cannot be read"
