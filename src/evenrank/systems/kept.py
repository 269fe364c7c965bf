"""What systems make of texts, kept on disk by the hash of what it was made from."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.errors import DataError
from evenrank.io.atomic import atomic_write

Arrays = dict[str, npt.NDArray[Any]]


def digest_of(*parts: str | Iterable[str]) -> str:
    """One hash of texts and lists of texts: another one as soon as any of them is another one.

    >>> digest_of(["ab", "c"]) == digest_of(["a", "bc"])
    False
    """
    found = hashlib.sha256()
    for part in parts:
        for text in (part,) if isinstance(part, str) else part:
            data = text.encode("utf-8", "surrogatepass")
            found.update(len(data).to_bytes(8, "little"))
            found.update(data)
        found.update(b"\xff" * 8)
    return found.hexdigest()[:32]


class KeptArrays:
    """A folder of ``.npz`` files, each under the hash of what its arrays were made from.

    A file that cannot be read is made again. Without a folder nothing is kept.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is not None and self._folder.exists() and not self._folder.is_dir():
            raise DataError(f"{folder}: is a file, but what systems keep needs a folder")

    @property
    def lasting(self) -> bool:
        return self._folder is not None

    def get(self, key: str, make: Callable[[], Mapping[str, npt.NDArray[Any]]]) -> Arrays:
        """The arrays under this key; those that are not there are made and kept."""
        if self._folder is None:
            return dict(make())
        path = self._folder / f"{key}.npz"
        found = _read(path)
        if found is None:
            found = dict(make())
            self._folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as file:
                np.savez(file, **found)  # type: ignore[arg-type]
        return found


def _read(path: Path) -> Arrays | None:
    try:
        with np.load(path, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None


def packed_words(words: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Words as an array that a file of arrays can hold.

    >>> unpacked_words(packed_words(["a", "nurse"]))
    ['a', 'nurse']
    """
    import json

    return np.frombuffer(json.dumps(list(words)).encode(), dtype=np.uint8)


def unpacked_words(packed: npt.NDArray[np.uint8]) -> list[str]:
    import json

    found: list[str] = json.loads(packed.tobytes())
    return found
