"""Systems by name: what ``--system`` takes."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, InputTypeError, ParameterError, UnknownNameError
from evenrank.systems.adapters import FunctionSystem, PyTerrierSystem
from evenrank.systems.base import Progress, Retriever
from evenrank.systems.declared import FIRST, SECOND, SystemSettings
from evenrank.systems.dense import Dense
from evenrank.systems.reranking import Reranked

ARROW = ">>"


def make_system(
    given: Any,
    *,
    cache: str | os.PathLike[str] | None = None,
    depth: int = 100,
    batch: int = 64,
    progress: Progress | None = None,
) -> Retriever:
    """A system from its name, or from what can be made one.

    ``bm25``, ``bm25+rm3``, ``minilm``, the folder of a sentence-transformers model; with ``>>`` the first
    ``depth`` documents of one of them (or ``:depth=N``) are ordered anew by ``nanoranker`` or
    the folder of a cross-encoder
    (a ranker of ``evenrank debias`` is one), as in ``bm25>>nanoranker``. A function of documents and queries,
    a PyTerrier pipeline, or a system as it is.

    >>> make_system("bm25+rm3").name
    'bm25+rm3'
    """
    if isinstance(given, (str, os.PathLike)):
        first, *others = (part.strip() for part in str(given).split(ARROW))
        system = _first(first, SystemSettings(cache, batch, progress))
        for other in others:
            name, own = _second(other)
            system = Reranked(system, name, depth=own or depth, progress=progress)
        return system
    if isinstance(given, Retriever):
        return given
    if hasattr(given, "transform"):
        return PyTerrierSystem(given)
    if callable(given):
        return FunctionSystem(given)
    raise InputTypeError(
        "a system is a name, a function of documents and queries, a PyTerrier pipeline, or has index and "
        f"retrieve; got {type(given).__name__}"
    )


def check_system(given: str) -> None:
    """Say what is wrong with the name of a system, and load no model for it."""
    first, *others = (part.strip() for part in given.split(ARROW))
    if first not in FIRST and not _is_folder(first):
        raise _unknown(first, FIRST, "system")
    for other in others:
        _second(other)


def _first(name: str, settings: SystemSettings) -> Retriever:
    if name in FIRST:
        return FIRST[name].make(settings)
    if _is_folder(name):
        return Dense(name, cache=settings.cache, batch=settings.batch, progress=settings.progress)
    raise _unknown(name, FIRST, "system")


def _second(given: str) -> tuple[str, int | None]:
    """The re-ranker and how many documents it takes, as ``nanoranker:depth=50``."""
    name, colon, depth = given.partition(":depth=")
    if colon and not (depth.isascii() and depth.isdigit() and int(depth) > 0):
        raise ParameterError(f"{given}: depth must be an integer > 0, got {depth!r}")
    if name in SECOND or _is_folder(name):
        return name, int(depth) if colon else None
    raise _unknown(name, SECOND, "re-ranker")


def _is_folder(name: str) -> bool:
    return bool(name) and Path(name).expanduser().is_dir()  # without a name it would be the current one


def _unknown(name: str, known: Collection[str], what: str) -> Exception:
    if os.sep in name:
        return DataError(f"{name}: no such folder of a model")
    close = difflib.get_close_matches(name, known, 3, 0.4) or list(known)
    return UnknownNameError(f"no {what} is called {name!r}: {', '.join(close)}, or the folder of a model")
