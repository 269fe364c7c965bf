"""The settings of an engine: from its address, from an engine file, or from a table of a project file."""

from __future__ import annotations

import difflib
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from evenrank.errors import DataError, EvenrankWarning, ParameterError
from evenrank.io.files import read_bytes
from evenrank.io.toml import parse_toml
from evenrank.remote.addresses import LOOPBACK, Address, is_address, parse_address
from evenrank.remote.client import Client, Limits
from evenrank.remote.pace import Clock
from evenrank.remote.secrets import Secrets

if TYPE_CHECKING:
    import httpx2

LIMITS: dict[str, type] = {
    "timeout": float, "retries": int, "rate": float, "concurrency": int, "answer_bytes": int,
}  # fmt: skip
CREDENTIALS = ("user", "password", "api_key", "bearer")
KEYS: dict[str, str] = {  # all that an engine file may say; each engine uses some of them
    "engine": "the kind of engine",
    "address": "where it is: http://host:9200/index",
    "name": "what the run is called",
    "id": "the field with the id of a document, or a JSON pointer into a hit",
    "fields": "fields to keep",
    "text": "fields with the text of a document",
    "body": 'the request: a table, with "{query}" where the query\'s text goes',
    "body_file": "the same as a JSON file",
    "sql": "the SELECT, with a parameter for the query and one for the depth",
    "table": "the table to search, where there is no sql",
    "parameters": "parameters of the URL",
    "headers": "further headers, without secrets",
    "method": "GET or POST",
    "path": "the path of the search request",
    "hits": "JSON pointers into the answer",
    "paging": "how long lists are asked for in pages",
    "about": "where the engine tells its version and number of documents",
    "api_key_header": "the header that carries the API key",
    "tls": "false for a PostgreSQL server without TLS",
    "query_by": "the fields that Typesense searches",
    "batch": "queries in one request, where the engine takes several",
    "certificates": "a file with the certificates of your own authority",
    "credentials": "names of environment variables",
    **dict.fromkeys(LIMITS, "how patient and how polite to be"),
}
_SECRET = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)
# parameters have more names: keyword, author, tokenizer and sort_key are no secrets
_SECRET_PARAMETER = re.compile(
    r"auth(?!or(?!i))|cookie|(?<!sort)(?<!sort.)key(?!word)|token(?!i[sz])|secret|passw|^pass$|pwd|credential|jwt|^sig$"
    r"|signature",
    re.IGNORECASE,
)
_LISTS = ("fields", "text", "query_by")
_TABLES = ("body", "parameters", "headers", "hits", "paging", "about", "credentials")
_IN_ADDRESS = (
    *CREDENTIALS,
    *(name for name in KEYS if name not in (*_TABLES, "engine", "address", "sql")),
)


@dataclass(frozen=True)
class EngineSettings:
    """Everything that an engine is made from. ``options`` has the keys of ``KEYS`` that were given."""

    kind: str
    address: Address
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    secrets: Secrets = field(default_factory=Secrets)
    folder: Path = field(default_factory=Path)
    source: str = "engine"  # for messages: the file, or the address
    clock: Clock | None = None
    transport: httpx2.BaseTransport | None = None

    @property
    def index(self) -> str:
        """The path of the address without its slashes."""
        return self.address.path.strip("/")

    @property
    def name(self) -> str:
        return str(self.options.get("name") or self.index.rpartition("/")[2] or self.kind)

    def get(self, key: str, default: Any = None) -> Any:
        return self.options.get(key, default)

    def texts_of(self, key: str) -> tuple[str, ...]:
        """A list of names; one name may stand without the brackets."""
        given = self.options.get(key, ())
        return (given,) if isinstance(given, str) else tuple(given)

    @property
    def body(self) -> Any:
        """The request body, from the file or from the table."""
        if "body_file" not in self.options:
            return self.options.get("body")
        path = self.folder / str(self.options["body_file"])
        content = read_bytes(path)
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}: is not JSON: {error}") from None

    def _own_headers(self) -> dict[str, str]:
        own = {str(name): str(value) for name, value in self.get("headers", {}).items()}
        for name in own:
            if _SECRET.search(name):
                raise self._looks_secret(f"headers: {name}")
        return own

    def _check_parameters(self) -> None:
        """Refuse a secret among the parameters, which are shown; a place for the query is none."""
        for name, value in self.get("parameters", {}).items():
            if _SECRET_PARAMETER.search(name) and not (isinstance(value, str) and "{" in value):
                raise self._looks_secret(f"parameters: {name}")

    def _looks_secret(self, where: str) -> ParameterError:
        return self.error(
            f"{where} looks like a secret, which belongs into an environment variable: name "
            'that under [credentials], as api_key = "EVENRANK_KEY", bearer, or user and password'
        )

    def client(self, headers: Mapping[str, str] | None = None) -> Client:
        """A client for the server of the address. ``headers`` may hold secrets."""
        own = self._own_headers()
        self._check_parameters()
        if self.secrets and self.address.scheme == "http" and self.address.host not in LOOPBACK:
            warnings.warn(
                EvenrankWarning(
                    f"{self.source}: credentials are sent to {self.address.host} without encryption: use "
                    "an address with https"
                ),
                stacklevel=2,
            )
        user, password = self.secrets.get("user"), self.secrets.get("password")
        bearer = self.secrets.get("bearer")
        if bearer is not None:
            own["Authorization"] = f"Bearer {bearer}"
        certificates = self.get("certificates")
        return Client(
            self.address.origin,
            secrets=self.secrets,
            headers={**own, **(headers or {})},
            auth=None if password is None else (user or "", password),
            limits=self.limits,
            certificates=None if certificates is None else str(self.folder / certificates),
            clock=self.clock,
            transport=self.transport,
        )

    def error(self, what: str) -> ParameterError:
        return ParameterError(f"{self.source}: {what}")


