"""Vectors kept on disk, so that a text is encoded once a model. One file a block of texts, never changed."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import DataError
from evenrank.io.atomic import atomic_write


def text_key(model: str, text: str) -> str:
    return hashlib.sha256(f"{model}\0{text}".encode()).hexdigest()


class VectorCache:
    """A folder of ``.npz`` files: hashes of texts, and their vectors.

    A file that cannot be read is left alone, and its texts are encoded again.
    """

    def __init__(self, folder: str | os.PathLike[str], model: str) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise DataError(f"{folder}: is a file, but the cache of vectors must be a folder")
        self.model = model
        self._vectors: dict[str, Floats] = {}
        for path in sorted(self.folder.glob("*.npz")) if self.folder.is_dir() else []:
            self._read(path)

    def _read(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as held:
                if str(held["model"]) != self.model:  # keys differ by model too; this saves reading them
                    return
                keys, vectors = held["keys"].tolist(), held["vectors"].astype(np.float64)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            return
        if vectors.ndim == 2 and len(keys) == len(vectors) and np.isfinite(vectors).all():
            self._vectors.update(zip(keys, vectors, strict=True))

    def unknown(self, texts: Sequence[str]) -> list[str]:
        """The texts that ``encode`` would have encoded."""
        keys = {text_key(self.model, text): text for text in texts}
        return [text for key, text in keys.items() if key not in self._vectors]

    def encode(self, texts: Sequence[str], encode: Callable[[list[str]], Floats]) -> Floats:
        """Vectors of the texts; those that are not known are encoded and kept."""
        keys = [text_key(self.model, text) for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        if fresh:
            # rounded as they are kept, so that a second run has the same vectors as the first
            vectors = encode(list(fresh.values())).astype(np.float32).astype(np.float64)
            self._vectors.update(zip(fresh, vectors, strict=True))
            self._write(list(fresh), vectors)
        found = [self._vectors[key] for key in keys]
        widths = sorted({len(vector) for vector in found})
        if len(widths) > 1:
            raise DataError(
                f"{self.folder}: holds vectors of {self.model!r} of widths {', '.join(map(str, widths))}, "
                "which do not compare: use another folder"
            )
        return np.stack(found)

    def _write(self, keys: list[str], vectors: Floats) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256("".join(keys).encode()).hexdigest()[:24]
        with atomic_write(self.folder / f"{name}.npz") as file:
            np.savez(
                file, model=np.array(self.model), keys=np.array(keys), vectors=vectors.astype(np.float32)
            )
