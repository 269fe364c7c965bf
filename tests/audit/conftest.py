from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def without_figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports take seconds: only the tests that are about them have what draws them."""
    if "report" not in request.node.name:
        monkeypatch.setitem(sys.modules, "altair", None)
