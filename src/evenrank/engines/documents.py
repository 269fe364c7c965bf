"""What is taken of a document that an engine gives: its fields, its text, and nothing that was not asked
for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenrank.engines.base import Wanted

LONGEST_FIELD = 200  # characters: what is longer is text
TEXT_NAMES = ("text", "title", "body", "content", "contents", "description", "abstract")

_NUMBERS = (int, float)  # and bool
_SIMPLE = (str, *_NUMBERS)


def kept_part(
    document: Mapping[str, Any], texts: Sequence[str], wanted: Wanted, always: Sequence[str] = ()
) -> Any:
    """The part of a document that may be written to disk: the wanted fields, and its text only where that
    is wanted.

    >>> kept_part({"size": "small", "text": "a lamp"}, ["text"], Wanted())
    {'size': 'small'}
    """
    kept: dict[str, Any] = {}
    for name, value in document.items():
        if name in always:
            kept[name] = value
        elif name in texts:
            if wanted.texts or (wanted.fields is not None and name in wanted.fields):
                kept[name] = value
        elif wanted.fields is not None:
            if any(field == name or field.startswith(name + ".") for field in wanted.fields):
                kept[name] = value
        elif wanted.texts or is_short(value):
            kept[name] = value
    return kept


def fields_of(document: Mapping[str, Any], texts: Sequence[str], wanted: Wanted) -> dict[str, Any]:
    """The fields of what was kept, by name; one inside of another is called by its path, ``seller.size``.

    >>> fields_of({"seller": {"size": "small"}, "price": 3}, [], Wanted(fields=("seller.size",)))
    {'seller.size': 'small'}
    """
    if wanted.fields is not None:
        found = {name: _at(document, name) for name in wanted.fields}
        return {name: value for name, value in found.items() if value is not None}
    named = _flat(document) if dict in map(type, document.values()) else document.items()
    if not wanted.texts:  # what is long was not kept
        return {name: value for name, value in named if value is not None}
    return {
        name: value
        for name, value in named
        if value is not None and name.partition(".")[0] not in texts and is_short(value)
    }


def text_of(document: Mapping[str, Any], texts: Sequence[str], wanted: Wanted) -> str | None:
    """The text fields one after another, where texts are wanted and there are any."""
    if not wanted.texts:
        return None
    found = [str(document[name]) for name in texts if isinstance(document.get(name), str) and document[name]]
    return " ".join(found) if found else None


def _at(document: Mapping[str, Any], path: str) -> Any:
    if path in document:
        return document[path]
    value: Any = document
    for part in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def _flat(document: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in document.items():
        if isinstance(value, dict):
            found += _flat(value, f"{before}{name}.")
        elif value is not None:
            found.append((before + name, value))
    return found


def is_short(value: Any) -> bool:
    """Whether a value may be a field; what is longer is text."""
    if isinstance(value, str):
        return len(value) <= LONGEST_FIELD
    if isinstance(value, _NUMBERS) or value is None:
        return True
    if isinstance(value, dict):
        return all(map(is_short, value.values()))
    return (
        isinstance(value, list)
        and len(value) <= LONGEST_FIELD
        and all(isinstance(item, _SIMPLE) and is_short(item) for item in value)
    )
