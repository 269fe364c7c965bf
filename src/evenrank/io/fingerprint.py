"""Telling whether a file is the one that it was, without reading all of it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from evenrank.files import regular_file

_SAMPLES = 16
_SAMPLE = 1 << 16


def fingerprint(path: Path) -> str:
    """SHA-256 of the size and of sixteen pieces from the first byte to the last. The time plays no part."""
    with regular_file(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        digest = hashlib.sha256(str(size).encode())
        for place in range(_SAMPLES):
            file.seek(max(0, size - _SAMPLE) * place // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()
