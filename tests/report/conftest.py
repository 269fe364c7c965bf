"""Reports that several tests look at, and the browser that opens them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pages
import pytest

from evenrank.comparison import Comparison

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
)  # fmt: skip


class SampleReport(NamedTuple):
    path: Path
    comparison: Comparison
    sample: Any


@pytest.fixture(scope="session")
def sample_report(tmp_path_factory: pytest.TempPathFactory) -> SampleReport:
    comparison, sample = pages.sample_comparison()
    path = tmp_path_factory.mktemp("report") / "sample.html"
    comparison.report(path, documents=sample.documents, query_texts=sample.queries, readable=5)
    return SampleReport(path, comparison, sample)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same report with hostile and with harmless names."""
    return pages.hostile_and_harmless(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser; it opens files, and there is no network."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = pages.chromium()
    if found is None:
        pytest.skip("there is no chromium: the report is not opened in a browser")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield opened
        opened.close()
