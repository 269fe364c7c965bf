"""``evenrank scan``: what it says and what it leaves."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evenrank import Lexicon, read_counts
from evenrank.cli import main
from evenrank.cli.progress import Bar
from evenrank.evidence import scan as package

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(
        sys.modules, "evenrank.io.lexicons", SimpleNamespace(read_lexicon={"sides": LEXICON}.__getitem__)
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.tsv").write_text("a\tHe, she\nb\tshe she\n")
    return tmp_path


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["scan", *arguments])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def test_counts_and_a_summary(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capfd, "c.tsv", "--lexicon", "sides", "-o", "counts.parquet", "--terms", "--threads", "2"
    )
    assert (code, out) == (0, "")
    assert "wrote counts.parquet: 2 documents, 4 tokens; left 1, right 3" in err
    assert "read 20 bytes" in err
    assert "resumed" not in err
    counts = read_counts("counts.parquet", LEXICON, "word")
    assert counts.counts.tolist() == [[1, 1], [0, 2]]
    assert counts.terms is not None


def test_tokenizer_and_format(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "c.tsv").rename(folder / "collection")
    code, _, err = run(capfd, "collection", "--lexicon", "sides", "-o", "o.parquet")
    assert code == 2
    assert "the suffix does not tell the format" in err
    arguments = (
        "collection:format=tsv",
        "--lexicon",
        "sides",
        "-o",
        "o.parquet",
        "--tokenizer",
        "whitespace",
    )
    assert run(capfd, *arguments)[0] == 0
    assert read_counts("o.parquet", LEXICON, "whitespace").counts.tolist() == [[0, 1], [0, 2]]


def test_bad_data_and_bad_usage(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "bad.tsv").write_text("a\tx\nno tab\n")
    code, _, err = run(capfd, "bad.tsv", "--lexicon", "sides", "-o", "o.parquet")
    assert (code, err) == (1, "evenrank: bad.tsv:2: no tab: a line is an id, a tab and the text\n")
    assert run(capfd, "c.tsv", "--lexicon", "sides", "-o", "o.parquet", "--threads", "0")[0] == 2
    assert run(capfd, "none.tsv", "--lexicon", "sides", "-o", "o.parquet")[0] == 1
    code, _, err = run(capfd, "c.tsv", "--lexicon", "sides", "-o", "s3://bucket/counts/")
    assert (code, err.count("outputs are written to this machine")) == (2, 1)
    for field in ((), ("--field", "groups")):
        code, _, err = run(capfd, "c.tsv", "--lexicon", "sides", "-o", "a.b/o.csv", *field)
        assert (code, err) == (2, "evenrank: a.b/o.csv: is written as Parquet: call it o.parquet\n")


def test_interrupted_it_says_how_to_go_on(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object, progress: Any, **options: object) -> None:
        progress(finished, 10, "bytes")
        raise KeyboardInterrupt

    monkeypatch.setattr(package, "scan_file", interrupt)
    for finished in (0, 5):
        code, _, err = run(capfd, "c.tsv", "--lexicon", "sides", "-o", "o.parquet")
        assert code == 130
        assert ("give the same command again to continue from there" in err) == (finished > 0)


def test_a_full_disk_names_the_file_and_the_way_on(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenrank.io.journal import Journal

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "add", refuse)
        code, _, err = run(capfd, "c.tsv", "--lexicon", "sides", "-o", "counts.parquet")
    assert code == 1
    assert err.endswith(  # on a new machine it says before that something is compiled
        "evenrank: counts.parquet: No space left on device; what is finished was kept: give the same command "
        "again to continue from there once there is room\n"
    )
    assert run(capfd, "c.tsv", "--lexicon", "sides", "-o", "counts.parquet")[0] == 0


def test_a_folder_that_cannot_be_written_to_is_not_blamed_on_a_hidden_file(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    code, _, err = run(capfd, "c.tsv", "--lexicon", "sides", "-o", "counts.parquet")
    assert (code, err) == (1, "evenrank: counts.parquet: cannot be written: Read-only file system\n")


def test_work_that_begins_in_silence_is_announced(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first scan compiles for seconds before it counts anything."""
    announced = []
    monkeypatch.setattr(Bar, "_announce_later", lambda bar: announced.append(bar))
    assert run(capfd, "c.tsv", "--lexicon", "sides", "-o", "counts.parquet")[0] == 0
    assert len(announced) == 1
