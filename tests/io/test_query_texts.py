from __future__ import annotations

from pathlib import Path

import pytest

from evenrank.errors import DataError
from evenrank.io.query_texts import read_query_texts

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
    assert read_query_texts(tmp_path / name) == ASKED


def test_a_mapping() -> None:
    assert read_query_texts(ASKED) == ASKED


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.csv", "query,other\nq1,x\n", "no column for the text"),
        ("q.xml", "<topics><topic>", "q.xml:1: is not XML"),
        ("q.xml", "<topics/>", "no topic has a number and a title"),
        ("q.xml", '<!DOCTYPE x [<!ENTITY a "b">]><topics/>', "without a document type"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_query_texts(tmp_path / name)
