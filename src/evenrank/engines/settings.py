"""The settings of an engine: from its address, from an engine file, or from a table of a project file."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from evenrank.errors import DataError, EvenrankWarning, ParameterError
from evenrank.files import read_bytes
from evenrank.io.toml import parse_toml
from evenrank.remote.addresses import LOOPBACK, Address, is_address, parse_address
from evenrank.remote.client import Client, Limits
from evenrank.remote.pace import Clock
from evenrank.remote.secrets import Secrets

if TYPE_CHECKING:
    import httpx2

LIMITS = ("timeout", "retries", "rate", "concurrency", "answer_bytes")
SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite"}  # of one kind each
WAY_OUT = (
    'write the kind before the address, as opensearch+http://.., or use an engine file with engine = ".."'
)
_SECRET = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)
# parameters have more names: keyword, author, tokenizer and sort_key are no secrets
_SECRET_PARAMETER = re.compile(
    r"auth(?!or(?!i))|cookie|(?<!sort)(?<!sort.)key(?!word)|token(?!i[sz])|secret|passw|^pass$|pwd|credential|jwt|^sig$"
    r"|signature",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class EngineSettings:
    """Everything that an engine is made from. ``options`` are its further keys that were given."""

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
    from evenrank.inputs.engine_table import EngineTable, given_of
    from evenrank.io.settings import checked

    given = given_of(checked(EngineTable, table, source, ParameterError))
    if "address" not in given:
        raise ParameterError(f'{source}: there is no address: write address = "http://host:port/index"')
    address = _located(given["address"], folder)
    given = _with_settings(given, address.settings, source)
    kind = _kind_of(given.get("engine"), address, source)
    options = {
        key: value for key, value in given.items() if key not in (*LIMITS, "credentials", "address", "engine")
    }
    return EngineSettings(
        kind=kind,
        address=address,
        options=options,
        limits=Limits(**{key: given[key] for key in LIMITS if key in given}),
        secrets=Secrets(given.get("credentials", {}), environment),
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


def _with_settings(given: dict[str, Any], written: Mapping[str, str], source: str) -> dict[str, Any]:
    """The keys with those behind the question mark of an address, where all values are text."""
    from evenrank.inputs.engine_table import CREDENTIALS, IN_ADDRESS, LISTS, EngineTable, given_of
    from evenrank.io.settings import checked

    made: dict[str, Any] = {}
    for key, value in written.items():
        if key in CREDENTIALS:
            made.setdefault("credentials", dict(given.get("credentials", {})))[key] = value
        elif key in IN_ADDRESS:
            made[key] = value.split(",") if key in LISTS else value
        else:
            known = ", ".join((*CREDENTIALS, *IN_ADDRESS))
            raise ParameterError(f"{source}: an address has no setting {key!r}; known are {known}")
    return {**given, **given_of(checked(EngineTable, made, source, ParameterError, strict=False))}


def _kind_of(engine: str | None, address: Address, source: str) -> str:
    """The kind of the engine; empty where the engine itself must be asked. What the address says, its scheme
    included, cannot be replaced: the kind decides what is sent there."""
    of_address = {one for one in (address.kind, SCHEMES.get(address.scheme)) if one}
    kinds = of_address | ({engine} if engine else set())
    is_web = address.scheme in ("http", "https")
    said = " and ".join(sorted(of_address)) or address.scheme
    if len(kinds) > 1 or (is_web and kinds & set(SCHEMES.values())):
        raise ParameterError(f"{source}: the address says {said}, and engine says {engine}: they must agree")
    if not is_web and not of_address & set(SCHEMES.values()):
        raise ParameterError(f"{source}: no engine is asked by {address.scheme}://; {WAY_OUT}")
    if address.scheme == "sqlite" and address.host:
        raise ParameterError(
            f"{source}: a database file is on no host: write its path, as shop.db or sqlite:///shop.db"
        )
    return kinds.pop() if kinds else ""
