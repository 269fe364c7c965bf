"""``evenrank retrieve``: runs, what is recorded beside them, the project file, and errors before any work."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evenrank as er
from evenrank.io.made_query_ids import made_id
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
    assert done.err.splitlines() == [
        "evenrank: BM25(k1=0.9,b=0.4)@2 (lexical): 2 lists of up to 2 documents",
        "evenrank: 1 of 3 queries found nothing and have no list",
        "evenrank: wrote runs/bm25.trec",
    ]
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


def test_the_depth_of_a_first_stage_is_recorded(
    evenrank: Evenrank, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenrank.systems import second_stage

    monkeypatch.setattr(
        second_stage, "as_scorer", lambda given: lambda pairs: [len(text) for _, text in pairs]
    )
    for name, depth in (
        ("bm25>>nanoranker", 1000),
        ("bm25>>nanoranker:depth=5", 5),
        ("Nanoranker(depth=7)", 7),
    ):
        assert evenrank("retrieve", name, *texts, "-o", "new/x.trec:cache=elsewhere").code == 0
        record = json.loads(Path("new/x.trec.system.json").read_text())
        assert record["stages"] == [{"system": "Nanoranker", "depth": depth}]
        assert record["class"] == "re-ranker"
    assert Path("elsewhere").is_dir()
    assert not Path("new/retrieve-cache").exists()


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        ("BM25@1>>nanoranker", [1]),
        ("BM25@1>>Nanoranker(depth=5)", [1]),
        ("Nanoranker(first=BM25@2,depth=1)", [1]),
        ("BM25>>Nanoranker(depth=5)@1>>Nanoranker", [1, 5]),
    ],
)
def test_a_first_stage_gives_no_more_than_its_own_limit(
    evenrank: Evenrank, texts: list[str], monkeypatch: pytest.MonkeyPatch, name: str, stages: list[int]
) -> None:
    from evenrank.systems import second_stage

    monkeypatch.setattr(
        second_stage, "as_scorer", lambda given: lambda pairs: [-len(text) for _, text in pairs]
    )
    done = evenrank("retrieve", name, *texts, "-o", "x.trec")
    assert done.code == 0, done.err
    assert len(er.read_run("x.trec").documents("q1")) == 1  # BM25 alone finds two
    record = json.loads(Path("x.trec.system.json").read_text())
    assert record["stages"] == [{"system": "Nanoranker", "depth": depth} for depth in stages]


def test_systems_of_the_project_file(evenrank: Evenrank, texts: list[str]) -> None:
    Path("evenrank.toml").write_text(
        '[data]\ndocuments = "docs.tsv"\nqueries = "queries.tsv"\n'
        '[systems]\nboth = "RRF(BM25,RM3(documents=2))@2"\nllm = "BM25>>Listwise(url=\'http://127.0.0.1:9/v1\',model=m)"\n'
    )
    trusted = ("--project", "evenrank.toml")
    done = evenrank("retrieve", "both", "-o", "both.trec", *trusted)
    assert done.code == 0, done.err
    record = json.loads(Path("both.trec.system.json").read_text())
    assert (record["system"], record["class"]) == ("RRF(BM25,RM3(documents=2))@2", "fusion")
    listed = evenrank("retrieve", *trusted)
    assert (listed.code, listed.err) == (0, "") or "project file" in listed.err
    assert "late interaction:\n  LateInteraction(model=minilm)   needs the extra embed\n" in listed.out
    assert "  both = RRF(BM25,RM3(documents=2))@2" in listed.out
    # folders of models are seen from the file
    Path("project").mkdir()
    Path("project/evenrank.toml").write_text("[systems]\ncross = \"CrossEncoder(model='models/x')\"\n")
    wrong = evenrank("retrieve", "cross", "--project", "project/evenrank.toml", *texts, "-o", "x.trec")
    assert (wrong.code, "project/models/x: no such folder of a model" in wrong.err) == (1, True)
    # what was only found asks nobody
    refused = evenrank("retrieve", "llm", "-o", "llm.trec")
    assert (refused.code, "systems.llm" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("system", "code", "complaint"),
    [
        ("BM52", 2, "no system is called 'BM52': BM25"),
        ("Dense(model=nowhere)", 1, "nowhere: no such folder of a model"),
        ("CrossEncoder(model='folder')", 1, "folder: has no weights"),
        ("Splade(model='folder')", 1, "folder: has no weights"),
        ("BM25(k1=-1)", 2, "BM25: k1 must be a number >= 0, got -1"),
        ("RRF(BM25)", 2, "RRF: systems must be 2 systems or more"),
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


def test_inputs_that_cannot_be_used(evenrank: Evenrank, texts: list[str]) -> None:
    calls = {
        "name the run to write: -o FILE": ["BM25", *texts],
        "name the queries: --queries FILE": ["BM25", *texts[:2], "-o", "x.trec"],
        "name the documents: --documents FILE": ["BM25", *texts[2:], "-o", "x.trec"],
        "docs.tsv: is also an input": ["BM25", *texts, "-o", "docs.tsv"],
        "empty.tsv: no documents": ["BM25", "--documents", "empty.tsv", *texts[2:], "-o", "x.trec"],
        "no text, which a search needs": ["BM25", *texts[:2], "--queries", "ids.txt", "-o", "x.trec"],
        "3 documents are not among the documents": ["RunFile(path='other.trec')", *texts, "-o", "x.trec"],
    }
    Path("empty.tsv").write_text("")
    Path("ids.txt").write_text("q1\nq2\n")
    Path("other.trec").write_text("q1 0 x 1 3 t\nq1 0 y 2 2 t\nq1 0 z 3 1 t\n")
    for complaint, words in calls.items():
        done = evenrank("retrieve", *words)
        assert done.code in (1, 2), complaint
        assert complaint in done.err
        assert done.err.count("\n") == 1
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
        '[data] columns = { id = "doc_id", text = "text" }'
    )
    assert note in done.err
    record = json.loads(Path("x.trec.system.json").read_text())
    assert (record["notes"], record["documents"]["count"]) == ([note], 4)
    # the way out is one
    Path("evenrank.toml").write_text("\n".join(note.partition("columns: ")[2].split(" ", 1)) + "\n")
    done = evenrank("retrieve", "BM25", *texts, "-o", "x.trec")
    assert (done.code, "looks like a header" in done.err) == (0, False), done.err
    assert json.loads(Path("x.trec.system.json").read_text())["documents"]["count"] == 3


def test_the_class_of_a_run_file_is_known_only_where_it_is_named(
    evenrank: Evenrank, texts: list[str]
) -> None:
    Path("old.trec").write_text("q1 0 d1 1 3 t\nq1 0 d2 2 2 t\n")
    done = evenrank("retrieve", "RunFile(path='old.trec')", *texts, "-o", "x.trec")
    assert done.code == 0, done.err
    assert "RunFile(path='old.trec') (class unknown): 1 list of" in done.err
    assert json.loads(Path("x.trec.system.json").read_text())["class"] == ""
    assert evenrank("retrieve", "RunFile(path='old.trec',of=dense)", *texts, "-o", "x.trec").code == 0
    assert json.loads(Path("x.trec.system.json").read_text())["class"] == "dense"


def test_a_record_speaks_only_of_the_run_that_it_was_written_for(
    evenrank: Evenrank, texts: list[str]
) -> None:
    Path("qrels.txt").write_text("q1 0 d1 1\n")
    asked = ["x.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", "scores.jsonl"]
    assert evenrank("retrieve", "BM25", *texts, "-o", "x.trec").code == 0
    done = evenrank("evaluate", *asked)
    assert (done.code, "x.trec.system.json" in done.err) == (0, False), done.err
    assert er.Scores.read("scores.jsonl").provenance["systems"]["x"]["class"] == "lexical"
    Path("x.trec").write_text("q1 0 d2 1 3 t\nq1 0 d1 2 2 t\n")
    done = evenrank("evaluate", *asked)
    assert done.code == 0, done.err
    assert done.err.count("x.trec has changed since x.trec.system.json was written beside it") == 1
    assert "the class 'lexical' that is recorded there is not used: write x.trec:class=NAME" in done.err
    assert "systems" not in er.Scores.read("scores.jsonl").provenance


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
    assert lists == {made_id("red lamp"), "rug"}


@pytest.mark.parametrize(
    ("head", "way_out"),
    [
        ("No.,phrase", "accepted: .*, search term, keyword.*: rename the one that has the queries"),
        ("qid,phrase", "add a column 'text', or give that name to the column that has them .*phrase"),
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
    assert "--columns" not in done.err
