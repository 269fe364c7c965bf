"""What is finished of a scan, kept beside its output until all is.

``counts.parquet.parts/`` holds a journal of the finished pieces, ``settings.json`` that says what they were
made from, and the output while it is written. A scan killed at any moment finds only whole pieces.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenrank.errors import DataError
from evenrank.evidence.scan.journal import Journal
from evenrank.io.atomic import atomic_write

_SETTINGS = "settings.json"
_LOCK = "lock"
_JOURNAL = "journal"


class Parts:
    """The folder of one scan. ``changed`` says why the work of an earlier one could not be used."""

    def __init__(self, output: Path, settings: Mapping[str, Any], *, resume: bool) -> None:
        self.folder = output.with_name(output.name + ".parts")
        try:
            self.folder.mkdir(exist_ok=True)
        except FileNotFoundError as error:
            raise DataError(f"{output}: no such folder: {output.parent}") from error
        except PermissionError as error:
            raise DataError(f"{output}: permission denied") from error
        except FileExistsError as error:
            raise DataError(f"{self.folder}: is in the way: it must be a folder, or not there") from error
        self._lock = _locked(self.folder / _LOCK, output)
        try:
            self.changed = self._difference(settings) if resume else []
            if self.changed or not resume or not (self.folder / _SETTINGS).exists():
                self._clear()
                with atomic_write(self.folder / _SETTINGS) as file:
                    file.write(json.dumps(dict(settings), indent=1).encode())
            self._journal = Journal(self.folder / _JOURNAL)
        except BaseException:
            self._unlock()
            raise
        self.finished = frozenset(self._journal.frames)

    def save(self, index: int, batch: pa.RecordBatch) -> None:
        self._journal.add(index, batch.serialize())

    def load(self, index: int, schema: pa.Schema) -> pa.RecordBatch:
        return pa.ipc.read_record_batch(self._journal.read(index), schema)

    def growing(self) -> Path:
        """Where the output is written until it is whole."""
        return self.folder / "output.parquet"

    def remove(self) -> None:
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        self._journal.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _difference(self, settings: Mapping[str, Any]) -> list[str]:
        """The names of settings that are others now; nothing if there is no earlier scan."""
        try:
            kept = json.loads((self.folder / _SETTINGS).read_bytes())
        except FileNotFoundError:
            return []
        except ValueError:
            return ["settings"]
        if not isinstance(kept, dict):
            return ["settings"]
        return [name for name, value in settings.items() if kept.get(name) != value]

    def _clear(self) -> None:
        # the settings go first: parts without them are never used
        for path in [self.folder / _SETTINGS, *self.folder.iterdir()]:
            if path.name != _LOCK:
                with suppress(FileNotFoundError):
                    path.unlink()


def _locked(path: Path, output: Path) -> int | None:
    """Two scans must not write the same output. The system frees the lock of a process that is killed."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise DataError(f"{output}: another scan is writing it") from error
    return descriptor
