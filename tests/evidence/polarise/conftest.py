from __future__ import annotations

from collections.abc import Callable, Sequence
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
