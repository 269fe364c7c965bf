from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Encode = Callable[[Sequence[str]], Any]

WORDS = ("yes", "no", "tax", "tree", "the")


def words_of(texts: Sequence[str]) -> Any:
    """A bag of five words, and one coordinate that no text lacks."""
    return np.array([[*(text.split().count(word) for word in WORDS), 1.0] for text in texts], dtype=float)


@pytest.fixture
def bag() -> Encode:
    return words_of


@pytest.fixture
def debate() -> dict[str, dict[str, str]]:
    """Two sides, told apart by yes and no."""
    return {
        "q": {
            "a": "yes yes the tax",
            "b": "no no the tax",
            "c": "yes yes yes tree",
            "d": "no the tree",
        }
    }


class Library:
    """A sentence-transformers that needs no model, and remembers how it was called."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.encode: Encode = words_of

    @property
    def seen(self) -> list[str]:
        """All texts that were encoded."""
        return [text for kind, texts, _ in self.calls if kind == "encode" for text in texts]

    def load(self, path: str, **options: Any) -> types.SimpleNamespace:
        if path == "nobody/nothing":
            raise RuntimeError("cannot reach the hub\nand a page of advice")
        self.calls.append(("load", path, options))

        def encode(texts: list[str], **options: Any) -> Any:
            self.calls.append(("encode", texts, options))
            return self.encode(texts)

        return types.SimpleNamespace(encode=encode)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library()
    module = types.ModuleType("sentence_transformers")
    module.__spec__ = importlib.util.spec_from_loader("sentence_transformers", None)
    module.SentenceTransformer = found.load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return found


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The folder of a model, which has a name that vectors are kept under."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").write_text("1")
    return folder
