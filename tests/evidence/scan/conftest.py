"""Here compiled code counts small collections as well, which plain Python does elsewhere."""

from __future__ import annotations

import pytest
from counted_words import compile_counting


@pytest.fixture(autouse=True, scope="session")
def nothing_is_small(tmp_path_factory: pytest.TempPathFactory) -> None:
    compile_counting(tmp_path_factory.mktemp("large"))
