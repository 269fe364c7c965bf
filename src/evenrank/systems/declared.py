"""How a system declares itself: its name, one line about it, and how it is made."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from evenrank.systems.base import Progress, Retriever


@dataclass(frozen=True)
class SystemSettings:
    """What a system may use: a folder for vectors, how many texts at once, and who is told of progress."""

    cache: str | os.PathLike[str] | None = None
    batch: int = 64
    progress: Progress | None = None


MakeSystem = Callable[[SystemSettings], Retriever]


class DeclaredSystem(NamedTuple):
    summary: str
    make: MakeSystem


FIRST: dict[str, DeclaredSystem] = {}  # what retrieves
SECOND: dict[str, str] = {}  # what re-ranks behind >>, with one line about it


def declare_system(name: str, summary: str) -> Callable[[MakeSystem], MakeSystem]:
    """Enter a function that makes a system under the name that ``--system`` takes."""

    def declare(make: MakeSystem) -> MakeSystem:
        FIRST[name] = DeclaredSystem(summary, make)
        return make

    return declare


def declare_second(name: str, summary: str) -> None:
    """Enter a re-ranker of texts under the name that stands behind ``>>``."""
    SECOND[name] = summary
