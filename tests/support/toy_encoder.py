"""Models of sentence-transformers without the library: their folders, and vectors by a function."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest


class ToyModel:
    """Gives vectors by a function, and notes every text that it was given."""

    def __init__(self, vectors: Callable[[Sequence[str]], Any]) -> None:
        self._vectors = vectors
        self.texts: list[str] = []

    def encode(self, texts: list[str], **_: object) -> Any:
        self.texts += texts
        return self._vectors(texts)


def takes_the_place_of_the_library(monkeypatch: pytest.MonkeyPatch, model: object) -> None:
    """Whatever folder is loaded, it is this model."""
    module = ModuleType("sentence_transformers")
    module.__spec__ = ModuleSpec("sentence_transformers", None)
    module.SentenceTransformer = lambda path, **_: model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setitem(sys.modules, "transformers", None)


def model_folder(
    folder: Path, *, weight: float = 1.0, kinds: Sequence[str] = (), similarity: str | None = None
) -> Path:
    """What is read of a model before it is loaded: its kind, its weights, its modules, how it compares."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"architectures": ["BertModel"]}))
    data = np.full(2, weight, "<f4").tobytes()
    head = {"embeddings.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, len(data)]}}
    text = json.dumps(head).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    if kinds:
        modules = [{"type": f"sentence_transformers.models.{kind}", "path": ""} for kind in kinds]
        (folder / "modules.json").write_text(json.dumps(modules))
    compared = {"similarity_fn_name": similarity}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(compared))
    return folder
