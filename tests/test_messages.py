"""Messages stay readable whatever was given."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

import evenrank as er
from evenrank import DataError, EvenrankError, EvenrankWarning
from evenrank.cli import main

ENDLESS = "x" * 100_000


@pytest.mark.parametrize(
    "do",
    [
        lambda: er.read_run(ENDLESS),
        lambda: er.read_run({"q": {ENDLESS: 1.0}}),
        lambda: er.read_run({"q": {ENDLESS: float("nan")}}),
        lambda: er.read_run({"q": {"d": ENDLESS}}),
        lambda: er.read_qrels({"q": {ENDLESS: 0.5}}),
        lambda: er.evaluate({"q": {"d": 1.0}}, [ENDLESS]),
        lambda: er.evaluate({"q": {"d": 1.0}}, [f"P(rel={ENDLESS})@1"]),
        lambda: er.read_groups({"d": "a", "e": ENDLESS}, "g", values=["a", "b"]),
        lambda: er.read_groups({"d": "a", "e": "b"}, ENDLESS + "("),
        lambda: er.rerank({"q": {"d": 1.0}}, ENDLESS),
        lambda: er.read_lexicon(ENDLESS),
    ],
)
def test_an_error_does_not_repeat_endless_input(do: object) -> None:
    with pytest.raises(EvenrankError) as caught:
        do()  # type: ignore[operator]
    assert len(str(caught.value)) < 2000
    assert str(caught.value).strip()


def test_only_endless_pieces_are_shortened() -> None:
    prose = "the run's own documents are 'a' and " + "b, " * 400 + "which is the user's choice of 'c'"
    assert str(DataError(prose)) == prose
    assert str(DataError(f"no {'d' * 300!r} here")) == f"no '{'d' * 197}...' here"
    path = str(DataError("/" + "d" * 600 + ":7: bad"))
    assert len(path) < 330
    assert path.endswith("d:7: bad")  # the line stays
    assert len(str(EvenrankWarning(repr(ENDLESS)))) < 300


def test_the_command_does_not_repeat_endless_input(capsys: pytest.CaptureFixture[str]) -> None:
    for words, code in (([ENDLESS], 2), (["evaluate", ENDLESS, "-m", "P@1"], 1), (["rank", ENDLESS], 2)):
        assert main(words) == code
        assert 0 < len(capsys.readouterr().err) < 1000


@pytest.fixture
def run(tmp_path: Path) -> str:
    path = tmp_path / "run.trec"
    path.write_text("q Q0 d 1 1.0 x\n")
    return str(path)


@pytest.mark.parametrize("width", [50, 60, 80])
def test_messages_are_wrapped_on_a_terminal_and_at_columns(width: int) -> None:
    """An option that they name stays in one line with its value, so that it can be copied."""
    words = [sys.executable, "-m", "evenrank", "queryset", "page", "sheets"]
    bare = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    plain, narrow = (
        subprocess.run(words, capture_output=True, text=True, check=False, env=bare | more).stderr
        for more in ({}, {"COLUMNS": str(width)})
    )
    assert len(plain.splitlines()) == 1
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=theirs, check=False, env=bare)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    for lines in (shown.splitlines(), narrow.splitlines()):
        assert " ".join(lines).split() == plain.split()
        assert len(lines) > 1
        assert all(len(line) <= width for line in lines), lines
        assert any("-o sheets" in line for line in lines), lines


@pytest.mark.parametrize(
    ("measure", "shell", "python"),
    [
        ("RR", "--qrels FILE", "qrels="),
        ("10", "--cutoffs", "cutoffs="),
        ("alpha_nDCG@5", "--intents FILE", "intents="),
        ("GF", "--groups", "groups="),
        ("NFaiRR@5", "--words", "words="),
    ],
)
def test_a_shell_is_told_of_options_and_python_of_keywords(
    measure: str, shell: str, python: str, run: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", run, "-m", measure]) == 2
    said = capfd.readouterr().err
    assert shell in said
    assert python not in said
    with pytest.raises(EvenrankError) as caught:
        er.evaluate(er.read_run(run), measure)
    assert python in str(caught.value)
    assert shell not in str(caught.value)
