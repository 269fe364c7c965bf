"""Folders that are either whole or not there."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """A new folder that takes the place of ``path`` when the block ends, and vanishes if it raises."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    mark = secrets.token_hex(6)
    new, old = (target.with_name(f".{target.name}.{mark}.{kind}") for kind in ("new", "old"))
    new.mkdir()
    try:
        yield new
        if target.exists():
            target.replace(old)
        new.replace(target)
    finally:
        if old.exists() and not target.exists():  # stopped between the two steps
            old.replace(target)
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
