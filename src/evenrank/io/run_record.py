"""The small file beside a run that says what made it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenrank._version import __version__
from evenrank.files import read_utf8, regular_file
from evenrank.io.atomic import atomic_write

RECORD_SUFFIX = ".system.json"
READS_JUDGEMENTS = "reads_judgements"  # the key of a run whose order was made with judgements

_SAMPLES = 16
_SAMPLE = 1 << 16


def record_path(run: str | os.PathLike[str]) -> Path:
    """
    >>> record_path("runs/bm25.trec").as_posix()
    'runs/bm25.trec.system.json'
    """
    path = Path(run)
    return path.with_name(path.name + RECORD_SUFFIX)


def write_record(run: str | os.PathLike[str], content: Mapping[str, Any]) -> Path:
    """Write the record beside a run that is there already, with the run's fingerprint."""
    path = record_path(run)
    whole = {"evenrank": __version__, **content, "run": {"fingerprint": _fingerprint(Path(run))}}
    with atomic_write(path) as file:
        file.write((json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode())
    return path


def read_record(run: str) -> tuple[dict[str, Any], bool]:
    """The record beside a run, empty where none can be read, and whether the run was changed since."""
    try:
        record = json.loads(read_utf8(run + RECORD_SUFFIX))
        known = record.get("run", {}).get("fingerprint")  # older records have none
        return record, known is not None and known != _fingerprint(Path(run))
    except (OSError, ValueError, TypeError, AttributeError):
        return {}, False


def _fingerprint(path: Path) -> str:
    """SHA-256 of the size and of sixteen pieces from the first byte to the last. The time plays no part."""
    with regular_file(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        digest = hashlib.sha256(str(size).encode())
        for place in range(_SAMPLES):
            file.seek(max(0, size - _SAMPLE) * place // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()
