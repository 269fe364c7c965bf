"""How an engine declares itself: its name, one line about it, and how it is made from settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from evenrank.engines.base import DeclaredEngine
from evenrank.engines.settings import EngineSettings

MakeEngine = Callable[[EngineSettings], DeclaredEngine]


class EngineKind(NamedTuple):
    summary: str
    make: MakeEngine


REGISTRY: dict[str, EngineKind] = {}


def declare_engine(name: str, summary: str) -> Callable[[MakeEngine], MakeEngine]:
    """Enter a function that makes an engine under the name that stands before ``+http://`` in an address."""

    def declare(make: MakeEngine) -> MakeEngine:
        REGISTRY[name] = EngineKind(summary, make)
        return make

    return declare
