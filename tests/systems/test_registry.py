"""Systems by name, functions and PyTerrier pipelines as systems, and texts from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenrank import DataError, ParameterError, Run
from evenrank.errors import InputTypeError, UnknownNameError
from evenrank.systems import (
    BM25,
    RM3,
    FunctionSystem,
    PyTerrierSystem,
    Reranked,
    Retriever,
    make_system,
    parse_system,
    read_texts,
)

pytestmark = pytest.mark.needs("bm25s")


def by_length(documents: dict[str, str], queries: dict[str, str]) -> dict[str, dict[str, float]]:
    return {query: {key: float(len(text)) for key, text in documents.items()} for query in queries}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bm25", BM25),
        ("bm25+rm3", RM3),
        (" bm25 ", BM25),
        ("BM25+RM3", RM3),
        ("Bm25", BM25),
        ("rm3(documents=5)", RM3),
    ],
)
def test_names(name: str, kind: type) -> None:
    system = make_system(name)
    assert type(system) is kind
    assert isinstance(system, Retriever)
    assert make_system(system) is system


def test_capitals_do_not_matter_in_names() -> None:
    assert parse_system("MINILM") == parse_system("minilm")
    assert parse_system("bm25@7>>NanoRanker:depth=5") == parse_system("BM25@7>>nanoranker:depth=5")
    assert repr(parse_system("rrf(BM25,RM3(documents=5))@9")) == "RRF(BM25,RM3(documents=5))@9"


@pytest.mark.parametrize(
    ("name", "error", "complaint"),
    [
        ("bm52", UnknownNameError, "'bm52'.*bm25"),
        ("bm25>>nanorank", UnknownNameError, "'nanorank'.*nanoranker"),
        ("", UnknownNameError, "''"),
        ("bm25>>", UnknownNameError, "''"),
        ("mpnet", UnknownNameError, r"'mpnet'.*Dense\(model='FOLDER'\)"),
        ("MaxSim", UnknownNameError, r"'MaxSim'.*LateInteraction\(model=minilm\)"),
        ("bm25>>RankGPT", UnknownNameError, r"'RankGPT'.*Listwise\(url="),
        ("all-MiniLM-L6-v2", UnknownNameError, r"Dense\(model=minilm\)"),
        ("./nowhere/model", DataError, "nowhere"),
        (7, InputTypeError, "int"),
    ],
)
def test_unknown_names(name: object, error: type, complaint: str) -> None:
    with pytest.raises(error, match=complaint):
        make_system(name)


def test_a_function_is_a_system(documents: dict[str, str], queries: dict[str, str]) -> None:
    system = make_system(by_length)
    assert isinstance(system, FunctionSystem)
    with pytest.raises(ParameterError, match="index"):
        system.retrieve(queries)
    system.index(documents)
    run = system.retrieve(queries, 2)
    assert run.name == "by_length"
    assert run.documents("q1") == ["d2", "d4"]
    as_run = FunctionSystem(lambda texts, asked: Run.build(["q"], ["d1"], [1.0]), name="one")
    as_run.index(documents)
    assert as_run.retrieve({"q": "x"}).name == "one"


def test_a_second_look_upon_a_function(documents: dict[str, str]) -> None:
    system = Reranked(make_system(by_length), lambda pairs: [float("Bridges" in text) for _, text in pairs])
    system.index(documents)
    assert system.retrieve({"q": "x"}, 1).documents("q") == ["d4"]


@pytest.mark.needs("pandas", "pyterrier")
def test_pyterrier_pipelines(documents: dict[str, str], queries: dict[str, str]) -> None:
    import pandas
    import pyterrier

    def build(records: list[dict[str, str]]):
        def search(frame):
            rows = [
                (qid, record["docno"], float(len(record["text"])))
                for qid in frame["qid"]
                for record in records
            ]
            return pandas.DataFrame(rows, columns=["qid", "docno", "score"])

        return pyterrier.apply.generic(search)

    system = PyTerrierSystem(build, name="lengths")
    with pytest.raises(ParameterError, match="index"):
        system.retrieve(queries)
    system.index(documents)
    assert system.retrieve(queries, 2).documents("q3") == ["d2", "d4"]
    fixed = make_system(build([{"docno": "x", "text": "y"}]))
    assert fixed.retrieve(queries).documents("q1") == ["x"]
    with pytest.raises(ParameterError, match="index"):
        fixed.index(documents)


def test_texts_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text("a\tone text\nb\tanother\n", encoding="utf-8")
    assert read_texts(str(path)) == {"a": "one text", "b": "another"}
    path.write_text("a\tone text\na\tanother\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"texts\.tsv.*'a'"):
        read_texts(str(path))


@pytest.mark.parametrize(
    ("documents", "error", "complaint"),
    [
        ({}, DataError, "documents"),
        ({"a": 7}, InputTypeError, "'a': 7"),
        ([("a", "b")], InputTypeError, "documents"),
    ],
)
def test_documents_that_are_none(documents: object, error: type, complaint: str) -> None:
    with pytest.raises(error, match=complaint):
        make_system("bm25").index(documents)


@pytest.mark.parametrize("k", [0, True, 2.0])
def test_depths(k: object, documents: dict[str, str]) -> None:
    system = make_system("bm25")
    system.index(documents)
    with pytest.raises(ParameterError, match=r"\bk\b"):
        system.retrieve({"q": "nurse"}, k)
