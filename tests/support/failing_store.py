"""A store that does not answer for a while: files in memory, whose requests fail when a test says so."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

FAILURE = "503 Slow Down"


class FailingStore:
    """Requests for content are counted; those with the numbers in ``failing`` raise. Threads may ask."""

    def __init__(self) -> None:
        self.asked = self.failed = 0
        self.failing: Any = range(0)
        self.error: OSError = OSError(FAILURE)

    def answer_again(self) -> None:
        self.asked, self.failing = 0, range(0)


def failing_store(monkeypatch: pytest.MonkeyPatch, address: str, content: bytes) -> FailingStore:
    """A file at an address of ``memory://``, and the store that it is in."""
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    from fsspec.implementations.memory import MemoryFile, MemoryFileSystem

    with fsspec.open(address, "wb") as out:
        out.write(content)
    found = FailingStore()

    def noting(own: Any) -> Any:
        def ask(self: Any, *arguments: Any, **options: Any) -> Any:
            found.asked += 1
            if found.asked in found.failing:
                found.failed += 1
                raise found.error
            return own(self, *arguments, **options)

        return ask

    monkeypatch.setattr(MemoryFileSystem, "cat_file", noting(MemoryFileSystem.cat_file))
    monkeypatch.setattr(MemoryFile, "read", noting(MemoryFile.read))
    for name, module in list(sys.modules.items()):  # the waits between attempts, wherever they are
        if name.startswith("evenrank.") and getattr(module, "sleep", None) is time.sleep:
            monkeypatch.setattr(module, "sleep", lambda seconds: None)
    return found
