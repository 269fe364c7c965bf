"""What the folder of a sentence-transformers model is made of, read without loading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evenrank.files import regular_file

MODULES = "modules.json"
SIMILARITY = "config_sentence_transformers.json"
COSINE, DOT = "cosine", "dot"
NORMALIZE, ROUTER = "Normalize", "Router"  # the second sends queries and documents different ways
_TRANSFORMER, _POOLING = "Transformer", "Pooling"
_MEAN = [_POOLING, {"mode": ["mean"]}]
_POOLING_MODES = {  # as older versions of the library write them, in the order of their vectors
    "cls_token": "cls",
    "max_tokens": "max",
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "weightedmean_tokens": "weightedmean",
    "lasttoken": "lasttoken",
}


def module_kinds(folder: Path) -> list[str]:
    """The kinds of its modules in order, as ``["Transformer", "Pooling", "Normalize"]``.

    Empty where the folder has no list of modules, or one that cannot be read: loading it says what is wrong.
    """
    return [kind for kind, _ in _modules(folder)]


def _modules(folder: Path) -> list[tuple[str, str]]:
    """The kind and the place of each module."""
    try:
        found = json.loads(regular_file(folder / MODULES).read_text(encoding="utf-8"))
        return [(_kind(module["type"]), str(module.get("path", ""))) for module in found]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def _kind(name: object) -> str:
    return str(name).rpartition(".")[2]


def sets_lengths(kinds: list[str]) -> bool:
    """Whether the model brings vectors to length 1 and then changes them: their lengths are meant so.

    >>> sets_lengths(["Transformer", "Pooling", "Normalize", "Dense"])
    True
    >>> sets_lengths(["Transformer", "Pooling", "Dense", "Normalize"])
    False
    """
    return NORMALIZE in kinds and kinds[-1] != NORMALIZE


def similarity_of(folder: Path) -> str:
    """How the model's makers compare its vectors: ``cosine`` unless the folder says otherwise."""
    try:
        found = json.loads(regular_file(folder / SIMILARITY).read_text(encoding="utf-8"))
        return str(found.get("similarity_fn_name") or COSINE)
    except (OSError, ValueError, AttributeError, RecursionError):
        return COSINE


def unusual_modules(folder: Path) -> str:
    """The way of a document through the modules, with their settings; empty for the usual way.

    That is the mean of a transformer's token vectors, of length 1 or not: what uses vectors brings them to
    length 1 anyway. A transformer is known by its weights, and its files differ by the library's version.
    """
    way = [step for kind, place in _modules(folder) for step in _steps(kind, folder / place, own=bool(place))]
    while way and way[-1][0] == NORMALIZE:
        way.pop()
    unusual = [step for step in way if step[0] != _TRANSFORMER and step != _MEAN]
    return json.dumps(way, sort_keys=True) if unusual else ""


def _steps(kind: str, place: Path, *, own: bool) -> list[list[Any]]:
    """One module, or those that a document is sent through; only in a folder of its own has it settings."""
    settings = _settings(place) if own and kind not in (_TRANSFORMER, NORMALIZE) else {}
    if kind == _POOLING:
        return [[kind, _pooling(settings)]]
    if kind != ROUTER:
        return [[kind, settings]]
    try:
        kinds, names = settings["types"], settings["structure"]["document"]
        return [step for name in names for step in _steps(_kind(kinds[name]), place / name, own=True)]
    except (KeyError, TypeError):
        return [[kind, settings]]  # not as the library writes it: another one as soon as anything is


def _pooling(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a pooling by which vectors differ, as all versions of the library mean them."""
    modes = settings.get("pooling_mode")
    if modes is None:
        modes = [name for key, name in _POOLING_MODES.items() if settings.get(f"pooling_mode_{key}")]
    found: dict[str, Any] = {"mode": [modes] if isinstance(modes, str) else list(modes) or ["mean"]}
    if settings.get("include_prompt") is False:
        found["include_prompt"] = False
    return found


def _settings(folder: Path) -> dict[str, Any]:
    """What the files of configuration in a folder say, all together."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*config.json")):
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            held = json.loads(text)
        except (ValueError, RecursionError):
            held = text
        found.update(held if isinstance(held, dict) else {path.name: held})
    return found
