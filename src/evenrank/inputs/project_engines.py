"""The entries of ``[engines]`` in a project file: tables, engine files, database files or addresses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evenrank.errors import ParameterError
from evenrank.io.files import read_bytes
from evenrank.io.toml import parse_toml


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
    return parse_toml(read_bytes(path), str(path)), path.parent
