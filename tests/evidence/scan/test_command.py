"""``evenrank scan``: what it says and what it leaves."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from evenrank import Lexicon, read_counts
from evenrank.cli import main

LEXICON = Lexicon.build("words", {"left": ["he"], "right": ["she"]})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.csv").write_text("word,group\nhe,left\nshe,right\n")
    (tmp_path / "c.tsv").write_text("a\tHe, she\nb\tshe she\n")
    return tmp_path


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["scan", *arguments])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def test_counts_and_a_summary(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capfd, "c.tsv", "--lexicon", "words.csv", "-o", "counts.parquet", "--terms", "--threads", "2"
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
    code, _, err = run(capfd, "collection", "--lexicon", "words.csv", "-o", "o.parquet")
    assert code == 2
    assert "the suffix does not tell the format" in err
    arguments = (
        "collection:format=tsv",
        "--lexicon",
        "words.csv",
        "-o",
        "o.parquet",
        "--tokenizer",
        "whitespace",
    )
    assert run(capfd, *arguments)[0] == 0
    assert read_counts("o.parquet", LEXICON, "whitespace").counts.tolist() == [[0, 1], [0, 2]]


def test_bad_data_and_bad_usage(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "bad.tsv").write_text("a\tx\nno tab\n")
    code, _, err = run(capfd, "bad.tsv", "--lexicon", "words.csv", "-o", "o.parquet")
    assert (code, err) == (1, "evenrank: bad.tsv:2: no tab: a line is an id, a tab and the text\n")
    assert run(capfd, "c.tsv", "--lexicon", "words.csv", "-o", "o.parquet", "--threads", "0")[0] == 2
    assert run(capfd, "none.tsv", "--lexicon", "words.csv", "-o", "o.parquet")[0] == 1
    code, _, err = run(capfd, "c.tsv", "--lexicon", "words.csv", "-o", "s3://bucket/counts/")
    assert (code, err.count("outputs are written to this machine")) == (2, 1)
    (folder / "a.b").mkdir()
    for field in ((), ("--field", "groups")):
        code, _, err = run(capfd, "c.tsv", "--lexicon", "words.csv", "-o", "a.b/o.csv", *field)
        assert (code, err) == (2, "evenrank: a.b/o.csv: is written as Parquet: call it o.parquet\n")


def test_a_folder_that_cannot_be_written_to_is_not_blamed_on_a_hidden_file(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    code, _, err = run(capfd, "c.tsv", "--lexicon", "words.csv", "-o", "counts.parquet")
    assert code == 1
    assert err.startswith("evenrank: counts.parquet: ")
