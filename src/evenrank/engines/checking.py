"""What is wrong with the settings of an engine, all of it at once and without a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evenrank.engines.declared import REGISTRY
from evenrank.engines.opening import engine_kind
from evenrank.engines.settings import settings_of
from evenrank.errors import EvenrankError, MissingExtraError
from evenrank.remote.addresses import is_address, shown_address
from evenrank.remote.secrets import PREFIX, Secrets


def engine_problems(table: Mapping[str, Any], *, folder: Path, source: str) -> list[str]:
    """The problems of a table such as ``[engines.shop]``. Nothing is asked of the engine."""
    from evenrank.inputs.engine_table import CREDENTIALS, EngineTable, given_of
    from evenrank.io.settings import as_far_as_right, problems_of

    wrong = [
        f"{source}: {key} must not stand in the file itself: put it into an environment variable "
        f'and write credentials = {{{key} = "{PREFIX}{key.upper()}"}}'
        for key in CREDENTIALS
        if key in table
    ]
    others = {key: value for key, value in table.items() if key not in CREDENTIALS}
    wrong += problems_of(EngineTable, others, source)
    given = given_of(as_far_as_right(EngineTable, table))
    for use, name in given.pop("credentials", {}).items():  # as if the variable were set
        wrong += _failure(partial(Secrets, {use: name}, {name: "set"}), source)
    return list(dict.fromkeys([*wrong, *_of_address(given, folder, source)]))


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

    from evenrank.inputs.engine_table import CREDENTIALS

    named = dict(parse_qsl(address.partition("?")[2]))
    return {value: "set" for key, value in named.items() if key in CREDENTIALS}


def _failure(check: Callable[[], object], source: str) -> Iterator[str]:
    try:
        check()
    except MissingExtraError:
        return  # the installation lacks something, the settings do not
    except EvenrankError as error:
        for line in str(error).split("\n"):
            yield line if line.startswith(source) else f"{source}: {line}"
