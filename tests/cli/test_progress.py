from __future__ import annotations

import io
import sys

import pytest

from evenrank.cli import progress as module
from evenrank.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def seconds(monkeypatch):
    """A clock that goes on by one second each time it is read."""
    now = iter(range(100))
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(now)))


def test_long_work_shows_how_far_it_is(monkeypatch, seconds) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress(["a", "b", "c"], "runs")) == ["a", "b", "c"]
    lines = stream.getvalue().split("\r\x1b[K")
    assert lines[1:] == [f"runs [{'#' * 8:<24}] 1/3, 4 s left", f"runs [{'#' * 16:<24}] 2/3, 2 s left", ""]


def test_it_is_quiet_when_not_a_terminal(monkeypatch, seconds) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress([1, 2, 3], "runs")) == [1, 2, 3]
    assert stream.getvalue() == ""


def test_short_work_shows_nothing(monkeypatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress([1, 2], "runs")) == [1, 2]
    assert stream.getvalue() == ""


def test_the_line_is_cleared_when_interrupted(monkeypatch, seconds) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)

    def interrupted() -> None:
        for item in progress([1, 2, 3], "runs"):
            if item == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stream.getvalue().endswith("\r\x1b[K")
