"""Reports that several tests look at, and the browser that opens them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pages
import planted_shop
import pytest

from evenrank.comparison import Comparison


class SampleReport(NamedTuple):
    path: Path
    comparison: Comparison
    sample: Any


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that ``make`` fills, once for all processes of the tests: who comes second waits for it."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # the folder that the processes share
    folder = root / f"shared-{name}"
    with (root / f"shared-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            (folder / "done").touch()
    return folder


@pytest.fixture(scope="session")
def sample_report(tmp_path_factory: pytest.TempPathFactory) -> SampleReport:
    comparison, sample = pages.sample_comparison()

    def make(folder: Path) -> None:
        comparison.report(
            folder / "sample.html", documents=sample.documents, query_texts=sample.queries, readable=5
        )

    return SampleReport(made_once(tmp_path_factory, "sample", make) / "sample.html", comparison, sample)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same report with hostile and with harmless names."""
    folder = made_once(tmp_path_factory, "hostile", pages.hostile_and_harmless)
    return folder / "hostile.html", folder / "harmless.html"


@pytest.fixture(scope="session")
def shop_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop whose first system shows small sellers too little."""

    def make(folder: Path) -> None:
        planted_shop.shop_report(folder / "shop.html")

    return made_once(tmp_path_factory, "shop", make) / "shop.html"


@pytest.fixture(scope="session")
def shop_audit(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What an audit of the same shop finds."""
    return planted_shop.shop_audit(tmp_path_factory.mktemp("shop-audit"))
