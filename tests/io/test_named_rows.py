"""Small tables that people write, read with the line of every row."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenrank.errors import DataError
from evenrank.io.named_rows import read_named_rows


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.csv", "\ufeffname,text\nx,one\ny,two\n", [2, 3]),
        ("a.tsv", "name\ttext\nx\tone\ny\ttwo\n", [2, 3]),
        ("a.csv", 'name,text\n"x",one\n\ny,two\n', [2, 4]),
        ("a.jsonl", '{"name": "x", "text": "one"}\n\n{"name": "y", "text": "two"}\n', [1, 3]),
    ],
)
def test_the_same_rows_however_they_are_written(
    tmp_path: Path, name: str, content: str, lines: list[int]
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = list(read_named_rows(path, columns=("name",)))
    assert [dict(row) for _, row in found] == [{"name": "x", "text": "one"}, {"name": "y", "text": "two"}]
    assert [line for line, _ in found] == lines


def test_a_row_over_several_lines_is_named_by_its_first(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('name,text\nx,"one\ntwo"\ny,three\n')
    assert [(line, row["text"]) for line, row in read_named_rows(path)] == [(2, "one\ntwo"), (4, "three")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"text\nx\n", "a.csv:1: no column 'name'; the file needs name; its columns: 'text'"),
        ("a.csv", b"", "a.csv:1: no column 'name'"),
        ("a.csv", b'name\nx\n"y', "a.csv:3: is not CSV"),
        ("a.csv", b"name\n\nx,y\n", "a.csv:3: 2 cells, the head has 1: quote cells that hold ','"),
        ("a.csv", b"name\n\xff\n", "a.csv:2: is not UTF-8"),
        ("a.jsonl", b'{"name": 1}\n[1]\n', "a.jsonl:2: is not a JSON object"),
        ("a.jsonl", b"[" * 100_000, "a.jsonl:1: is not a JSON object"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read_named_rows(tmp_path / name, columns=("name",)))
    assert message in str(caught.value)


def test_a_missing_file_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file: it names the questions"):
        list(read_named_rows(tmp_path / "a.csv", holds="it names the questions"))
    with pytest.raises(DataError, match="is a directory"):
        list(read_named_rows(tmp_path))
