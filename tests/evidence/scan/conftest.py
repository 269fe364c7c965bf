"""Here the kernel counts small collections as well, which plain Python does elsewhere."""

from __future__ import annotations

import pytest

from evenrank.evidence.scan import counter


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counter, "SMALL", -1)
    monkeypatch.setattr(counter, "TOO_SMALL_TO_COMPILE", -1)
