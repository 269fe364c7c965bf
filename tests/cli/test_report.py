"""``evenrank report``: what it reads, what it writes, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pages
import pytest

Evenrank = Callable[..., SimpleNamespace]


@pytest.fixture
def texts(files: Path) -> Path:
    (files / "documents.tsv").write_text("a\tshe <b>wrote</b>\nb\the read\nc\tthey\nd\tit\ne\tshe\n")
    (files / "queries.csv").write_text("query,text\nq1,who <i>wrote</i>\nq2,what else\n")
    return files


def shown(path: Path) -> str:
    return pages.text_of(next(e for e in pages.elements(pages.parsed(path)) if e.tag.endswith("main")))


def test_two_runs_with_texts(evenrank: Evenrank, texts: Path) -> None:
    assert evenrank("scan", "documents.tsv", "--lexicon", "gender-en", "-o", "counts.parquet").code == 0
    done = evenrank(
        "report", "bm25.trec", "dense.trec", "--qrels", "qrels.txt", "--words", "counts.parquet",
        "--background", "bm25.trec", "--documents", "documents.tsv", "--queries", "queries.csv",
        "-m", "nDCG@2 NFaiRR@2", "--title", "My <title>", "-o", "out.html",
    )  # fmt: skip
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("evenrank: wrote out.html\n")
    page = shown(texts / "out.html")
    assert "Others are compared with bm25." in page
    assert "By NFaiRR@2 of dense" in page  # the first measure of fairness
    assert "who <i>wrote</i>" in page
    assert "he● read" not in page  # the mark is drawn, it is not in the text
    assert "he read" in page
    assert "female ▲ 1" in page
    assert "My <title>" in (texts / "out.html").read_text().replace("&lt;", "<").replace("&gt;", ">")


def test_one_run_and_texts_behind_the_ids(evenrank: Evenrank, texts: Path) -> None:
    (texts / "asked.tsv").write_text("q1\twhat was asked\nq2\n")
    done = evenrank(
        "report",
        "bm25.trec",
        "--qrels",
        "qrels.txt",
        "--queries",
        "asked.tsv",
        "-m",
        "nDCG@2",
        "-o",
        "o.html",
    )
    assert done.code == 0
    page = shown(texts / "o.html")
    assert "1 system, 2 queries." in page
    assert "what was asked" in page
    assert "No texts were given" in page


def test_lexicon_cutoffs_baseline_and_system(evenrank: Evenrank, texts: Path) -> None:
    done = evenrank(
        "report", "one=bm25.trec", "two=dense.trec", "--baseline", "two",
        "--system", "one", "--sort-by", "P@1", "--cutoffs", "1,2", "--test", "permutation,bh",
        "--qrels", "qrels.txt", "--documents", "documents.tsv",
        "--lexicon", "gender-en", "-m", "nDCG@2 P@1",
        "-o", "o.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    page = shown(texts / "o.html")
    assert "By P@1 of one" in page
    assert "Others are compared with two." in page
    assert "Paired permutation test, corrected by Benjamini and Hochberg" in page
    assert "Group words are the" in page


def test_words_are_counted_where_they_were_not(evenrank: Evenrank, texts: Path) -> None:
    """One command from texts to the report, with the values of the two that scan and evaluate."""
    common = ["bm25.trec", "dense.trec", "--background", "bm25.trec", "-m", "NFaiRR@2"]
    done = evenrank(
        "report", *common, "--documents", "documents.tsv", "--lexicon", "gender-en", "-o", "one.html"
    )
    assert done.code == 0, done.err
    assert evenrank("scan", "documents.tsv", "--lexicon", "gender-en", "-o", "counts.parquet").code == 0
    done = evenrank(
        "report", *common, "--documents", "documents.tsv", "--words", "counts.parquet", "-o", "two.html"
    )
    assert done.code == 0, done.err
    one, two = (pages.parsed(texts / f"{name}.html") for name in ("one", "two"))
    for key in ("systems", "queries"):
        first, second = (next(e for e in pages.elements(root) if e.get("id") == key) for root in (one, two))
        assert pages.text_of(first) == pages.text_of(second)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["bm25.trec", "-o", "o.pdf"], 2, "o.pdf: the name of a report must end in .html or .htm"),
        (["bm25.trec", "-o", "o.html", "--baseline", "x"], 2, "no run is called 'x'; there are bm25"),
        (["bm25.trec", "-o", "o.html", "--system", "x"], 2, "no run is called 'x'; there are bm25"),
        (["bm25.trec", "-o", "o.html", "--baseline", "bm25"], 2, "there is one run only"),
        (["bm25.trec", "-o", "o.html", "--sort-by", "AP"], 2, "AP was not evaluated"),
        (["bm25.trec", "-o", "o.html", "--documents", "none.tsv"], 1, "none.tsv: no such file"),
        (["bm25.trec", "-o", "o.html", "--queries", "bad.csv"], 1, "bad.csv: no column for the query"),
        (["bm25.trec", "-o", "o.html", "--queries", "other.tsv"], 1, "is in a run or judged"),
        (["bm25.trec", "-o", "o.html", "--readable", "-1"], 2, "readable must be an integer >= 0, got -1"),
        (["bm25.trec", "-o", "no/such/o.html"], 1, "no/such/o.html: no such folder"),
    ],
)
def test_refused(evenrank: Evenrank, texts: Path, arguments: list[str], code: int, said: str) -> None:
    (texts / "bad.csv").write_text("name,other\nq1,x\n")
    (texts / "other.tsv").write_text("unknown\twhat?\n")
    done = evenrank("report", *arguments, "--qrels", "qrels.txt", "-m", "nDCG@2")
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert not (texts / "o.html").exists()


def test_what_must_be_installed_is_said(texts: Path) -> None:
    words = ["report", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG@2", "-o", "o.html"]
    code = (
        f"import sys; sys.modules['jinja2'] = None; from evenrank.cli import main;sys.exit(main({words!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "[report]" in done.stderr


def test_categories_of_queries_have_a_section(evenrank: Evenrank, texts: Path) -> None:
    (texts / "asked.csv").write_text("query,topic\nq1,<b>x</b>\nq2,y\n")
    common = ["bm25.trec", "dense.trec", "--qrels", "qrels.txt", "--queries", "asked.csv", "-m", "P@1"]
    assert evenrank("report", *common, "--by", "topic", "-o", "by.html").code == 0
    root = pages.parsed(texts / "by.html")
    section = next(e for e in pages.elements(root) if e.get("id") == "categories")
    assert "bm25: <b>x</b>" in pages.text_of(section)
    assert evenrank("report", *common, "-o", "plain.html").code == 0
    assert not any(e.get("id") == "categories" for e in pages.elements(pages.parsed(texts / "plain.html")))
