"""From an address, a file, a table or an object to an engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.engines.base import DeclaredEngine, Engine
from evenrank.engines.callables import CallableEngine, PyTerrierEngine
from evenrank.engines.declared import REGISTRY
from evenrank.engines.settings import WAY_OUT, EngineSettings, read_engine_file, settings_of
from evenrank.errors import DataError, InputTypeError, ParameterError, RemoteError
from evenrank.remote.addresses import is_address, shown_address
from evenrank.remote.pace import Clock

if TYPE_CHECKING:
    import httpx2

DATABASES = (".db", ".sqlite", ".sqlite3")


def open_engine(
    given: Any,
    *,
    name: str | None = None,
    folder: str | os.PathLike[str] = ".",
    environment: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    transport: httpx2.BaseTransport | None = None,
    **settings: Any,
) -> DeclaredEngine:
    """An engine from its address, from an engine file (``engine.toml``), from such a table as a mapping, or
    from a Python object: a function of a text and a depth, a PyTerrier pipeline, whatever has ``describe``
    and ``search``.

    ``settings`` are further keys of an engine file (``rate=20``, ``fields=["seller"]``) and take precedence.
    ``folder`` is what paths in a table are relative to. Credentials are read from ``environment``, which is
    that of the process.

    >>> open_engine(lambda text, depth: {"d1": 1.0}, name="mine").name
    'mine'
    """
    if isinstance(given, DeclaredEngine):
        return given
    if not isinstance(given, (str, os.PathLike, Mapping)):
        return _of_object(given, name)
    if name is not None:
        settings["name"] = name
    table, base, source = _table(given, Path(folder))
    made = settings_of(
        {**table, **settings},
        folder=base,
        source=source,
        environment=environment,
        clock=clock,
        transport=transport,
    )
    made = engine_kind(made, base=base)
    engine = REGISTRY[made.kind].make(made)
    engine.fields = made.texts_of("fields") or None
    return engine


def engine_kind(made: EngineSettings, *, base: Path, ask: bool = True) -> EngineSettings:
    """The settings with the kind of the engine, which a plain http address is asked for, unless ``ask`` is
    false: then the kind stays empty."""
    if not made.kind:
        if not ask:
            return made
        made = replace(made, kind=recognised(made))
    if made.kind == "sqlite" and made.address.kind is None:  # sqlite:///file.db, relative to the folder
        path = str(base / made.address.path.removeprefix("/"))
        made = replace(made, address=replace(made.address, path=path))
    if made.kind not in REGISTRY:
        raise ParameterError(
            f"{made.source}: there is no engine {made.kind!r}; there are {', '.join(sorted(REGISTRY))}"
        )
    return made


def recognised(settings: EngineSettings) -> str:
    """The kind of engine behind a plain http address, by one request to its root."""
    once = replace(settings, limits=replace(settings.limits, retries=0))  # one request
    client = once.client()
    try:
        root = client.ask("GET", "/")
    except RemoteError as error:
        raise RemoteError(f"{error}\nwhat kind of engine it is could not be found out: {WAY_OUT}") from None
    finally:
        client.close()
    found = kind_of(root)
    if found is None:
        raise RemoteError(
            f"{settings.address}: its root does not say what kind of engine it is: {WAY_OUT} "
            f"({', '.join(sorted(REGISTRY))})"
        )
    return found


def kind_of(root: Any) -> str | None:
    """What an engine's root says about it.

    >>> kind_of({"version": {"distribution": "opensearch", "number": "2.5.0"}})
    'opensearch'
    """
    if not isinstance(root, Mapping):
        return None
    version = root.get("version")
    if isinstance(version, Mapping) and version.get("distribution") == "opensearch":
        return "opensearch"
    if isinstance(version, Mapping) and "lucene_version" in version:
        return "elasticsearch"
    return "meilisearch" if "Meilisearch" in str(root.get("status", "")) else None


def is_engine(given: object) -> bool:
    """Whether a text on a command line means an engine and not a run file.

    >>> is_engine("opensearch+http://localhost:9200/shop"), is_engine("shop.db"), is_engine("run.trec")
    (True, True, False)
    """
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        return is_address(text) or Path(text.partition("?")[0]).suffix in (*DATABASES, ".toml")
    return isinstance(given, (DeclaredEngine, Engine)) or hasattr(given, "transform") or callable(given)


def _table(given: Any, folder: Path) -> tuple[dict[str, Any], Path, str]:
    """The settings, the folder that their paths are relative to, and what to call them in messages."""
    if isinstance(given, Mapping):
        return (
            dict(given),
            folder,
            f"engine {given.get('name') or shown_address(str(given.get('address', '')))}",
        )
    text = os.fspath(given)
    if is_address(text):
        return {"address": text}, folder, shown_address(text)
    file = text.partition("?")[0]
    path = folder / file
    if path.suffix == ".toml":
        return {"name": path.stem, **read_engine_file(path)}, path.parent, str(path)
    if path.suffix in DATABASES:
        return {"address": text}, folder, file
    if path.exists():
        raise DataError(f"{path}: is neither an engine file (.toml) nor a database ({', '.join(DATABASES)})")
    raise ParameterError(
        f"{shown_address(text)!r} is no address, engine file or database: an address looks like "
        "opensearch+http://localhost:9200/products"
    )


def _of_object(given: Any, name: str | None) -> DeclaredEngine:
    if hasattr(given, "transform"):
        return PyTerrierEngine(given, name)
    if isinstance(given, Engine):
        return CallableEngine(given.search, name or given.name, own=given)
    if callable(given):
        return CallableEngine(given, name)
    raise InputTypeError(
        "an engine is an address, an engine file, a table of settings, a function of a text and a "
        f"depth, a PyTerrier pipeline, or has describe and search; got {type(given).__name__}"
    )
