"""From a name or an object to a system that indexes and retrieves."""

from __future__ import annotations

import inspect
import os
from typing import Any

from evenrank.data.run import Run
from evenrank.errors import InputTypeError
from evenrank.systems.adapters import FunctionSystem, PyTerrierSystem
from evenrank.systems.base import Progress, Retriever, Texts
from evenrank.systems.declared import SystemSettings, SystemTerm, all_systems
from evenrank.systems.naming import parse_system


def make_system(
    given: Any,
    *,
    cache: str | os.PathLike[str] | None = None,
    depth: int = 100,
    batch: int = 32,
    progress: Progress | None = None,
    folder: str | os.PathLike[str] = ".",
) -> Retriever:
    """A system from its name, or from what can be made one.

    A name is a term such as ``BM25(k1=0.9)``, ``Dense(model=minilm)`` or ``RRF(BM25,Dense(model=minilm))``
    (``evenrank retrieve`` lists them), one of the short names ``bm25``, ``bm25+rm3`` and ``minilm``, or the
    folder of a sentence-transformers model. With ``>>`` the first ``depth`` documents of a system (or
    ``:depth=N``) are ordered anew by ``nanoranker`` or the folder of a cross-encoder (a ranker of ``evenrank
    debias`` is one), as in ``bm25>>nanoranker``. A function of documents and queries, a PyTerrier pipeline,
    or a system as it is, can be given too.

    ``cache`` is a folder for vectors and indexes; ``folder`` is what folders of models are relative to.

    >>> make_system("bm25+rm3").name
    'bm25+rm3'
    """
    if isinstance(given, (str, os.PathLike)):
        given = parse_system(str(given), depth=depth, folder=folder)
    if isinstance(given, SystemTerm):
        settings = SystemSettings(cache, batch, progress, folder)
        given.check(settings)
        made = given.make(settings)
        return made if given.cutoff is None else ShortenedSystem(made, given.cutoff)
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


class ShortenedSystem:
    """A system whose lists have at most so many documents, as ``BM25@100`` says."""

    def __init__(self, system: Retriever, depth: int) -> None:
        self._system, self._depth = system, depth
        self.name = system.name

    def index(self, documents: Texts) -> None:
        self._system.index(documents)

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        return self._system.retrieve(queries, min(k, self._depth))

    @property
    def notes(self) -> list[str]:
        return notes_of(self._system)


def notes_of(system: Retriever) -> list[str]:
    """What a system has to say about its work, such as answers that had to be repaired."""
    return list(getattr(system, "notes", []))


def check_system(given: str, folder: str | os.PathLike[str] = ".") -> None:
    """Say what is wrong with the name of a system, and load no model for it."""
    parse_system(given, folder=folder).check(SystemSettings(folder=folder))


def describe_system(cls: type[SystemTerm]) -> dict[str, Any]:
    """What a system declares, in plain values."""
    summary, _, text = (inspect.getdoc(cls) or "").partition("\n\n")
    return {
        "name": cls.name,
        "class": cls.family,
        "summary": " ".join(summary.split()),
        "extra": cls.extra,
        "parameters": cls.describe_parameters(),
        "text": text.partition(">>>")[0].strip(),
    }


def describe_systems() -> list[dict[str, Any]]:
    """What every system declares, by class."""
    return [describe_system(cls) for cls in all_systems().values()]
