from __future__ import annotations

import faulthandler
import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import extras
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


# processes of xdist are told the width of the terminal, to which messages would be wrapped
os.environ.pop("COLUMNS", None)

# what is loaded to find the tests stays to the end: there is no garbage in it, and much to look at
gc.disable()


ERRORS = pytest.StashKey[int]()  # where this process writes what went wrong


def pytest_configure(config: pytest.Config) -> None:
    """A test process that is ended from outside says what it was at, as one that crashes does."""
    config.stash[ERRORS] = os.dup(2)  # what a test prints goes elsewhere while it runs
    if hasattr(faulthandler, "register"):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTRAP):  # the last is how V8 ends itself
            faulthandler.register(number, file=config.stash[ERRORS], chain=True)


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    """A test that never returns to Python does not end at its limit: its process ends at twice the limit."""
    end_after(2 * settings.timeout, item.config)


def pytest_timeout_cancel_timer(item: pytest.Item) -> None:
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """The import of a test file has a limit too."""
    end_after(2 * float(session.config.getini("timeout")), session.config)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def end_after(seconds: float, config: pytest.Config) -> None:
    """Print where each thread is and end this process, by a thread that needs nothing of Python."""
    faulthandler.dump_traceback_later(seconds, exit=True, file=config.stash[ERRORS])


class NeedyFile(pytest.Module):
    """A test file that imports what is not here: it skips as a whole, and says what it needs."""

    def collect(self) -> Any:
        lack = extras.missing(*extras.needs_of_file(self.path))
        if lack:
            raise pytest.skip.Exception(lack, allow_module_level=True)
        return super().collect()


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> NeedyFile:
    return NeedyFile.from_parent(parent, path=module_path)


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("chromium")
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(900))


def pytest_runtest_setup(item: pytest.Item) -> None:
    lack = extras.missing(*(name for marker in item.iter_markers("needs") for name in marker.args))
    if lack:
        pytest.skip(lack)


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


@pytest.fixture(scope="session")
def shared() -> Path:
    """Published values and real data that are kept beside the project, not in it."""
    if lack := extras.missing("shared"):
        pytest.skip(lack)
    return extras.SHARED


BROWSER_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser, one for all tests of a process; it opens files and pages on loopback."""
    if lack := extras.missing("playwright", "chromium"):
        pytest.skip(lack)
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=extras.chromium(), args=list(BROWSER_ARGUMENTS))
        yield opened
        opened.close()
