from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace

import pytest

from evenrank.cli import progress as module
from evenrank.cli.progress import Bar, ResumableBar, bar_line, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def seconds(monkeypatch):
    """A clock that goes on by one second each time it is read, by the bar alone: other threads of the process
    may ask for the time too."""
    now = iter(range(100))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: float(next(now))))


def test_long_work_shows_how_far_it_is(monkeypatch, seconds) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress(["a", "b", "c"], "runs")) == ["a", "b", "c"]
    lines = stream.getvalue().split("\r\x1b[K")
    assert lines[1:] == [
        f"runs [{'':<24}] 0 of 3, ...",
        f"runs [{'#' * 8:<24}] 1 of 3, 2 s left",
        f"runs [{'#' * 16:<24}] 2 of 3, 1 s left",
        "",
    ]


def test_on_a_narrow_terminal_the_drawing_goes_first(monkeypatch, seconds) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("evenrank.cli.progress.message_width", lambda: 60)
    with Bar("asking for documents") as bar:
        bar(1, 4)
        bar.detail = "800 tokens, cost 0.02"
        bar(2, 4)
    last = stream.getvalue().split("\r\x1b[K")[-2]
    assert last.startswith("asking for documents 2 of 4, 800 tokens, cost 0.02, ")


def test_then_the_speed_goes_and_the_time_left_stays(monkeypatch, seconds) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("evenrank.cli.progress.message_width", lambda: 70)
    with Bar("indexing, step 1 of 2", "documents") as bar:
        bar(0, 4_000_000)
        bar(1_000_000, 4_000_000)
    last = stream.getvalue().split("\r\x1b[K")[-2]
    assert last == "indexing, step 1 of 2 1,000,000 of 4,000,000 documents, 3 s left"


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


class Announced(Terminal):
    """A terminal that can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def write(self, text: str) -> int:
        count = super().write(text)
        self.written.set()
        return count


def test_work_that_tells_nothing_is_announced(monkeypatch) -> None:
    """While something compiles or loads, no item is done and yet there is a sign of life."""
    stream = Announced()
    monkeypatch.setattr(sys, "stderr", stream)
    with Bar("scanning"):
        assert stream.written.wait(60)
    assert stream.getvalue() == "\r\x1b[Kscanning ...\r\x1b[K"


def test_a_bar_has_several_parts(monkeypatch, seconds) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Bar("reading", "texts") as bar:
        for what in ("reading", "ranking"):
            bar.begin(what)
            bar(1, 2)
    lines = stream.getvalue().split("\r\x1b[K")
    assert [line.partition(" ")[0] for line in lines if line] == ["reading", "ranking"]


def test_bytes_are_shown_as_megabytes(monkeypatch) -> None:
    stream, now = Terminal(), 100.0
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    bar = Bar("scanning")
    now = 100.5
    bar(0, 200_000_000, "bytes")
    assert stream.getvalue() == ""  # nothing in the first second
    now = 102.5
    bar(50_000_000, 200_000_000, "bytes")
    assert stream.getvalue().endswith("50 of 200 MB, 25 MB/s, 6 s left")
    now = 102.51
    bar(60_000_000, 200_000_000, "bytes")
    assert "60 of" not in stream.getvalue()  # it was drawn a moment ago
    bar.close()
    assert stream.getvalue().endswith("\r\x1b[K")


def drawn(stream: Terminal) -> str:
    return stream.getvalue().split("\r\x1b[K")[-1]


def test_small_work_is_counted_in_a_unit_that_fits() -> None:
    assert " 120 of 480 kB, " in bar_line("scanning", 120_000, 480_000, "bytes", 2.0)
    assert " 12 of 480 bytes, " in bar_line("scanning", 12, 480, "bytes", 2.0)
    assert " 1 of 4 MB, " in bar_line("scanning", 1_000_000, 4_000_000, "bytes", 2.0)
    assert bar_line("scanning", 1500, None, "bytes", 0.0) == "scanning 2 kB"


def test_the_time_to_begin_and_what_was_done_before_do_not_count(monkeypatch) -> None:
    stream, now = Terminal(), 100.0
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    bar = Bar("scanning", "pieces")
    now = 160.0  # something was compiled, and 50 pieces were found
    bar(50, 100)
    assert drawn(stream).endswith("50 of 100 pieces, ...")
    now = 162.0
    bar(60, 100)
    assert drawn(stream).endswith("60 of 100 pieces, 5 pieces/s, 8 s left")
    bar.begin("writing")
    now = 170.0
    bar(10, 100)
    assert drawn(stream).endswith("10 of 100 pieces, ...")
    bar.close()


@pytest.mark.parametrize(("done", "kept"), [((), False), ((0,), False), ((0, 1), True)])
def test_what_is_kept_is_said_only_where_something_is(capfd, done, kept) -> None:
    def interrupted() -> None:
        with ResumableBar("scanning") as bar:
            for count in done:
                bar(count, 4, "bytes")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ("what is finished was kept" in capfd.readouterr().err) == kept
