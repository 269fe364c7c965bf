"""A new study: a folder with an example of everything that it needs."""

from __future__ import annotations

from pathlib import Path

from evenrank.errors import DataError
from evenrank.io.atomic import atomic_write
from evenrank.study.texts import EXAMPLE


def write_example(folder: str | Path) -> list[Path]:
    """Write the example into a folder that is new or empty; never over a file."""
    home = Path(folder)
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise DataError(f"{home}: is there already and is not empty: name a new folder")
    written = []
    for source in sorted(path for path in EXAMPLE.rglob("*") if path.is_file()):
        target = home / source.relative_to(EXAMPLE)
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as file:
            file.write(source.read_bytes())
        written.append(target)
    return written
