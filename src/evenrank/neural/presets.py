"""Settings under one name: those of the published adversarial rankers.

nfairc-advbert-2021, Section 6: the strengths of each ranker, two epochs with twenty checkpoints of each, all
biased items and as many others, early stopping on the measure of ranking, and lists of 200 documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenrank.errors import UnknownNameError

_PAPER: dict[str, dict[str, Any]] = {
    "examples": {"balance": "paper"},
    "tune": {"stop_on": "RR@10"},
    "adversary": {"epochs": 1},
    "evaluate": {"depth": 200},
}
_STRENGTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]


def _preset(layers: int, strengths: list[float]) -> dict[str, dict[str, Any]]:
    joint = {"strengths": strengths, "epochs": 2, "checkpoints": 20}
    return {**_PAPER, "model": {"layers": layers}, "joint": joint}


PRESETS = {"advbert-L2": _preset(2, _STRENGTHS), "advbert-L4": _preset(4, _STRENGTHS[1:])}


def with_preset(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The content with what its ``preset`` sets where it says nothing itself.

    >>> with_preset({"preset": "advbert-L4", "joint": {"epochs": 1}})["joint"]["epochs"]
    1
    """
    name = content.get("preset")
    if name is None:
        return content
    if name not in PRESETS:
        raise UnknownNameError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    made = dict(content)
    for section, keys in PRESETS[name].items():
        own = content.get(section, {})
        if isinstance(own, Mapping):  # anything else is refused with the other sections
            made[section] = {**keys, **own}
    return made
