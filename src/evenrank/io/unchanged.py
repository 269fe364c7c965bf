"""Files that are read in several passes, which give one answer only if nobody writes to them in between."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evenrank.errors import DataError
from evenrank.io.resumable import Stamp, check_unchanged


class Unchanged:
    """What the system said about files when they were opened, to be compared after every pass."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._stamps = [(path, Stamp.of(path)) for path in files]

    def check(self) -> None:
        for path, stamp in self._stamps:
            if not path.exists():
                raise DataError(f"{path}: is gone since it was opened: open what is there now")
            check_unchanged(str(path), path, stamp)
