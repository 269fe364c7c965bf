"""Documents stream in order, with bounded memory, and say where they are wrong."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from evenrank.errors import DataError, EvenrankWarning, InputTypeError, MissingExtraError, ParameterError
from evenrank.io import read_documents

DOCUMENTS = [("d1", "some words"), ("007", 'a "bare quote'), ("7", ""), ("é", "x\u2028y, z")]


def pairs(source: Any, **options: Any) -> list[tuple[str, str]]:
    found = []
    for batch in read_documents(source, **options):
        assert batch.schema == pa.schema([("id", pa.large_string()), ("text", pa.large_string())])
        found += list(zip(batch.column("id").to_pylist(), batch.column("text").to_pylist(), strict=True))
    return found


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


FILES = {
    "c.tsv": "".join(f"{i}\t{t}\n" for i, t in DOCUMENTS).encode(),
    "crlf.tsv": "\r\n".join(f"{i}\t{t}" for i, t in DOCUMENTS).encode(),
    "c.tsv.gz": gzip.compress("".join(f"{i}\t{t}\n\n" for i, t in DOCUMENTS).encode()),
    "c.csv": 'id,text\nd1,some words\n007,"a ""bare quote"\n7,\né,"x\u2028y, z"\n'.encode(),
    "c.jsonl": jsonl([{"_id": i, "text": t} for i, t in DOCUMENTS]),
    "beir.jsonl": jsonl(
        [
            {"_id": "d1", "title": "some", "text": "words"},
            *({"_id": i, "title": "", "text": t} for i, t in DOCUMENTS[1:]),
        ]
    ),
    "contents.jsonl": jsonl([{"id": i, "contents": t, "x": [1]} for i, t in DOCUMENTS]),
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    assert pairs(path) == DOCUMENTS
    assert pairs(str(path), batch_rows=1) == DOCUMENTS


def test_parquet_and_tables(tmp_path: Path) -> None:
    table = {"docno": [i for i, _ in DOCUMENTS], "text": [t for _, t in DOCUMENTS]}
    pl.DataFrame(table).write_parquet(tmp_path / "c.parquet")
    assert pairs(tmp_path / "c.parquet") == DOCUMENTS
    assert pairs(pl.DataFrame(table)) == DOCUMENTS
    assert pairs(pd.DataFrame(table)) == DOCUMENTS
    assert pairs(pa.table(table)) == DOCUMENTS
    assert pairs(pl.DataFrame({**table, "title": ["a", "", "b", ""]})) == [
        ("d1", "a some words"),
        DOCUMENTS[1],
        ("7", "b "),
        DOCUMENTS[3],
    ]


def test_pairs_and_mappings() -> None:
    assert pairs(iter(DOCUMENTS)) == DOCUMENTS
    assert pairs(dict(DOCUMENTS)) == DOCUMENTS
    assert pairs([(7, "x")]) == [("7", "x")]


def test_columns() -> None:
    table = pl.DataFrame({"key": ["a"], "abstract": ["b"], "text": ["c"], "title": ["d"]})
    assert pairs(table, columns={"id": "key", "text": "abstract"}) == [("a", "b")]
    header = io.BytesIO(b'key\tabstract\na\t"b\nc\t\n')
    assert pairs(header, format="tsv", columns={"id": "key", "text": "abstract"}) == [("a", '"b'), ("c", "")]
    with pytest.raises(DataError, match=r"id.*'key'"):
        pairs(table)


def test_the_rest_of_a_tsv_line_is_text() -> None:
    assert pairs(io.BytesIO(b"a\tb\tc\n"), format="tsv") == [("a", "b\tc")]


def test_quoted_newlines_in_csv() -> None:
    assert pairs(io.BytesIO(b'id,text\na,"b\nc"\nd,e\n'), format="csv") == [("a", "b\nc"), ("d", "e")]


LINE = b'{"_id": "a", "text": "b"}\n'
BAD: dict[str, tuple[str, bytes, int, str]] = {
    "no tab": ("tsv", b"a\tb\n\nc d\n", 3, "tab"),
    "empty id": ("tsv", b"a\tb\n\tc\n", 2, "id"),
    "invalid UTF-8": ("tsv", b"a\tb\nc\t\xff\n", 2, "byte 6"),
    "control character": ("tsv", b"a\tb\n\nc\x01\td\x01\n", 3, "0x01"),
    "not JSON": ("jsonl", LINE + b"x\n", 2, "JSON"),
    "id is a fraction": ("jsonl", b'{"_id": 1.5, "text": "b"}\n', 1, "1.5"),
    "a list": ("jsonl", b"[]\n", 1, "[]"),
    # counted across blocks: the stream gives little at a time
    "no tab far behind": ("tsv", b"a\tb\n" * 40 + b"c\n", 41, "tab"),
    "a list far behind": ("jsonl", LINE * 40 + b"[]\n", 41, "[]"),
    "invalid UTF-8 far behind": ("tsv", b"a\tb\n" * 40 + b"c\t\xff\n", 41, "byte 162"),
}


class Drip(io.BytesIO):
    """Gives so many bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self.size = size

    def read(self, wanted: int | None = -1) -> bytes:
        return super().read(self.size)


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("size", [16, 1 << 20])
def test_a_problem_has_its_line(case: str, size: int) -> None:
    format, data, line, word = BAD[case]
    with pytest.raises(DataError, match="<file>") as caught:
        pairs(Drip(data, size), format=format)
    (problem,) = caught.value.problems
    assert problem.line == line
    assert word in problem.what


