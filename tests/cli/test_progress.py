"""Long work shows on a terminal how far it is, and nowhere else."""

from __future__ import annotations

import io
import itertools
import sys
import time
from pathlib import Path

import pytest

from evenrank.cli import main

CLEARED = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def run(files: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A scan, while time goes by fast."""
    now = itertools.count(1.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    (files / "texts.tsv").write_text("".join(f"d{n}\tshe wrote {n}\n" for n in range(2000)))
    return ["scan", "texts.tsv", "--lexicon", "gender-en", "-o", "counts.parquet"]


def test_long_work_shows_how_far_it_is_and_clears_the_line(
    run: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert main(run) == 0
    drawn = [line for line in stream.getvalue().split(CLEARED)[1:] if line]
    assert any("%" in line or " of " in line for line in drawn)
    assert "\n" not in "".join(drawn[:-1])
    assert drawn[-1].startswith("evenrank: wrote")


def test_it_is_quiet_where_there_is_no_terminal(run: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assert main(run) == 0
    assert CLEARED not in stream.getvalue()
    assert " of " not in stream.getvalue()
