"""How a system declares itself: a term with its class, its settings, and how it is made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from evenrank.grammar import REFUSED, REGISTRY, ParameterRule, Term, integer, parameter
from evenrank.systems.base import Progress, Retriever

LEXICAL, SPARSE, DENSE, LATE = "lexical", "sparse", "dense", "late interaction"
RERANKER, LLM, INDUSTRY, FUSION = "re-ranker", "LLM", "industry", "fusion"
CLASSES = (LEXICAL, SPARSE, DENSE, LATE, RERANKER, LLM, INDUSTRY, FUSION)  # in the order of tables
DEPTH = 1000  # documents of a list, and those that a first stage gives, as in texfair-2024


@dataclass(frozen=True)
class SystemSettings:
    """What a system may use beside its own parameters."""

    cache: str | os.PathLike[str] | None = None  # a folder for indexes, vectors and answers
    batch: int = 32  # texts at once, as sentence-transformers has it
    progress: Progress | None = None
    folder: str | os.PathLike[str] = "."  # what folders of models are relative to
    on: object = None  # a cluster that encodes documents

    def path(self, name: str) -> Path:
        """A folder or file that a parameter names."""
        return Path(self.folder) / Path(name).expanduser()

    @property
    def cache_folder(self) -> Path | None:
        return None if self.cache is None else Path(self.cache)


@dataclass(frozen=True, repr=False)
class SystemTerm(Term):
    """A system as a value: ``Dense(model='minilm')@100`` retrieves at most 100 documents for a query.

    ``check`` finds whatever can be found without reading documents or loading a model; ``make`` gives the
    system itself.
    """

    kind: ClassVar[str] = "system"
    family: ClassVar[str] = ""  # one of CLASSES
    extra: ClassVar[str] = ""  # of the package, that it needs
    needs_documents: ClassVar[bool] = True

    cutoff: int | None = parameter(None, integer(1, optional=True), "how many documents a list has at most")

    @property
    def depth_of_lists(self) -> int:
        return self.cutoff or DEPTH

    @property
    def parts(self) -> tuple[SystemTerm, ...]:
        """The systems that this one is made of."""
        return ()

    @property
    def system_class(self) -> str:
        """One of CLASSES; empty where nobody knows it."""
        return self.family

    def check(self, settings: SystemSettings) -> None:
        for part in self.parts:
            part.check(settings)

    def make(self, settings: SystemSettings) -> Retriever:
        raise NotImplementedError

    def walk(self) -> Iterator[SystemTerm]:
        """This system and all that it is made of."""
        yield self
        for part in self.parts:
            yield from part.walk()


def all_systems() -> dict[str, type[SystemTerm]]:
    """Every declared system by name, in the order of the classes.

    >>> all_systems()["BM25"].family
    'lexical'
    """
    found = {name: cls for name, cls in REGISTRY["system"].items() if issubclass(cls, SystemTerm)}
    return dict(sorted(found.items(), key=lambda item: (CLASSES.index(item[1].family), item[0].lower())))


def system_value() -> ParameterRule:
    """A system as the value of a parameter: a term, or its name in any form that ``--system`` takes."""

    def accept(value: Any) -> Any:
        if isinstance(value, str):
            from evenrank.systems.naming import parse_system

            value = parse_system(value)
        return value if isinstance(value, SystemTerm) else REFUSED

    return ParameterRule("a system", accept)


def systems_value(at_least: int) -> ParameterRule:
    """Several systems."""
    one = system_value()

    def accept(value: Any) -> Any:
        if not isinstance(value, (tuple, list)) or len(value) < at_least:
            return REFUSED
        found = tuple(one.accept(member) for member in value)
        return REFUSED if any(member is REFUSED for member in found) else found

    return ParameterRule(f"{at_least} systems or more", accept)
