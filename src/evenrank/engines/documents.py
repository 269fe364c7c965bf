"""What is taken of a document that an engine gives: its fields, its text, and nothing that was not asked
for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from evenrank.engines.base import Wanted

LONGEST_FIELD = 200  # characters: what is longer is text
TEXT_NAMES = ("text", "title", "body", "content", "contents", "description", "abstract")

KEPT, SHORT, LEFT_OUT = "kept", "kept where it is short", "left out"

_NUMBERS = (int, float)  # and bool
_SIMPLE = (str, *_NUMBERS)
_PLAIN = frozenset({str, int, float, bool, list})
_ALWAYS_SHORT = frozenset({int, float, bool, type(None)})


def kept_part(
    document: Mapping[str, Any], texts: Sequence[str], wanted: Wanted, always: Sequence[str] = ()
) -> Any:
    """The part of a document that may be written to disk: the wanted fields, and its text only where that
    is wanted.

    >>> kept_part({"size": "small", "text": "a lamp"}, ["text"], Wanted())
    {'size': 'small'}
    """
    return kept_fields(tuple(texts), wanted, tuple(always)).of(document)


@lru_cache(64)
def kept_fields(texts: tuple[str, ...], wanted: Wanted, always: tuple[str, ...] = ()) -> KeptFields:
    return KeptFields(texts, wanted, always)


class KeptFields:
    """Which fields of documents are kept: what holds for a name is found out once."""

    def __init__(self, texts: Sequence[str], wanted: Wanted, always: Sequence[str]) -> None:
        self._texts, self._wanted, self._always = texts, wanted, always
        self._rules: dict[str, str] = {}

    def of(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The part of a document that is kept."""
        return {name: value for name, value in document.items() if self._keeps(name, value)}

    def all_of(self, document: Mapping[str, Any]) -> bool:
        """Whether the whole document is kept."""
        rules = self._rules
        for name, value in document.items():
            rule = rules.get(name)
            if rule is KEPT or (rule is SHORT and type(value) in _ALWAYS_SHORT):
                continue
            if not self._keeps(name, value):
                return False
        return True

    def _keeps(self, name: str, value: Any) -> bool:
        rule = self._rules.get(name)
        if rule is None:
            rule = self._rules[name] = self._rule(name)
        return rule is KEPT or (rule is SHORT and is_short(value))

    def _rule(self, name: str) -> str:
        fields = self._wanted.fields
        if name in self._always:
            return KEPT
        if name in self._texts:
            return KEPT if self._wanted.texts or (fields is not None and name in fields) else LEFT_OUT
        if fields is not None:
            own = any(field == name or field.startswith(name + ".") for field in fields)
            return KEPT if own else LEFT_OUT
        return KEPT if self._wanted.texts else SHORT


def fields_of(document: Mapping[str, Any], texts: Sequence[str], wanted: Wanted) -> Mapping[str, Any]:
    """The fields of what was kept, by name; one inside of another is called by its path, ``seller.size``.

    >>> fields_of({"seller": {"size": "small"}, "price": 3}, [], Wanted(fields=("seller.size",)))
    {'seller.size': 'small'}
    """
    if wanted.fields is not None:
        found = {name: _at(document, name) for name in wanted.fields}
        return {name: value for name, value in found.items() if value is not None}
    kinds = set(map(type, document.values()))
    if not wanted.texts and kinds <= _PLAIN:
        return document
    named = _flat(document) if dict in kinds else document.items()
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
