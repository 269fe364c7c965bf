"""The folder of a training: begun once, and gone on with under the same configuration and data alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, ParameterError
from evenrank.files import regular_file
from evenrank.io.atomic import atomic_write

CONFIG = "config.json"
DATA = "data"  # the key of the configuration under which the fingerprint of the examples is kept


def check_begun(folder: Path, about: dict[str, Any], resume: bool) -> None:
    """A folder is begun once, and gone on with under the same configuration alone."""
    there = folder / CONFIG
    if not there.is_file():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            what = "is not empty" if folder.is_dir() else "is a file"
            raise ParameterError(f"{folder}: {what}: name a folder that is new or empty")
        folder.mkdir(parents=True, exist_ok=True)
    elif not resume:
        raise ParameterError(
            f"{folder}: holds a training run already: resume=True goes on with it, or name another"
        )
    else:
        old, new = _flat(read_notes(there)), _flat(about)
        old.pop(DATA, None)  # which is known when the data are read
        changed = [key for key in {**new, **old} if key not in old or key not in new or new[key] != old[key]]
        if changed:
            few = ", ".join(changed[:3])
            raise ParameterError(f"{folder}: was begun with another {few}: name another folder")


def check_data(folder: Path, about: dict[str, Any]) -> None:
    there = folder / CONFIG
    if there.is_file() and read_notes(there).get(DATA) != about[DATA]:
        raise ParameterError(
            f"{folder}: was begun with other judgements, queries, documents or lexicons: name another folder"
        )


def _flat(about: dict[str, Any]) -> dict[str, Any]:
    """``{"joint.epochs": 2.0, ..}``"""
    found: dict[str, Any] = {}
    for key, value in about.items():
        inner = value if isinstance(value, dict) else {}
        found |= {f"{key}.{name}": one for name, one in inner.items()} or {key: value}
    return found


def read_notes(path: Path) -> dict[str, Any]:
    """What this module wrote; a run that lost its own notes is not gone on with."""
    try:
        content = json.loads(regular_file(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise damaged(path) from error
    if not isinstance(content, dict):
        raise damaged(path)
    return content


def damaged(path: Path) -> DataError:
    return DataError(f"{path}: is damaged: train into a new folder")


def write_notes(path: Path, content: Any) -> None:
    with atomic_write(path) as file:
        file.write((json.dumps(content, indent=1) + "\n").encode())
