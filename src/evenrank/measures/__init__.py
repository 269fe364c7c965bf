"""Measures: each a declaration and a kernel over arrays, one family a module.

Every module of this folder is loaded with it, so a new measure is one new file; its class is then
``evenrank.measures.<name of the class>`` and is found by its name in all commands.
"""

from __future__ import annotations

from typing import Any

from evenrank.measures.base import Direction, Measure, Note, Result
from evenrank.measures.combined import Product as Product
from evenrank.measures.combined import WeightedSum
from evenrank.measures.delegated import Delegated as Delegated
from evenrank.measures.registry import all_measures, parse_measure, parse_measures
from evenrank.modules import load_folder

load_folder(__name__, __path__)

__all__ = [
    "Direction",
    "Measure",
    "Note",
    "Result",
    "WeightedSum",
    "all_measures",
    "parse_measure",
    "parse_measures",
]


def __getattr__(name: str) -> Any:
    """The class of a measure by its name."""
    found = all_measures().get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *all_measures()})
