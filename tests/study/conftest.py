"""A browser for the pages of a study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pages
import pytest

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser; it sees the study on loopback and nothing else."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = pages.chromium()
    if found is None:
        pytest.skip("there is no chromium: the study is not opened in a browser")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield opened
        opened.close()
