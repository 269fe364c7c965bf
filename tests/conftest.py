from __future__ import annotations

import faulthandler
import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pages
import pytest
from hypothesis import HealthCheck, settings

# machines are shared and slow at times: a deadline, or a complaint that data come slowly, would only test the
# machine; and the same examples every time, so that what fails here fails everywhere. make test-full takes
# more of them: --hypothesis-profile=thorough
settings.register_profile(
    "evenrank",
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
    print_blob=True,
)
settings.register_profile("thorough", settings.get_profile("evenrank"), max_examples=100)
# other examples each time, to search for what the fixed ones miss: pytest --hypothesis-profile=explore
settings.register_profile("explore", settings.get_profile("thorough"), derandomize=False)
settings.load_profile("evenrank")


# what is loaded to find the tests stays to the end: there is no garbage in it, and much to look at
gc.disable()


def pytest_configure() -> None:
    """A test process that is ended from outside says what it was at, as one that crashes does."""
    if hasattr(faulthandler, "register"):
        errors = os.dup(2)  # what a test prints goes elsewhere while it runs
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTRAP):  # the last is how V8 ends itself
            faulthandler.register(number, file=errors, chain=True)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def evenrank(capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command in this process: ``evenrank("measures", "nDCG")``."""

    def run(*arguments: object) -> Outcome:
        from evenrank.cli import main

        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Published values and real data that are kept beside the project, not in it."""
    if not SHARED.is_dir():
        pytest.skip("the folder 'shared' with real data is not beside the project")
    return SHARED


BROWSER_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser, one for all tests of a process; it opens files and pages on loopback."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = pages.chromium()
    if found is None:
        pytest.skip("there is no chromium: pages are not opened in a browser")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=list(BROWSER_ARGUMENTS))
        yield opened
        opened.close()
