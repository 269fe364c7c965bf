"""Small tables that people write, as the labels of topics of a corpus: each row has its line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenrank.corpus import balance_folder, read_balance

Evenrank = Callable[..., Any]
(ONE, TWO, *_) = (topic["title"] for topic in read_balance().topics)


def asked(evenrank: Evenrank, path: Path, content: bytes) -> Any:
    path.write_bytes(content.replace(b"ONE", ONE.encode()).replace(b"TWO", TWO.encode()))
    return evenrank("corpus", "topic-bias", path.parent / "corpus", "--from", path, "--format", "jsonl")


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path) -> None:
    shutil.copytree(balance_folder(), tmp_path / "corpus")


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.csv", b"\xef\xbb\xbftopic,country\nONE,US\nTWO,DE\n", 4),
        ("a.tsv", b"topic\tcountry\nONE\tUS\nTWO\tDE\n", 4),
        ("a.csv", b'topic,country\n"ONE",US\n\nTWO,DE\n', 5),
        ("a.csv", b'topic,note,country\nONE,"two\nlines",US\nTWO,,DE\n', 5),
        ("a.jsonl", b'{"topic": "ONE", "country": "US"}\n\n{"topic": "TWO", "country": "DE"}\n', 4),
    ],
)
def test_the_same_rows_however_they_are_written(
    evenrank: Evenrank, tmp_path: Path, name: str, content: bytes, line: int
) -> None:
    done = asked(evenrank, tmp_path / name, content)
    assert done.code == 0, done.err
    rows = {row["label"]: row for row in map(json.loads, done.out.splitlines()) if row.get("label")}
    assert {"US", "DE"} <= rows.keys()
    again = content + content.splitlines(keepends=True)[-1].replace(b"TWO", b"nowhere")
    done = asked(evenrank, tmp_path / name, again)
    assert done.code == 1
    assert f"{name}:{line}: " in done.err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"text\nx\n", ["a.csv:1: ", "'topic'", "'text'"]),
        ("a.csv", b"", ["a.csv:1: ", "'topic'"]),
        ("a.csv", b'topic\nx\n"y', ["a.csv:3: "]),
        ("a.csv", b"topic\n\nx,y\n", ["a.csv:3: ", "2"]),
        ("a.csv", b"topic\n\xff\n", ["a.csv:2: ", "UTF-8"]),
        ("a.jsonl", b'{"topic": 1}\n[1]\n', ["a.jsonl:2: "]),
        ("a.jsonl", b"[" * 100_000, ["a.jsonl:1: "]),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    evenrank: Evenrank, tmp_path: Path, name: str, content: bytes, words: list[str]
) -> None:
    done = asked(evenrank, tmp_path / name, content)
    assert (done.code, done.out) == (1, "")
    assert all(word in done.err for word in words), done.err
