from __future__ import annotations

import sys

import pytest
from shops import Shop, shop


@pytest.fixture(autouse=True)
def without_figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports take seconds: only the tests that are about them have what draws them."""
    if "report" not in request.node.nodeid:
        monkeypatch.setitem(sys.modules, "altair", None)


@pytest.fixture(scope="session")
def biased() -> Shop:
    return shop(7, lowered=1.0, products=800, queries=60, depth=40)
