from __future__ import annotations

from pathlib import Path

import pytest

from evenrank.errors import DataError, ParameterError
from evenrank.io.queries import read_queries

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
