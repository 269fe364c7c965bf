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
        parsed = None
    if parsed is None or _depth(parsed) > DEEPEST:  # dotted keys nest without a limit
        raise DataError(f"{name}: tables or arrays are nested more than {DEEPEST} deep: write them flat")
    return parsed


def _depth(value: Any, before: int = 0) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if before > DEEPEST:
        return before
    return max((_depth(inner, before + 1) for inner in inside), default=before)
