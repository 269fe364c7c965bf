"""The finished partitions of work that many processes do at once, kept beside its output until all are.

The folder is that of ``resumable.py``, with its lock and its settings, which the process holds that plans the
work. Workers add a file for each partition, and then its record: a JSON file that names what the partition
was made from, the size and digest of the file, and its own digest. A partition is finished when its record is
there. Both names hold a key of the settings, so that a worker of an earlier work with other settings, which
nobody could stop, writes to files that nobody reads.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenrank.errors import EvenrankError
from evenrank.io.atomic import TEMPORARY, atomic_write
from evenrank.io.content_hash import hash_of_file
from evenrank.io.damage import checked, with_check
from evenrank.io.resumable import KEPT, Resumable

_NAME = r"part-\d{5,}-[0-9a-f]{16}\.(?:arrow|parquet|json|hashes|blocks|npy)"
_PART = re.compile(f"{_NAME}|{TEMPORARY.format(name=_NAME)}")
_RECORD = re.compile(r"part-(\d{5,})-([0-9a-f]{16})\.json")


class PartFolder(Resumable):
    """Who plans the work holds this; workers only know the folder and the key."""

    def __init__(self, output: Path, work: str, settings: Mapping[str, Any], *, resume: bool) -> None:
        self.key = settings_key(settings)
        super().__init__(output, work, settings, resume=resume)

    def records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The records of partitions that were finished before, with their numbers."""
        for path in sorted(self.folder.iterdir()):
            found = _RECORD.fullmatch(path.name)
            if found is None or found[2] != self.key:
                continue
            record = read_record(path)
            if record is not None:
                yield int(found[1]), record

    def _is_empty(self) -> bool:
        return not any(True for _ in self.records())

    def _own_names(self) -> list[str]:
        others = [entry.name for entry in self.folder.iterdir() if _PART.fullmatch(entry.name)]
        return sorted({*super()._own_names(), *others})


def settings_key(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()[:16]


def part_path(folder: str | os.PathLike[str], number: int, key: str, kind: str) -> Path:
    return Path(folder) / f"part-{number:05d}-{key}.{kind}"


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(with_check(record)).encode())


def sealed(path: Path) -> dict[str, Any]:
    """What tells whether a file is the one that was written."""
    return {"bytes": path.stat().st_size, "digest": hash_of_file(path)}


def is_sealed(path: Path, seal: Mapping[str, Any], *, read: bool = False) -> bool:
    """Whether a file is there and has its size; with ``read`` also its digest."""
    try:
        same = path.stat().st_size == seal["bytes"]
    except OSError:
        return False
    return same and (not read or hash_of_file(path) == seal["digest"])


def check_seen(path: Path, seal: Mapping[str, Any], *, read: bool = False) -> None:
    """Raise if a part that a worker wrote is not seen here; with ``read`` also if it is not what it was."""
    if not is_sealed(path, seal):
        raise EvenrankError(
            f"{path}: a worker wrote it, but it is not seen here: choose an output in a folder that all "
            "workers share with this machine"
        )
    if read and not is_sealed(path, seal, read=True):
        raise EvenrankError(f"{path}: is not what a worker wrote there: check the disk; {KEPT}")


def read_record(path: Path) -> dict[str, Any] | None:
    """A record as it was written; None if it is damaged, and then its partition is done again."""
    try:
        found = checked(path.read_bytes())
    except (OSError, ValueError, AttributeError, RecursionError):  # or no object at all
        return None
    del found["check"]
    return found
