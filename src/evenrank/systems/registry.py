"""Systems by name: what ``--system`` takes."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, InputTypeError, UnknownNameError
from evenrank.evidence.polarise.encoders import MINILM
from evenrank.systems.adapters import FunctionSystem, PyTerrierSystem
from evenrank.systems.base import Progress, Retriever
from evenrank.systems.bm25 import BM25, RM3
from evenrank.systems.dense import Dense
from evenrank.systems.reranking import Reranked
from evenrank.systems.scorers import NANORANKER

ARROW = ">>"

FIRST: dict[str, str] = {
    "bm25": "BM25 (bm25s)",
    "bm25+rm3": "BM25 with pseudo-relevance feedback",
    MINILM: "all-MiniLM-L6-v2, exact search",
}
SECOND: dict[str, str] = {NANORANKER: "a small neural re-ranker"}


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
    ``depth`` documents of one of them are ordered anew by ``nanoranker`` or the folder of a cross-encoder
    (a ranker of ``evenrank train`` is one), as in ``bm25>>nanoranker``. A function of documents and queries,
    a PyTerrier pipeline, or a system as it is.

    >>> make_system("bm25+rm3").name
    'bm25+rm3'
    """
    if isinstance(given, (str, os.PathLike)):
        first, *others = (part.strip() for part in str(given).split(ARROW))
        system = _first(first, cache, batch, progress)
        for other in others:
            system = Reranked(system, _second(other), depth=depth, progress=progress)
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


def _first(
    name: str, cache: str | os.PathLike[str] | None, batch: int, progress: Progress | None
) -> Retriever:
    makers: dict[str, Callable[[], Retriever]] = {
        "bm25": BM25,
        "bm25+rm3": RM3,
        MINILM: lambda: Dense(MINILM, cache=cache, batch=batch, progress=progress),
    }
    if name in makers:
        return makers[name]()
    if _is_folder(name):
        return Dense(name, cache=cache, batch=batch, progress=progress)
    raise _unknown(name, FIRST, "system")


def _second(name: str) -> str:
    if name in SECOND or _is_folder(name):
        return name
    raise _unknown(name, SECOND, "re-ranker")


def _is_folder(name: str) -> bool:
    return bool(name) and Path(name).expanduser().is_dir()  # without a name it would be the current one


def _unknown(name: str, known: dict[str, str], what: str) -> Exception:
    if os.sep in name:
        return DataError(f"{name}: no such folder of a model")
    close = difflib.get_close_matches(name, known, 3, 0.4) or list(known)
    return UnknownNameError(f"no {what} is called {name!r}: {', '.join(close)}, or the folder of a model")
