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
        "evaluate",
        "r.trec",
        "--words",
        "c.parquet",
        "-m",
        "NFaiRR@1",
        "--format",
        "tsv",
        "--notes",
        *arguments,
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
        "--notes",
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


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_counts_of_other_documents_are_not_to_be_accepted(
    evenrank: Evenrank, counted: Path, command: str
) -> None:
    """Where no document of a run is known, the file is a wrong one, and a rule for missing ones hides it."""
    (counted / "other.trec").write_text("q Q0 x 1 3 x\nq Q0 y 2 2 x\nq Q0 z 3 1 x\n")
    (counted / "again.trec").write_text("q Q0 z 1 3 x\nq Q0 y 2 2 x\n")
    runs = ["other.trec", "again.trec"][: 1 + (command == "compare")]
    outcome = evenrank(command, *runs, "--words", "c.parquet", "-m", "FaiRR@2")
    assert outcome.code == 1
    assert (
        "FaiRR@2: none of the ranked documents of run 'other', such as 'x' (query 'q'), 'y' (query 'q'), "
        "has word counts; are document ids written the same way in both?"
    ) in outcome.err
    assert "--missing" not in outcome.err
    (counted / "other.trec").write_text("q Q0 x 1 3 x\nq Q0 y 2 2 x\nq Q0 b 3 1 x\n")  # b is known
    below = evenrank("evaluate", "other.trec", "--words", "c.parquet", "-m", "FaiRR@2")
    assert "2 ranked documents of run 'other' have no word counts" in below.err
    assert "accept them by --missing neutral" in below.err


def test_a_reranker_says_as_much(evenrank: Evenrank, counted: Path) -> None:
    (counted / "other.trec").write_text("q Q0 x 1 3 x\nq Q0 y 2 2 x\n")
    given = ("rerank", "other.trec", "--words", "c.parquet", "--with")
    outcome = evenrank(*given, "Neutral(missing='error')")
    assert "none of the ranked documents of run 'other'" in outcome.err


def test_a_reranker_with_a_cutoff_looks_at_whole_lists(evenrank: Evenrank, counted: Path) -> None:
    given = ("rerank", "other.trec", "--words", "c.parquet", "--with", "Neutral(missing='error')@2")
    (counted / "other.trec").write_text("q Q0 x 1 3 x\nq Q0 y 2 2 x\nq Q0 z 3 1 x\n")
    outcome = evenrank(*given)
    assert "none of the ranked documents of run 'other'" in outcome.err
    assert "missing='neutral'" not in outcome.err
    (counted / "other.trec").write_text("q Q0 x 1 3 x\nq Q0 y 2 2 x\nq Q0 b 3 1 x\n")  # b is known
    assert "accept them by Neutral(missing='neutral')" in evenrank(*given).err


def test_terms(evenrank: Evenrank) -> None:
    command = ("evaluate", "r.trec", "-m", "TermExposure@3", "--words")
    outcome = evenrank(*command, "c.parquet")
    assert outcome.code == 2
    assert "the counts are not by term: scan again with --terms" in outcome.err
    assert "TermExposure@3[he]" in evenrank(*command, "terms.parquet").out


@pytest.mark.parametrize(
    ("command", "measures", "groups", "is_counted"),
    [
        ("evaluate r.trec", "nDCG@10", "", False),
        ("evaluate r.trec", "nDCG@10 FaiRR@2", "", True),
        ("evaluate r.trec", "0.5*RR + 0.5*FaiRR@2", "", True),
        ("evaluate r.trec", "GroupShare@2", 'sides = "words"', True),
        ("compare r.trec s.trec", "nDCG@10", "", False),
    ],
)
def test_words_are_counted_where_a_measure_asks_for_them(
    evenrank: Evenrank, command: str, measures: str, groups: str, is_counted: bool
) -> None:
    Path("s.trec").write_text("q Q0 n 1 3 x\nq Q0 b 2 2 x\n")
    Path("qrels.txt").write_text("q 0 a 1\n")
    Path("sides.csv").write_text("group,term\nleft,he\nright,she\n")
    Path("evenrank.toml").write_text(
        f'[data]\nqrels = "qrels.txt"\ndocuments = "d.tsv"\nlexicon = "sides.csv"\n[groups]\n{groups}\n'
    )
    outcome = evenrank(*command.split(), "-m", measures)
    assert outcome.code == 0, outcome.err
    assert ("counted the words of" in outcome.err) == is_counted


def test_a_choice_of_measures_never_fails_for_want_of_a_background(evenrank: Evenrank) -> None:
    Path("other.trec").write_text("q Q0 n 1 3 x\nq Q0 c 2 2 x\n")
    command = ("evaluate", "r.trec", "other.trec", "--words", "c.parquet")
    chosen = evenrank(*command)
    assert chosen.code == 0, chosen.err
    said = " ".join(chosen.err.split())
    assert "chosen by what is known: TExFAIR@10 (word counts); NFaiRR@10 is left out, because" in said
    assert said.count("add --background r ") == 1
    assert "NFaiRR" not in chosen.out
    common = evenrank(*command, "--background", "r")  # as it says
    assert common.code == 0, common.err
    assert "NFaiRR@10" in common.out
    assert "left out" not in common.err
    alone = evenrank("evaluate", "r.trec", "--words", "c.parquet")
    assert "NFaiRR@10" in alone.out
    assert "left out" not in alone.err


def test_a_measure_that_was_named_says_which_background_to_give(evenrank: Evenrank) -> None:
    Path("my run.trec").write_text("q Q0 n 1 3 x\nq Q0 c 2 2 x\n")
    command = ("evaluate", "my run.trec", "r.trec", "--words", "c.parquet", "-m", "NFaiRR@10")
    outcome = evenrank(*command)
    assert outcome.code == 2
    assert "pass --background 'my run' for the first run;" in " ".join(outcome.err.split())
    assert evenrank(*command, "--background", "my run").code == 0


def test_a_choice_without_any_other_measure_asks_for_the_background(evenrank: Evenrank) -> None:
    Path("other.trec").write_text("q Q0 n 1 3 x\nq Q0 c 2 2 x\n")
    Path("sides.csv").write_text("document,side\na,left\nb,left\nc,right\nn,right\n")
    command = ("evaluate", "r.trec", "other.trec", "--groups", "side=sides.csv", "--target", "side=pool")
    outcome = evenrank(*command)
    assert outcome.code == 2
    assert "pass --background r for the first run;" in " ".join(outcome.err.split())
    assert evenrank(*command, "--background", "r").code == 0
