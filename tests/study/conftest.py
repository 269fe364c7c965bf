"""The command, and a browser for the pages of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pages
import pytest

from evenrank.cli import main

ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def evenrank(capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command in this process."""

    def run(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


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
