"""``evenrank retrieve``: runs, what is recorded beside them, the project file, and errors before any work."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evenrank as er
from evenrank.systems import BM25

pytestmark = pytest.mark.needs("bm25s")

Evenrank = Callable[..., Any]
DOCUMENTS = {"d1": "the nurse works at night", "d2": "a night at the opera", "d3": "bridges over rivers"}
QUERIES = {"q1": "nurse night", "q2": "bridges", "q3": "zebra"}


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("docs.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in DOCUMENTS.items()))
    Path("queries.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in QUERIES.items()))
    return ["--documents", "docs.tsv", "--queries", "queries.tsv"]


def test_a_run_and_what_made_it(evenrank: Evenrank, texts: list[str]) -> None:
    done = evenrank("retrieve", "BM25(k1=0.9,b=0.4)@2", *texts, "-o", "runs/bm25.trec")
    assert (done.code, done.out) == (0, "")
    system = BM25(0.9, 0.4)
    system.index(DOCUMENTS)
    expected = system.retrieve(QUERIES, 2)
    found = er.read_run("runs/bm25.trec")
    assert found.has_same_lists(expected)
    record = json.loads(Path("runs/bm25.trec.system.json").read_text())
    assert {key: record[key] for key in ("system", "class", "depth", "queries")} == {
        "system": "BM25(k1=0.9,b=0.4)@2", "class": "lexical", "depth": 2, "queries": 3,
    }  # fmt: skip
    assert record["documents"]["count"] == 3
    assert len(list(Path("runs/retrieve-cache").iterdir())) == 1  # the index


@pytest.mark.parametrize(
    ("system", "code", "complaint"),
    [
        ("Dense(model=nowhere)", 1, "nowhere: no such folder of a model"),
        ("CrossEncoder(model='folder')", 1, "folder: has no weights"),
        ("Splade(model='folder')", 1, "folder: has no weights"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_read(
    evenrank: Evenrank, texts: list[str], system: str, code: int, complaint: str
) -> None:
    Path("folder").mkdir()
    Path("folder/config.json").write_text('{"architectures": ["BertForMaskedLM"]}')
    Path("docs.tsv").unlink()  # nobody looks for it
    done = evenrank("retrieve", system, *texts, "-o", "x.trec")
    assert (done.code, done.out) == (code, "")
    assert done.err.count("\n") == 1
    assert complaint in done.err
    assert not Path("x.trec").exists()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("document\ttext\n", "x.tsv: no documents: the first line looks like a header ('document', 'text')"),
        ("Docno\tTitle\tText\nd1\t \n", "and no other line has a text"),
        ("d1\t\nd2\t  \n", "x.tsv: nothing can be searched: 2 documents have blank texts; add the texts"),
        ("d1\t\n", "x.tsv: nothing can be searched: 1 document has a blank text; add the texts"),
    ],
)
def test_documents_without_any_text_are_an_error_before_any_work(
    evenrank: Evenrank, texts: list[str], monkeypatch: pytest.MonkeyPatch, content: str, complaint: str
) -> None:
    monkeypatch.setattr(BM25, "index", lambda *_: pytest.fail("nothing is indexed"))
    Path("x.tsv").write_text(content)
    done = evenrank("retrieve", "BM25", "--documents", "x.tsv", *texts[2:], "-o", "x.trec")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert complaint in done.err
    assert not Path("x.trec").exists()


def test_a_header_line_in_documents_is_mentioned(evenrank: Evenrank, texts: list[str]) -> None:
    headed = "doc_id\ttext\n" + Path("docs.tsv").read_text()
    Path("docs.tsv").write_text(headed)
    done = evenrank("retrieve", "BM25", *texts, "-o", "x.trec")
    assert done.code == 0, done.err
    note = (
        "docs.tsv: the first line looks like a header, and was read as a document with the id 'doc_id': "
        "delete that line, or let the project file name the columns: "
        '[data.documents] file = "docs.tsv" columns = { id = "doc_id", text = "text" }'
    )
    assert note in done.err
    record = json.loads(Path("x.trec.system.json").read_text())
    assert (record["notes"], record["documents"]["count"]) == ([note], 4)
    # the way out is one
    table, file, columns = re.fullmatch(r"(\S+) (.*) (columns = .*)", note.partition("columns: ")[2]).groups()
    Path("evenrank.toml").write_text(f"{table}\n{file}\n{columns}\n")
    done = evenrank("retrieve", "BM25", *texts[2:], "-o", "x.trec")
    assert (done.code, "looks like a header" in done.err) == (0, False), done.err
    assert json.loads(Path("x.trec.system.json").read_text())["documents"]["count"] == 3


def test_what_people_searched_for_is_retrieved(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs.tsv").write_text("d1\ta red lamp\nd2\ta blue rug\n")
    Path("queries.csv").write_text("No.,search term,searches/month\n1,red lamp,3\n2,rug,1\n")
    words = ["BM25", "--documents", "docs.tsv", "--queries", "queries.csv", "-o", "x.trec"]
    done = evenrank("retrieve", *words)
    assert done.code == 0, done.err
    lists = {line.split()[0] for line in Path("x.trec").read_text().splitlines()}
    assert len(lists) == 2
    assert "rug" in lists  # a text without blanks is its own id; the numbers of rows are none
    assert not lists & {"1", "2", "red"}


@pytest.mark.parametrize(
    ("head", "way_out"),
    [
        ("No.,phrase", "qid.*'No.', 'phrase'.*query=NAME"),
        ("qid,phrase", "'text'.*phrase"),
    ],
)
def test_the_way_out_is_one_that_this_command_has(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str, way_out: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs.tsv").write_text("d1\ta red lamp\nd2\ta blue rug\n")
    Path("queries.csv").write_text(f"{head}\n1,red lamp\n2,rug\n")
    done = evenrank("retrieve", "BM25", "--documents", "docs.tsv", "--queries", "queries.csv", "-o", "x.trec")
    assert done.code == 1
    assert re.search(way_out, done.err)