def test_problems_of_several_kinds_are_listed_together() -> None:
    data = LINE + b'{"_id": "c"}\nx\n{"_id": "d", "text": 1}\n'
    with pytest.raises(DataError) as caught:
        pairs(io.BytesIO(data), format="jsonl")
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4]


@pytest.mark.parametrize(
    ("format", "data"), [("tsv", b""), ("tsv", b"\n\r\n"), ("csv", b""), ("csv", b"id,text\n")]
)
def test_no_documents_are_an_error(format: str, data: bytes) -> None:
    with pytest.raises(DataError, match="<file>"):
        pairs(io.BytesIO(data), format=format)


def test_other_bad_sources(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):  # before anything is iterated
        read_documents(tmp_path / "no.tsv")
    with pytest.raises(ParameterError, match="format"):
        pairs(io.BytesIO(b"a\tb\n"))
    for value in (None, 3, b"x"):
        with pytest.raises(InputTypeError, match="documents"):
            read_documents(value)
    with pytest.raises(DataError, match=r"document 2.*str"):
        pairs([("a", "b"), "ab"])
    with pytest.raises(DataError, match="document 1: text"):
        pairs([("a", None)])
    with pytest.raises(DataError, match="documents"):
        pairs([])
    with pytest.raises(DataError, match="row 2: id"):
        pairs(pl.DataFrame({"id": ["a", None], "text": ["b", "c"]}))


def test_a_byte_order_mark() -> None:
    with pytest.warns(EvenrankWarning, match="byte order mark"):
        assert pairs(io.BytesIO(b"\xef\xbb\xbfa\tb\n"), format="tsv") == [("a", "b")]


