"""What is finished of a scan, kept beside its output until all is.

``counts.parquet.parts/`` holds one file for each finished piece, ``settings.json`` that says what they
were made from, and the output while it is written. A file gets its name only when it is whole and on
the disk, so that a scan killed at any moment finds only whole ones.
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
from evenrank.io.atomic import atomic_write

_SETTINGS = "settings.json"
_LOCK = "lock"
_SUFFIX = ".arrow"


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
        except BaseException:
            self.close()
            raise
        self.finished = frozenset(
            int(path.stem) for path in self.folder.glob(f"*{_SUFFIX}") if path.stem.isdigit()
        )

    def save(self, index: int, batch: pa.RecordBatch) -> None:
        content = pa.BufferOutputStream()
        with pa.ipc.new_file(content, batch.schema) as writer:
            writer.write_batch(batch)
        with atomic_write(self._path(index)) as file:
            file.write(content.getvalue())

    def load(self, index: int) -> pa.RecordBatch:
        path = self._path(index)
        try:
            with pa.OSFile(str(path)) as file:
                return pa.ipc.open_file(file).get_batch(0)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path}: is damaged: delete {self.folder} and scan again ({error})") from error

    def growing(self) -> Path:
        """Where the output is written until it is whole."""
        return self.folder / "output.parquet"

    def remove(self) -> None:
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _path(self, index: int) -> Path:
        return self.folder / f"{index:08d}{_SUFFIX}"

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
