"""What a re-ranker says of itself."""

from __future__ import annotations

import inspect
from typing import Any

from evenrank.rerankers.base import Reranker

_UNSETTLED = "group:"  # evidence of an attribute that is not named yet


def describe(cls: type[Reranker]) -> dict[str, Any]:
    """What a re-ranker declares, in plain values."""
    summary, _, text = (inspect.getdoc(cls) or "").partition("\n\n")
    default = cls()
    if not isinstance(cls.__dict__.get("adds", False), bool):  # a parameter decides
        documents = "those of the list, or more"
    else:
        documents = "some of those of the list" if cls.shortens else "those of the list"
    return {
        "name": cls.name,
        "summary": " ".join(summary.split()),
        "reference": cls.reference,
        "needs": sorted({_needed(need, default) for need in default.needs}),
        "random": any(
            field.name == "seed" for field in cls.parameters()
        ),  # for some values of its parameters
        "documents": documents,
        "parameters": cls.describe_parameters(),
        "text": text.partition(">>>")[0].strip(),
    }


def _needed(need: str, method: Reranker) -> str:
    name = need.partition(".")[2]
    if name == "scores":
        return "the scores of the run"
    if name.startswith(_UNSETTLED):
        return "groups"
    if name == "relevance" and hasattr(method, "pseudo"):
        return "judgements, or else the ranking"
    return {"relevance": "judgements", "": "a table of numbers"}.get(name, name)