LINES = st.lists(
    st.tuples(st.text("ab7é", min_size=1, max_size=5), st.text('x "\u0085é\t,', max_size=20)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=examples(150))
@given(LINES, st.integers(1, 60), st.sampled_from(["\n", "\r\n"]))
def test_blocks_do_not_show(rows: list[tuple[str, str]], size: int, end: str) -> None:
    data = end.join(f"{i}\t{t}" for i, t in rows).encode()
    assert pairs(Drip(data, size), format="tsv") == rows


def test_batches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    big = [(str(n), "x" * 1_000_000) for n in range(40)]
    batches = list(read_documents(big))
    assert max(batch.nbytes for batch in batches) <= 17 << 20
    assert sum(map(len, batches)) == 40
    assert all(len(batch) <= 7 for batch in read_documents(big, batch_rows=7))


@pytest.mark.slow
def test_memory_stays_constant(tmp_path: Path) -> None:
    path = tmp_path / "big.tsv"
    line = b"d123\t" + b"some words of a passage " * 40 + b"\n"
    with path.open("wb") as file:
        for _ in range(100):
            file.write(line * 3000)  # 290 MB in all
    code = (
        "import resource, sys; from evenrank.io import read_documents;"
        "next(read_documents([('a', 'b')])); before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        f"assert sum(map(len, read_documents({str(path)!r}))) == 300000;"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "assert after - before < 100_000, after - before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    class Document(SimpleNamespace):
        _fields = ("doc_id", "title", "body")

        def default_text(self) -> str:
            return f"{self.title} {self.body}"

    class Dataset:
        def has_docs(self) -> bool:
            return True

        def docs_cls(self) -> type[Document]:
            return Document

        def docs_iter(self) -> Iterator[Document]:
            yield Document(doc_id="a", title="t", body="b")

    def load(name: str) -> Dataset:
        if name != "toy":
            raise KeyError(name)
        return Dataset()

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))
    assert pairs("ir_datasets:toy") == [("a", "t b")]
    assert pairs("ir_datasets:toy", columns={"text": "body"}) == [("a", "b")]
    with pytest.raises(DataError, match="ir_datasets knows no dataset 'nope'"):
        pairs("ir_datasets:nope")

    def fail(self: Dataset) -> Iterator[Document]:
        raise RuntimeError("all download sources failed")

    monkeypatch.setattr(Dataset, "docs_iter", fail)
    with pytest.raises(
        DataError, match=r"^ir_datasets:toy: ir_datasets cannot give .* all download sources failed"
    ):
        pairs("ir_datasets:toy")
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtraError, match=r"\[datasets\]'"):
        pairs("ir_datasets:toy")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"id,text\na,b\nc,d,e\n", "3: 3 columns, but the header has 2"),
        (b'\xef\xbb\xbfid,text\na,"b\nb"\n\nc,d,e\n', "5: 3 columns, but the header has 2"),
        (b"id,text\na," + b"x" * 200_000 + b"\nb\n", "3: 1 column, but the header has 2"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*byte order mark")
def test_a_malformed_csv_file_is_told_by_its_line(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "documents.csv"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        pairs(path)
    assert str(caught.value) == f"{path}:{message}"


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_csv_are_found_wherever_a_block_ends(seed: int) -> None:
    draw = random.Random(seed)
    cells = ['"', '""', ",", "\n", "a", "b ", '27" wide', '"q"']
    rows = [(f"d{row}", "x" + "".join(draw.choices(cells, k=draw.randint(0, 9)))) for row in range(60)]
    lines = ["id,text"]
    for name, text in rows:
        plain = draw.random() < 0.5 and not set(text) & {",", "\n"}  # quotes within it are characters
        lines.append(f"{name},{text}" if plain else f'"{name}","{text.replace(chr(34), 2 * chr(34))}"')
    data = "\n".join(lines).encode()
    for size in (1, 7, 64, len(data)):
        assert pairs(Drip(data, size), format="csv") == rows, size


def test_control_characters_may_stand_in_texts() -> None:
    assert pairs(io.BytesIO(b"a\tb\x01\n"), format="tsv") == [("a", "b\x01")]


LEFT_OPEN = """
import io, time
from evenrank.io import read_documents

class Slow(io.BytesIO):
    def read(self, size=-1):
        time.sleep(0.02)  # so that the reader is in here when the process ends
        return super().read(1 << 20)

rows = "".join(f"d{number},{'some words ' * 100}\\n" for number in range(70_000))
tables = iter(read_documents(Slow(b"id,text\\n" + rows.encode()), format="csv"))
next(tables)
print("one batch was read", flush=True)
"""


def test_a_table_that_is_left_half_read_does_not_abort_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "one batch was read\n", "")


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (["id", "title", "description"], "a title a description"),
        (["id", "title", "price"], "a title"),
        (["id", "text", "description"], "a text"),
    ],
)
def test_products_have_a_text(columns: list[str], text: str) -> None:
    assert pairs(pl.DataFrame({name: [f"a {name}"] for name in columns})) == [("a id", text)]


def test_what_is_no_file_has_no_format() -> None:
    for source in ([("a", "one")], {"a": "one"}):
        with pytest.raises(ParameterError, match="format="):
            pairs(source, format="tsv")
