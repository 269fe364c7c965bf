"""The command, and a browser for the pages of a study."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from evenrank.cli import main


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
