"""A disk that is full for some files."""

from __future__ import annotations

import errno
import os
import re
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class FullDisk:
    """Refuses files that are written and whose paths match this, some number of times, and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name, self.number, self.times, self.refused = "", errno.ENOSPC, 0, 0
        opened = os.open

        def refusing(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
            if flags & os.O_CREAT:
                self.refuse(os.fspath(path))
            return opened(path, flags, *arguments, **options)

        monkeypatch.setattr(os, "open", refusing)

    def refuse(self, path: str) -> None:
        if self.refused < self.times and re.search(self.name, path):
            self.refused += 1
            raise OSError(self.number, os.strerror(self.number), path)


@contextmanager
def no_room(size: int) -> Iterator[Callable[[], None]]:
    """A function that lets no file of this process grow beyond so many bytes, until the block ends."""
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
