"""``evenrank evaluate`` with word counts: backgrounds, notes, and files that must not be lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er
from evenrank.evidence.scan import scan_file

Evenrank = Callable[..., SimpleNamespace]

LEXICON = er.Lexicon.build("sides", {"left": ["he"], "right": ["she"]})


@pytest.fixture(autouse=True)
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents a, b, c of one side, n neutral; the run is a, b, n."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.tsv").write_text("a\the he\nb\the he she\nc\tshe she\nn\tnobody\n")
    (tmp_path / "r.trec").write_text("q Q0 a 1 3 x\nq Q0 b 2 2 x\nq Q0 n 3 1 x\n")
    scan_file("d.tsv", LEXICON, "c.parquet")
    scan_file("d.tsv", LEXICON, "terms.parquet", terms=True)
    return tmp_path


def value(outcome: SimpleNamespace) -> float:
    assert outcome.code == 0, outcome.err
    return float(outcome.out.splitlines()[1].split("\t")[3])


def nfairr(evenrank: Evenrank, *arguments: str) -> SimpleNamespace:
    return evenrank(
        "evaluate", "r.trec", "--words", "c.parquet", "-m", "NFaiRR@1", "--format", "tsv", *arguments
    )


@pytest.mark.parametrize("option", ["-o", "--figure"])
def test_counts_are_not_written_over(evenrank: Evenrank, counted: Path, option: str) -> None:
    before = (counted / "c.parquet").read_bytes()
    outcome = evenrank("evaluate", "r.trec", "--words", "c.parquet", "-m", "FaiRR@2", option, "c.parquet")
    assert outcome.code == 2
    assert "c.parquet: is also an input, and would be overwritten: choose another name" in outcome.err
    assert (counted / "c.parquet").read_bytes() == before


def test_the_depth_of_the_background(evenrank: Evenrank) -> None:
    (first, second) = "q Q0 b 1 3 x\n", "q Q0 b 1 3 x\nq Q0 n 2 2 x\n"
    Path("one.trec").write_text(first)
    Path("two.trec").write_text(second)
    shallow = nfairr(evenrank, "--background", "two.trec:depth=1")
    assert "background: the first 1 documents of run 'two', which is 2 deep" in shallow.err
    assert value(shallow) == value(nfairr(evenrank, "--background", "one.trec"))
    own = nfairr(evenrank, "--background", "r:depth=2")  # the run itself, by its name
    assert "background: the first 2 documents of run 'r', which is 3 deep" in own.err
    assert nfairr(evenrank, "--background", "two.trec:depth=0").code == 2
    refused = nfairr(evenrank, "--background", "collection:depth=5")
    assert refused.code == 2
    assert "FILE:depth=N" in refused.err


def test_a_set_of_documents_as_background(evenrank: Evenrank, counted: Path) -> None:
    (counted / "ids.txt").write_text("# of one side\nb\n\nc\n")
    outcome = nfairr(evenrank, "--background", "ids.txt")
    assert "background: 2 documents, the same for every query" in outcome.err
    words = er.read_counts("c.parquet")
    expected = er.evaluate(er.read_run("r.trec"), "NFaiRR@1", words=words, background=["b", "c"])
    assert value(outcome) == expected.mean("NFaiRR@1")
    explained = evenrank(
        "explain",
        "r.trec",
        "--query",
        "q",
        "--words",
        "c.parquet",
        "-m",
        "NFaiRR@1",
        "--background",
        "ids.txt",
    )
    assert explained.code == 0
    assert "background: 2 documents" in explained.out


def test_what_counts_were_made_with(evenrank: Evenrank) -> None:
    assert (
        "words: 2 terms of lexicon 'sides' (left, right), tokeniser 'word', in d.tsv" in nfairr(evenrank).err
    )


def test_missing_documents_are_counted(evenrank: Evenrank, counted: Path) -> None:
    (counted / "other.trec").write_text("q Q0 x 1 3 x\nq Q0 y 2 2 x\n")
    outcome = evenrank(
        "evaluate", "other.trec", "--words", "c.parquet", "-m", "FaiRR@2", "--missing", "neutral"
    )
    assert outcome.code == 0
    assert (
        "2 of 2 ranked documents in the first 2 ranks have no word counts: counted as neutral" in outcome.err
    )
    assert "are document ids written the same way" in outcome.err


def test_terms(evenrank: Evenrank) -> None:
    command = ("evaluate", "r.trec", "-m", "TermExposure@3", "--words")
    outcome = evenrank(*command, "c.parquet")
    assert outcome.code == 2
    assert "the counts are not by term: scan again with --terms" in outcome.err
    assert "TermExposure@3[he]" in evenrank(*command, "terms.parquet").out
