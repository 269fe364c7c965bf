from __future__ import annotations

from pathlib import Path

import pytest

from evenrank.errors import DataError, ParameterError
from evenrank.io.made_query_ids import made_id
from evenrank.io.queries import Queries, read_queries

ASKED = {"q1": "who wrote it", "7": "what <else>"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.tsv", "q1\twho wrote it\n7\twhat <else>\n"),
        ("q.txt", "q1\twho wrote it\n7\twhat <else>\n"),
        ("q.csv", "family,qid,text\nx,q1,who wrote it\ny,7,what <else>\n"),
        ("q.jsonl", '{"_id": "q1", "text": "who wrote it"}\n{"_id": "7", "text": "what <else>"}\n'),
        (
            "q.xml",
            "<topics><topic><number>q1</number><title>who\n wrote it</title><other>x</other></topic>"
            '<topic number="7"><title>what &lt;else&gt;</title></topic></topics>',
        ),
    ],
)
def test_formats(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_queries(str(tmp_path / name)).texts == ASKED


def test_ids_alone_and_columns_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("qid,topic,region\na,sport,north\nb,,south\na,food,north\n", encoding="utf-8")
    found = read_queries(str(path))
    assert (found.ids, found.distinct, dict(found.texts)) == (("a", "b", "a"), ("a", "b"), {})
    assert found.categories(["topic"]) == {"a": ["sport", "food"]}
    assert found.categories(["topic", "region"]) == {
        "a": ["topic: sport", "topic: food", "region: north"],
        "b": ["region: south"],
    }
    with pytest.raises(
        ParameterError, match=r"--by colour: .*q.csv has no such column; it has topic, region"
    ):
        found.categories(["colour"])


def test_a_tsv_file_with_a_header_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("query\ttext\tkind\nq1\tone\tx\n", encoding="utf-8")
    found = read_queries(str(tmp_path / "q.tsv"))
    assert (found.ids, dict(found.texts), dict(found.columns)) == (("q1",), {"q1": "one"}, {"kind": ("x",)})
    (tmp_path / "q.tsv").write_text("name\tasked\nq1\tone\n", encoding="utf-8")
    named = read_queries(str(tmp_path / "q.tsv"), columns={"query": "name", "text": "asked"})
    assert dict(named.texts) == {"q1": "one"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.csv", "other,text\nq1,x\n", "no column for the query"),
        ("q.xml", "<topics><topic>", "q.xml:1: is not XML"),
        ("q.xml", "<topics/>", "no topic has a number and a title"),
        ("q.xml", '<!DOCTYPE x [<!ENTITY a "b">]><topics/>', "without a document type"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_queries(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [
        ("q.csv", "No.,search term,searches/month\n", "{n},{text},9\n"),
        ("q.csv", "search term\n", "{text}\n"),
        ("q.csv", "query,count\n", "{text},{n}\n"),
        ("q.txt", "", "{text}\n"),
    ],
)
def test_ids_are_made_from_the_words_and_not_from_their_place(
    tmp_path: Path, name: str, head: str, row: str
) -> None:
    texts = ["red lamp", "rug", "Red lamp", "a " * 60 + "lamp", "läufer, rot"]
    texts = [text.replace(",", "") for text in texts]

    def read(asked: list[str]) -> Queries:
        rows = [row.format(n=n, text=text) for n, text in enumerate(asked, 1)]
        (tmp_path / name).write_text(head + "".join(rows), encoding="utf-8")
        return read_queries(str(tmp_path / name))

    first, second = read(texts), read([f" {text.replace(' ', '  ')}" for text in reversed(texts)])
    assert dict(first.texts) == dict(second.texts) == {made_id(text): text for text in texts}
    assert first.distinct == tuple(map(made_id, texts))
    assert len(set(first.distinct)) == len(texts)
    assert not any(" " in query or len(query) > 64 for query in first.distinct)
    assert "rug" in first.ids


def test_made_ids_are_those_of_runs_that_have_the_words_as_ids(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("search term,kind\nred lamp,a\nrug,b\n", encoding="utf-8")
    found = read_queries(str(tmp_path / "q.csv"))
    assert found.as_called_in({made_id("red lamp"), "rug"}) == found
    assert found.as_called_in({"red lamp", "rug"}).ids == ("red lamp", "rug")
    called = found.as_called_in({"red  lamp"})
    assert called.ids == ("red  lamp", "rug")
    assert dict(called.texts) == {"red  lamp": "red lamp", "rug": "rug"}
    assert called.categories(["kind"]) == {"red  lamp": ["a"], "rug": ["b"]}