def read_engine_file(path: Path) -> dict[str, Any]:
    """The table in an engine file, ``engine.toml``."""
    return parse_toml(read_bytes(path), str(path))


def settings_of(
    table: Mapping[str, Any],
    *,
    folder: Path,
    source: str,
    environment: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    transport: httpx2.BaseTransport | None = None,
) -> EngineSettings:
    """Check a table and sort it: where the engine is, how fast it may be asked, and the rest."""
    for key in table:
        if key not in KEYS:
            close = difflib.get_close_matches(key, KEYS, 1, 0.6)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(KEYS)}"
            raise ParameterError(f"{source}: an engine has no key {key!r}; {hint}")
    for key in _TABLES:
        if not isinstance(table.get(key, {}), Mapping):
            raise ParameterError(f"{source}: {key} must be a table")
    if not isinstance(table.get("address"), str):
        raise ParameterError(f'{source}: there is no address: write address = "http://host:port/index"')
    address = _located(table["address"], folder)
    given: dict[str, Any] = {**table}
    for key, value in address.settings.items():
        _take(given, key, value, source)
    kind = str(given.get("engine") or address.kind or "")
    if address.kind is not None and given.get("engine") not in (None, address.kind):
        raise ParameterError(
            f"{source}: the address says {address.kind}, and engine says {given['engine']}: leave one of "
            "them out"
        )
    options = {
        key: value for key, value in given.items() if key not in (*LIMITS, "credentials", "address", "engine")
    }
    return EngineSettings(
        kind=kind,
        address=address,
        options=options,
        limits=Limits(
            **{key: _number(given[key], key, kind_, source) for key, kind_ in LIMITS.items() if key in given}
        ),
        secrets=Secrets(_credentials(given.get("credentials", {}), source), environment),
        folder=folder,
        source=source,
        clock=clock,
        transport=transport,
    )


def _located(text: str, folder: Path) -> Address:
    """The address, or that of a database file."""
    if is_address(text):
        return parse_address(text)
    file, _, more = (text, "", "") if (folder / text).exists() else text.partition("?")
    return Address("sqlite", "sqlite", path=str(folder / file), settings=dict(parse_qsl(more)))


def _take(given: dict[str, Any], key: str, value: str, source: str) -> None:
    """A setting behind the question mark of an address."""
    if key in CREDENTIALS:
        given["credentials"] = {**given.get("credentials", {}), key: value}
    elif key in _LISTS:
        given[key] = value.split(",")
    elif key in _IN_ADDRESS:
        given[key] = value
    else:
        known = ", ".join(_IN_ADDRESS)
        raise ParameterError(f"{source}: an address has no setting {key!r}; known are {known}")


def _credentials(given: Mapping[str, Any], source: str) -> dict[str, str]:
    for use in given:
        if use not in CREDENTIALS:
            raise ParameterError(f"{source}: credentials has no {use!r}; known are {', '.join(CREDENTIALS)}")
    return dict(given)


def _number(value: Any, key: str, kind: type, source: str) -> Any:
    try:
        if isinstance(value, bool):
            raise ValueError
        number = kind(value) if isinstance(value, (str, int)) or kind is float else value
        if not isinstance(number, kind):
            raise ValueError
    except (TypeError, ValueError):
        raise ParameterError(f"{source}: {key} must be a number, got {value!r}") from None
    return number
