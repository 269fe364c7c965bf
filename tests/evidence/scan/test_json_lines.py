"""Plain objects are read from raw bytes: as the careful reader reads them, or left to it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from counted_words import rows
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenrank import DataError, Lexicon, scan

LETTERS = Lexicon.build("letters", {"ascii": ["a", "b", "x", "ab"], "other": ["é", "一", "e"]})

FIRST = {"_id": "first", "text": "the first object decides which keys there are"}
LONG = b"x y " * 15
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


CAREFUL = """
import json, sys
sys.modules["numba"] = None
sys.path[:0] = {folders!r}
from test_json_lines import found
for path in sys.stdin:
    print(json.dumps(found(path.strip())), flush=True)
"""


def found(path: str) -> list[Any] | str:
    """What a scan counts, or why it does not."""
    try:
        return [list(row[:3]) for row in rows(scan(path, LETTERS, tokenizer="whitespace"))]
    except DataError as error:
        return str(error)


@pytest.fixture(scope="module")
def careful() -> Iterator[subprocess.Popen[str]]:
    """A process without a compiler, which reads each line by a parser of JSON."""
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "support")]
    command = [sys.executable, "-c", CAREFUL.format(folders=folders)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.stdin.close()


def compare(careful: subprocess.Popen[str], path: Path, content: list[bytes], **more: str) -> list[Any] | str:
    path.write_bytes(b"\n".join([json.dumps({"_id": "first"} | more | FIRST).encode(), *content]))
    careful.stdin.write(f"{path}\n")
    careful.stdin.flush()
    fast = found(str(path))
    assert fast == json.loads(careful.stdout.readline())
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
def test_as_the_careful_reader(careful: subprocess.Popen[str], path: Path, content: list[bytes]) -> None:
    compare(careful, path, content)


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
def test_what_is_wrong_is_named_as_before(careful: subprocess.Popen[str], path: Path, line: bytes) -> None:
    compare(careful, path, [b'{"_id": "good", "text": "x"}', line])
    compare(careful, path, [line, b'{"_id": "good", "text": "x"}\n'])


@pytest.mark.parametrize(
    "line",
    [
        b'{"title": "%s", "_id": "a", "text": "b"}' % LONG,
        b'{"_id": "a", "title": "%s", "text": "b"}' % LONG,
        b'{"title": "xx yy zz", "text": "b", "_id": "a"}', b'{"text": "b", "title": "xx", "_id": "a"}',
        b'{"title": "%s", "_id": 7, "text": "b"}' % LONG,
        b'{"title": "xx", "_id": "a", "title": null, "text": "b"}',
        b'{"_id": "a", "title": "xx", "title": null, "text": "b"}',
        b'{"_id": "a", "title": null, "title": "xx", "text": "b"}',
    ],
)  # fmt: skip
def test_a_title_stands_before_its_text(careful: subprocess.Popen[str], path: Path, line: bytes) -> None:
    found = compare(careful, path, [line], title="a title")
    assert isinstance(found, list), found
    assert found[1][0] in ("a", "7")


@pytest.mark.parametrize(
    "value",
    ["1-2", ".", "1.", "-", "01", "1e", "+1", "1.5", "-0.5e+7", "0", '"\\uZZZZ"', '"\\u00:0"', '"\\u00e9"'],
)
def test_values_that_nobody_asked_for_are_sound(
    careful: subprocess.Popen[str], path: Path, value: str
) -> None:
    compare(careful, path, [f'{{"_id": "a", "url": {value}, "text": "b"}}'.encode()])


def test_objects_with_other_keys_and_blank_lines_between(careful: subprocess.Popen[str], path: Path) -> None:
    objects = [{"text": 'é "x" ' * 30, "url": "é", "_id": str(number), "title": ""} for number in range(50)]
    content = [json.dumps(row, ensure_ascii=number % 2 == 0).encode() for number, row in enumerate(objects)]
    assert compare(careful, path, [b"\r\n\n".join(content)])[1:] == [
        [str(number), 60, [0, 30]] for number in range(50)
    ]
