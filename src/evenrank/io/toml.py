"""TOML that people write, with one error for whatever is wrong with it."""

from __future__ import annotations

import tomllib
from typing import Any

from evenrank.errors import DataError

DEEPEST = 50  # tables and arrays within each other


def parse_toml(content: bytes, name: str) -> dict[str, Any]:
    """The content of the file called ``name``."""
    try:
        parsed = tomllib.loads(content.decode())
    except UnicodeDecodeError:
        raise DataError(f"{name}: is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name}: is not TOML: {error}") from None
    except ValueError as error:  # an integer of thousands of digits
        raise DataError(f"{name}: a number cannot be read: {str(error).partition(';')[0]}") from None
    except RecursionError:
        raise DataError(_too_deep(name)) from None
    _check_depth(parsed, name)
    return parsed


def _check_depth(parsed: dict[str, Any], name: str) -> None:
    """Dotted keys nest without a limit, and a message that shows such a value could not be made."""
    waiting: list[tuple[Any, int]] = [(parsed, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            raise DataError(_too_deep(name))
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += [(inner, depth + 1) for inner in inside]


def _too_deep(name: str) -> str:
    return f"{name}: tables or arrays are nested more than {DEEPEST} deep: write them flat"
