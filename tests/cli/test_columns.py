"""``--columns``: one name for the column of documents, in every command and for every file of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from effort import some

Evenrank = Callable[..., SimpleNamespace]


@pytest.fixture
def shop(files: Path) -> Path:
    (files / "texts.csv").write_text("ware,text\na,she wrote\nb,he read\nc,they\nd,it\n")
    (files / "run.csv").write_text("query,ware,score\nq1,a,2\nq1,b,1\nq2,c,1\n")
    (files / "plain.csv").write_text("query,document,score\nq1,a,2\nq1,b,1\nq2,c,1\n")
    (files / "prices.csv").write_text("ware,price\na,3\nb,1\nc,2\nd,4\n")
    return files


@pytest.mark.parametrize("run", ["bm25.trec", "run.csv", "plain.csv"])
@pytest.mark.parametrize("role", some(["document", "id"]))
@pytest.mark.parametrize("lexicon", some([True, False]))
def test_documents_of_a_report_with_a_column_of_their_own(
    evenrank: Evenrank, shop: Path, run: str, role: str, lexicon: bool
) -> None:
    command = ["report", run, "--qrels", "qrels.txt", "--documents", "texts.csv", "-o", "o.html"]
    command += ["--lexicon", "gender-en", "-m", "nDCG@2 NFaiRR@2"] if lexicon else ["-m", "nDCG@2"]
    done = evenrank(*command, "--columns", f"{role}=ware")
    assert done.code == 0, done.err
    assert "wrote" in (shop / "o.html").read_text()
    taken = "plain.csv: no column 'ware' for the document: 'document' was taken" in done.err
    assert taken == (run == "plain.csv")


def test_the_advice_of_a_report_works(evenrank: Evenrank, shop: Path) -> None:
    command = ["report", "bm25.trec", "--qrels", "qrels.txt", "--documents", "texts.csv", "-m", "nDCG@2"]
    done = evenrank(*command, "-o", "o.html")
    assert done.code == 1
    assert "texts.csv: no column for the id" in done.err
    assert "--columns id=NAME" in done.err
    assert evenrank(*command, "-o", "o.html", "--columns", "id=ware").code == 0


@pytest.mark.parametrize("run", ["run.csv", "plain.csv", "bm25.trec"])
def test_numbers_with_a_column_of_their_own(evenrank: Evenrank, shop: Path, run: str) -> None:
    command = ["rerank", run, "--with", "SortBy(field='p.price')", "--table", "p=prices.csv", "-o", "s.trec"]
    if run != "run.csv":
        refused = evenrank(*command)
        assert refused.code == 1
        assert "prices.csv: no column for the document" in refused.err
        assert "--columns document=NAME" in refused.err
    done = evenrank(*command, "--columns", "document=ware")
    assert done.code == 0, done.err
    assert (shop / "s.trec").read_text().split()[2] == "a"


@pytest.mark.parametrize(
    "groups",
    [
        "ware,kind\na,x\nb,y\nc,x\n",
        "id,kind\na,x\nb,y\nc,x\n",
        "item,kind\na,x\nb,y\nc,x\n",
    ],
)
@pytest.mark.parametrize("run", ["run.csv", "plain.csv"])
def test_groups_with_a_column_of_their_own(evenrank: Evenrank, shop: Path, run: str, groups: str) -> None:
    (shop / "kinds.csv").write_text(groups)
    own = ":document=item" if groups.startswith("item") else ""
    command = ["evaluate", run, "--documents", "texts.csv", "-m", "GF@2", "--format", "tsv"]
    done = evenrank(*command, "--notes", "--groups", f"kind=kinds.csv{own}", "--columns", "document=ware")
    assert done.code == 0, done.err
    assert "groups of 'kind' by their documents: x (2), y (1)" in done.err


def test_groups_without_named_columns_beside_tables(evenrank: Evenrank, shop: Path) -> None:
    (shop / "kinds.txt").write_text("q1 0 a x\nq1 0 b y\nq2 0 c x\n")
    done = evenrank("evaluate", "run.csv", "-m", "GF@2", "--groups", "kind=kinds.txt", "--columns", "id=ware")
    assert done.code == 0, done.err


def test_a_name_that_one_file_alone_could_have_must_be_there(evenrank: Evenrank, shop: Path) -> None:
    done = evenrank("evaluate", "plain.csv", "--qrels", "qrels.txt", "-m", "P@1", "--columns", "document=x")
    assert done.code == 1
    assert "plain.csv: no column 'x' for the document" in done.err


def test_id_and_document_are_the_same_in_every_command(evenrank: Evenrank, shop: Path) -> None:
    assert (
        evenrank("evaluate", "run.csv", "--qrels", "qrels.txt", "-m", "P@1", "--columns", "id=ware").code == 0
    )
    scanned = evenrank(
        "scan", "texts.csv", "--lexicon", "gender-en", "-o", "c.parquet", "--columns", "document=ware"
    )
    assert scanned.code == 0, scanned.err
    twice = evenrank("evaluate", "run.csv", "-m", "P@1", "--columns", "id=ware,document=ware")
    assert twice.code == 2
    assert "the document is named twice" in twice.err
