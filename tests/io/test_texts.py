"""One reader of texts, and one rule for an id that is there twice."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from evenrank.errors import DataError, InputTypeError
from evenrank.io.queries import read_queries
from evenrank.systems import read_texts
from evenrank.systems import read_texts as texts_of_systems

TWICE = "a\tone\nb\ttwo\na\tone\n"


def test_every_reader_of_texts_is_the_same_one() -> None:
    from evenrank.counterfactuals import experiment
    from evenrank.neural import reading
    from evenrank.report.page import lists

    assert reading.read_texts is read_texts
    assert lists.read_texts is read_texts
    assert experiment.read_texts is read_texts
    assert texts_of_systems is read_texts


@pytest.mark.parametrize("text", ["one", "another"])
def test_an_id_that_is_there_twice_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "texts.tsv"
    path.write_text(f"a\tone\nb\ttwo\na\t{text}\n")
    message = "texts.tsv: 1 id is there twice: 'a'; each text needs an id of its own"
    for wanted in (None, {"a"}):
        with pytest.raises(DataError, match=message):
            read_texts(str(path), wanted=wanted)
        with pytest.raises(DataError, match=message):
            read_texts(path, wanted=wanted)
    assert read_texts(path, wanted={"b"}) == {"b": "two"}
    with pytest.raises(DataError, match=message):
        read_queries(str(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.csv", "query,text\n1,one\n2,two\n1,one\n"),
        ("q.jsonl", '{"query": "1", "text": "x"}\n{"query": "1", "text": "y"}\n'),
        ("q.xml", "<topics>" + "<topic number='1'><title>x</title></topic>" * 2 + "</topics>"),
    ],
)
def test_a_query_that_is_there_twice_is_an_error(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=f"{name}: 1 id is there twice: '1'"):
        read_queries(str(tmp_path / name))


def test_a_source_without_a_name_is_called_by_what_it_holds() -> None:
    with pytest.raises(DataError, match=r"^queries: 2 ids are there twice: 'b', 'a';"):
        read_texts([("a", "x"), ("b", "y"), ("b", "z"), ("a", "x"), ("a", "x")], "queries")
    with pytest.raises(DataError, match=r"^<file>: 1 id"):
        read_texts(io.StringIO(TWICE), format="tsv")


def test_few_texts_of_a_mapping() -> None:
    assert read_texts({"a": "one", "b": "two"}, wanted={"b", "c"}) == {"b": "two"}
    with pytest.raises(InputTypeError, match="documents: the text of 'a' is not a string: int"):
        read_texts({"a": 1}, wanted={"a"})
