"""What the folder of a sentence-transformers model is made of, read without loading it."""

from __future__ import annotations

import json
from pathlib import Path

MODULES = "modules.json"
NORMALIZE, ROUTER = "Normalize", "Router"


def module_kinds(folder: Path) -> list[str]:
    """The kinds of its modules in order, as ``["Transformer", "Pooling", "Normalize"]``.

    Empty where the folder has no list of modules, or one that cannot be read: loading it says what is wrong.
    """
    try:
        found = json.loads((folder / MODULES).read_text(encoding="utf-8"))
        return [str(module["type"]).rpartition(".")[2] for module in found]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def tells_queries_apart(kinds: list[str]) -> bool:
    """Whether queries and documents take different ways through the modules."""
    return ROUTER in kinds


def sets_lengths(kinds: list[str]) -> bool:
    """Whether the model brings vectors to length 1 and then changes them: their lengths are meant so.

    >>> sets_lengths(["Transformer", "Pooling", "Normalize", "Dense"])
    True
    >>> sets_lengths(["Transformer", "Pooling", "Dense", "Normalize"])
    False
    """
    return NORMALIZE in kinds and kinds[-1] != NORMALIZE
