"""Request templates and JSON pointers: where a query goes, and where in an answer something stands.

A placeholder is a whole value: ``{"match": {"title": "{query}"}}``. It is replaced by the text as a JSON
value, so whatever the query holds, it stays one string. A placeholder inside of a longer string is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from evenrank.errors import ParameterError

PLACEHOLDERS = ("query", "size", "offset", "page", "depth", "index")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with its placeholders replaced.

    >>> fill({"q": "{query}", "limit": "{size}"}, {"query": 'a "b"', "size": 10})
    {'q': 'a "b"', 'limit': 10}
    """
    if isinstance(template, str):
        found = _PLACEHOLDER.fullmatch(template)
        return values[found[1]] if found and found[1] in values else template
    if isinstance(template, Mapping):
        return {key: fill(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, values) for value in template]
    return template


def check_template(template: Any, where: str, *, needs_query: bool = True) -> None:
    """Refuse a template in which a query would become a part of a string, or would not stand at all."""
    found: set[str] = set()
    _check(template, where, found)
    if needs_query and "query" not in found:
        raise ParameterError(f'{where}: there is no place for the query: write "{{query}}" as a value')


def _check(template: Any, where: str, found: set[str]) -> None:
    if isinstance(template, Mapping):
        for key, value in template.items():
            _refuse_part(key, where)
            _check(value, f"{where}.{key}", found)
    elif isinstance(template, list):
        for value in template:
            _check(value, where, found)
    elif isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        if whole is not None and whole[1] in PLACEHOLDERS:
            found.add(whole[1])
        else:
            _refuse_part(template, where)


def _refuse_part(text: str, where: str) -> None:
    inside = [name for name in _PLACEHOLDER.findall(text) if name in PLACEHOLDERS]
    if inside:
        raise ParameterError(
            f'{where}: "{{{inside[0]}}}" must be a whole value, got {text!r}: a query is never put '
            "into a string, since its own signs would then be read as a part of the request"
        )


def check_pointer(pointer: Any, where: str) -> str:
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise ParameterError(f"{where} must be a JSON pointer such as /hits/0/id, got {pointer!r}")
    return pointer


def at(value: Any, pointer: str) -> Any:
    """What stands at a JSON pointer (RFC 6901); None if nothing does.

    >>> at({"hits": [{"a/b": 1}]}, "/hits/0/a~1b")
    1
    """
    for name in _names(pointer):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def getter(pointer: str) -> Callable[[Any], Any]:
    """``at`` for one pointer and many values.

    >>> getter("/_id")({"_id": "d1"}), getter("/_id")(["d1"])
    ('d1', None)
    """
    names = _names(pointer)
    if len(names) != 1 or names[0].isdigit():
        return lambda value: at(value, pointer)
    (name,) = names
    return lambda value: value.get(name) if isinstance(value, dict) else None


@lru_cache(256)
def _names(pointer: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
