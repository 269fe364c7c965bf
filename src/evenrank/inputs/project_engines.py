"""The entries of ``[engines]`` in a project file: tables, engine files, database files or addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenrank.errors import DataError, ParameterError
from evenrank.io.toml import parse_toml
from evenrank.text import without_userinfo


def engine_table(given: Any, name: str, folder: Path) -> tuple[dict[str, Any], Path]:
    """The settings that an entry stands for, and the folder that their paths are relative to.

    >>> engine_table("shop.db", "shop", Path())[0]
    {'address': 'shop.db'}
    """
    if isinstance(given, dict):
        return dict(given), folder
    if not isinstance(given, str):
        raise ParameterError(
            f"engines.{name} must be a table, written [engines.{name}], or the text of an engine file, a "
            f"database or an address, got {given!r}"
        )
    if not given.endswith(".toml"):
        return {"address": given}, folder
    path = folder / given
    try:
        return parse_toml(path.read_bytes(), str(path)), path.parent
    except OSError as error:
        raise DataError(f"{without_userinfo(str(path))}: cannot be read: {error.strerror}") from None
