"""A store that does not answer for a while: files in memory, whose requests fail when a test says so."""

from __future__ import annotations

import io
import itertools
import sys
import time
from typing import Any

import pytest
from pyarrow import fs

FAILURE = "503 Slow Down"
_NUMBERS = itertools.count()


class FailingStore:
    """Stands where Arrow's client of S3 does, with ``files`` by bucket and name.

    Requests for content are counted; those with the numbers in ``failing`` raise. Threads may ask.
    """

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.asked = self.failed = 0
        self.failing: Any = range(0)
        self.error: OSError = OSError(FAILURE)
        self._written = dict.fromkeys(files, 1)

    def answer_again(self) -> None:
        self.asked, self.failing = 0, range(0)

    def put(self, name: str, content: bytes) -> None:
        self.files[name] = content
        self._written[name] = self._written.get(name, 0) + 1

    def get_file_info(self, wanted: Any) -> Any:
        if isinstance(wanted, fs.FileSelector):
            below = wanted.base_dir.rstrip("/") + "/"
            return [self._info(name) for name in self.files if name.startswith(below)]
        if wanted in self.files:
            return self._info(wanted)
        is_folder = any(name.startswith(wanted.rstrip("/") + "/") for name in self.files)
        return fs.FileInfo(wanted, fs.FileType.Directory if is_folder else fs.FileType.NotFound)

    def open_input_file(self, path: str) -> _File:
        return _File(self, self.files[path])

    def _info(self, name: str) -> Any:
        size, written = len(self.files[name]), self._written[name]
        return fs.FileInfo(name, fs.FileType.File, size=size, mtime_ns=written)


class _File:
    def __init__(self, store: FailingStore, content: bytes) -> None:
        self._store, self._content, self._file = store, content, io.BytesIO(content)

    def size(self) -> int:
        return len(self._content)

    def read(self, size: int | None = None) -> bytes:
        self._ask()
        return self._file.read(-1 if size is None else size)

    def read_at(self, size: int, offset: int) -> bytes:
        self._ask()
        return self._content[offset : offset + size]

    def seek(self, place: int) -> None:
        self._file.seek(place)

    def close(self) -> None:
        """Nothing is held."""

    def _ask(self) -> None:
        store = self._store
        store.asked += 1
        if store.asked in store.failing:
            store.failed += 1
            raise store.error


def failing_store(monkeypatch: pytest.MonkeyPatch, address: str, content: bytes) -> FailingStore:
    """A file at an address of ``s3://``, and the store that it is in."""
    if not hasattr(fs, "S3FileSystem"):
        pytest.skip("this build of Arrow has no S3")
    found = FailingStore({address.removeprefix("s3://"): content})
    # a client is opened once for each place, so every store has its own
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:1/{next(_NUMBERS)}")
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    monkeypatch.setattr(fs, "S3FileSystem", lambda **options: found)
    for name, module in list(sys.modules.items()):  # the waits between attempts, wherever they are
        if name.startswith("evenrank.") and getattr(module, "sleep", None) is time.sleep:
            monkeypatch.setattr(module, "sleep", lambda seconds: None)
    return found
