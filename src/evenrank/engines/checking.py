"""What is wrong with the settings of an engine, all of it at once and without a request."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evenrank.engines.declared import REGISTRY
from evenrank.engines.opening import engine_kind
from evenrank.engines.settings import CREDENTIALS, KEYS, settings_of
from evenrank.errors import EvenrankError, MissingExtraError
from evenrank.remote.addresses import is_address, shown_address
from evenrank.remote.secrets import PREFIX, Secrets


def engine_problems(table: Mapping[str, Any], *, folder: Path, source: str) -> list[str]:
    """The problems of a table such as ``[engines.shop]``. Nothing is asked of the engine."""
    left = {key: value for key, value in table.items() if key in KEYS and key != "credentials"}
    return list(dict.fromkeys([*_of_keys(table, source), *_of_address(left, folder, source)]))


def _of_keys(table: Mapping[str, Any], source: str) -> Iterator[str]:
    for key in table:
        if key in CREDENTIALS:
            yield (
                f"{source}: {key} must not stand in the file itself: put it into an environment variable "
                f'and write credentials = {{{key} = "{PREFIX}{key.upper()}"}}'
            )
        elif key not in KEYS:
            close = difflib.get_close_matches(key, KEYS, 1, 0.6)
            hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(KEYS)}"
            yield f"{source}: an engine has no key {key!r}; {hint}"
    credentials = table.get("credentials", {})
    if not isinstance(credentials, Mapping):
        yield f"{source}: credentials must be a table"
        return
    for use, name in credentials.items():
        if use not in CREDENTIALS:
            yield f"{source}: credentials has no {use!r}; known are {', '.join(CREDENTIALS)}"
        else:  # as if the variable were set: another machine may have it
            yield from _failure(partial(Secrets, {use: name}, _set(name)), source)


def _of_address(table: Mapping[str, Any], folder: Path, source: str) -> Iterator[str]:
    address = table.get("address")
    if isinstance(address, str) and not is_address(address):
        file = address if (folder / address).exists() else address.partition("?")[0]
        if not (folder / file).is_file():
            yield (
                f"{source}: address: {shown_address(address)!r} is neither the address of an engine, as "
                "opensearch+http://localhost:9200/products, nor a database file that is there"
            )
            return
    environment = _named_in_address(address) if isinstance(address, str) else {}
    yield from _failure(partial(_make, table, folder, source, environment), source)


def _make(table: Mapping[str, Any], folder: Path, source: str, environment: Mapping[str, str]) -> None:
    made = settings_of(table, folder=folder, source=source, environment=environment)
    settings = engine_kind(made, base=folder, ask=False)
    if settings.kind:  # of a plain http address only the engine itself could tell
        REGISTRY[settings.kind].make(settings).close()


def _named_in_address(address: str) -> dict[str, str]:
    """Variables that an address names behind its question mark, as if they were set."""
    from urllib.parse import parse_qsl

    named = dict(parse_qsl(address.partition("?")[2]))
    return {value: "set" for key, value in named.items() if key in CREDENTIALS}


def _set(name: object) -> dict[str, str]:
    return {name: "set"} if isinstance(name, str) else {}


def _failure(check: Callable[[], object], source: str) -> Iterator[str]:
    try:
        check()
    except MissingExtraError:
        return  # the installation lacks something, the settings do not
    except EvenrankError as error:
        for line in str(error).split("\n"):
            yield line if line.startswith(source) else f"{source}: {line}"
