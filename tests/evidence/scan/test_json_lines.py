"""Plain objects are read from raw bytes: as the careful reader reads them, or left to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenrank.errors import DataError
from evenrank.evidence.scan.json_files import JsonCollection

FIRST = {"_id": "first", "text": "the first object decides which keys there are"}
ALPHABET = 'ab "\\/\b\f\n\r\t\x00\x1f\x7fé一🙂\u2028{}[]:,'

words = st.text(ALPHABET, max_size=90) | st.text(st.characters(codec="utf-8"), max_size=20)
values = words | st.none() | st.integers() | st.booleans() | st.lists(words, max_size=2)
objects = st.lists(
    st.tuples(st.sampled_from(["_id", "text", "title", "url", "é"]), words)
    | st.tuples(st.sampled_from(["_id", "text", "title", "url"]), values),
    max_size=4,
)
glue = st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", " : "), (",\r", ":\r")])


def line_of(pairs: list[tuple[str, Any]], separators: tuple[str, str], ascii_only: bool) -> bytes:
    """An object with its keys in this order, also where one is there twice."""
    comma, colon = separators
    spelled = [json.dumps(key) + colon + json.dumps(value, ensure_ascii=ascii_only) for key, value in pairs]
    return ("{" + comma.join(spelled) + "}").encode("utf-8", "surrogatepass")


lines = st.builds(line_of, objects, glue, st.booleans()) | st.builds(
    line_of,
    st.tuples(st.text("xyz7é\\", max_size=9), words).map(lambda pair: [("_id", pair[0]), ("text", pair[1])]),
    glue,
    st.booleans(),
)


def read(path: Path, *, fast: bool) -> list[tuple[str, bytes]] | str:
    found = []
    try:
        collection = JsonCollection(path, "c.jsonl", 1 << 20, None, fast=fast)
        for fetch in collection.pieces(frozenset()):
            assert fetch is not None
            documents = fetch()
            data, starts, ends = documents.texts
            spans = zip(starts.tolist(), ends.tolist(), strict=True)
            texts = [bytes(data[start:end]) for start, end in spans]
            for row, text in enumerate(texts):
                try:
                    text.decode()
                except UnicodeDecodeError:
                    raise documents.unsound(row) from None
            found += zip(documents.ids.to_pylist(), texts, strict=True)
    except DataError as error:
        return str(error)
    return found


def compare(path: Path, content: list[bytes]) -> list[tuple[str, bytes]] | str:
    path.write_bytes(b"\n".join([json.dumps(FIRST).encode(), *content]))
    fast = read(path, fast=True)
    assert fast == read(path, fast=False)
    return fast


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json") / "c.jsonl"


@settings(max_examples=examples(400))
@given(st.lists(lines, max_size=3))
@example([rb'{"_id": "a", "text": "\u00e9\ud83d\ude42 \"he\" \\ \/ \b\f\n\r\t"}'])
@example([b'{"_id": "a", "text": "x", "_id": "b"}'])
@example([rb'{"_id": "a", "text": "\n", "text": "yy"}'])
@example([b'{"_id": "a", "text": "x", "title": "t"}'])
@example([b'{"_id": "b", "text": "x", "title": ""}'])
def test_as_the_careful_reader(path: Path, content: list[bytes]) -> None:
    compare(path, content)


@pytest.mark.parametrize(
    "line",
    [
        rb'{"_id": "a", "text": "\ud83d"}', rb'{"_id": "a", "text": "\ude42"}',
        rb'{"_id": "a", "text": "\ud83d\u0041"}', rb'{"_id": "a", "text": "\u12"}',
        rb'{"_id": "a", "text": "\x41"}', rb'{"_id": "a", "text": "\"}',
        b'{"_id": "a", "text": "x"', b'{"_id": "a", "text": "x"} {', b'{"_id": "a", "text": "x",}',
        b'{"_id": "a" "text": "x"}', b'{"_id" "a", "text": "x"}', b'{"_id": "", "text": "x"}',
        b'{"_id": "a\x7f", "text": "x"}', b'{"_id": "a", "text": "\t"}', b'{"_id": "\xff", "text": "x"}',
        b'{"_id": "a", "text": "\xff"}', b'{"_id": "a", "text": "x", "url": "\xff"}', b'{"text": "x"}',
        b'{"_id": "a", "text": "\\u00e9 \xc3"}', b'{"_id": "a", "text": "x", "\xff": "y"}',
        b'{"_id": "a"}',
        b"{}", b"[]", b"x", b'"x"', b" ", b'{"_id": "a", "text": "x"}x', b'{"_id": 7, "text": "x"}',
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_as_before(path: Path, line: bytes) -> None:
    compare(path, [b'{"_id": "good", "text": "x"}', line])
    compare(path, [line, b'{"_id": "good", "text": "x"}\n'])


def test_plain_objects_take_the_short_way(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JsonCollection, "_tables", None)
    rows = [{"text": 'é "x" ' * 30, "url": "é", "_id": str(number), "title": ""} for number in range(50)]
    content = [json.dumps(row, ensure_ascii=number % 2 == 0).encode() for number, row in enumerate(rows)]
    path.write_bytes(b"\r\n\n".join([json.dumps(FIRST).encode(), *content]))
    expected = [(str(row["_id"]), str(row["text"]).encode()) for row in rows]
    assert read(path, fast=True)[1:] == expected
