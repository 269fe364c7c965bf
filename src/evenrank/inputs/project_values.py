"""Values of a project file, checked: what is wrong is said with the key that it stands under."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from evenrank.errors import ParameterError

T = TypeVar("T")


def about(where: str, made: Callable[[], T]) -> T:
    try:
        return made()
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def text_of(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{where} must be text in quotes, got {value!r}")
    return value


def texts_of(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ParameterError(f"{where} must be a table of names and text, got {value!r}")
    return {name: text_of(given, f"{where}.{name}") for name, given in value.items()}


def list_of(value: Any, kind: type[T], where: str) -> list[T]:
    what = "text" if kind is str else "integers"
    if not isinstance(value, list) or not all(type(item) is kind for item in value):
        raise ParameterError(f"{where} must be a list of {what}, got {value!r}")
    return list(value)


def unknown_key(where: str, key: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(key, known, 2, 0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
    return f"{where} has no key {key!r}; {hint}"
