"""Whatever a collection is kept in, the counts are the same, and bad input is named."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counted_words import counted, rows
from hypothesis import example, given
from hypothesis import strategies as st

from evenrank import DataError, EvenrankWarning, Lexicon, ParameterError, read_counts, scan
from evenrank.cli import main
from evenrank.errors import InputTypeError
from evenrank.evidence.scan import scan_file

LEXICON = Lexicon.build("sides", {"left": ["he", "step mother", "é"], "right": ["she", "his"]})
DOCUMENTS = [
    ("d1", "He said: SHE, she!"),
    ("007", ""),
    ("7", "a\ttab and his É"),
    ("é", "step-mother step\u00a0Mother he"),
    ("2020-01-01", "x" * 300 + " he"),
    *((f"n{number}", f"{number} he is his {'she ' * (number % 5)}") for number in range(30)),
]


def tsv(documents: list[tuple[str, str]], end: str = "\n") -> bytes:
    return "".join(f"{i}\t{text}{end}" for i, text in documents).encode()


def jsonl(documents: list[tuple[str, str]]) -> bytes:
    return "".join(json.dumps({"_id": i, "text": text}) + "\n" for i, text in documents).encode()


def expected(tokenizer: str = "word") -> list[Any]:
    return [(i, *counted(text, LEXICON, tokenizer)) for i, text in DOCUMENTS]


SOURCES: dict[str, bytes] = {
    "c.tsv": tsv(DOCUMENTS),
    "crlf.tsv": tsv(DOCUMENTS, "\r\n"),
    "blank.tsv": b"\n\r\n" + tsv(DOCUMENTS, "\n\n"),
    "open.tsv": tsv(DOCUMENTS)[:-1],
    "c.tsv.gz": gzip.compress(tsv(DOCUMENTS)),
    "c.jsonl": jsonl(DOCUMENTS),
    "blank.jsonl": b"\n" + jsonl(DOCUMENTS).replace(b"\n", b"\r\n\n"),
    "c.csv": pd.DataFrame(DOCUMENTS, columns=["id", "text"]).to_csv(index=False).encode(),
}


@pytest.mark.parametrize("block_bytes", [3, 64, 1000, 1 << 22])
@pytest.mark.parametrize("name", SOURCES)
def test_files(name: str, block_bytes: int, tmp_path: Path) -> None:
    """Blocks of any size, down to one byte: every document is longer than a block."""
    path, output = tmp_path / name, tmp_path / "counts.parquet"
    path.write_bytes(SOURCES[name])
    if block_bytes < 64 and name not in ("c.tsv", "c.jsonl"):
        pytest.skip("a part for every few bytes takes long")
    scan_file(path, LEXICON, output, terms=True, threads=3, block_bytes=block_bytes)
    assert rows(read_counts(output)) == expected()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, "counts.parquet"])


@pytest.mark.parametrize("tokenizer", ["word", "whitespace"])
@pytest.mark.parametrize("name", SOURCES)
def test_without_a_file(name: str, tokenizer: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SOURCES[name])
    assert rows(scan(path, LEXICON, tokenizer=tokenizer, terms=True)) == expected(tokenizer)
    plain = scan(path, LEXICON, tokenizer=tokenizer)
    assert plain.terms is None
    assert [row[:3] for row in rows(plain)] == [row[:3] for row in expected(tokenizer)]
    assert (plain.tokenizer, plain.lexicon, plain.source) == (tokenizer, LEXICON, str(path))


def test_parquet_with_several_row_groups(tmp_path: Path) -> None:
    ids, texts = zip(*DOCUMENTS, strict=True)
    for size in (1, 50, 1000):
        pq.write_table(pa.table({"id": ids, "text": texts}), tmp_path / "c.parquet", row_group_size=size)
        assert rows(scan(tmp_path / "c.parquet", LEXICON, tmp_path / "o.parquet", terms=True)) == expected()


def test_objects(tmp_path: Path) -> None:
    ids, texts = zip(*DOCUMENTS, strict=True)
    table = {"id": ids, "text": texts}
    for source in (
        DOCUMENTS,
        iter(DOCUMENTS),
        dict(DOCUMENTS),
        pd.DataFrame(table),
        pl.DataFrame(table),
        pa.table(table),
    ):
        assert rows(scan(source, LEXICON, terms=True)) == expected()
    assert rows(scan(io.BytesIO(tsv(DOCUMENTS)), LEXICON, format="tsv", terms=True)) == expected()
    assert rows(scan(iter(DOCUMENTS), LEXICON, tmp_path / "o.parquet", terms=True)) == expected()


def test_titles_and_numbers_in_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(
        '{"id": 1, "text": "he"}\n{"id": 2, "title": "His", "text": "x"}\n'
        '{"id": 3, "title": null, "text": "she"}\n'
    )
    assert [row[:3] for row in rows(scan(path, LEXICON))] == [
        ("1", 1, [1, 0]),
        ("2", 2, [0, 1]),
        ("3", 1, [0, 1]),
    ]
    path.write_text('{"id": 1, "text": "he"}\n{"id": "b", "text": "she", "more": {"deep": [1]}}\n')
    assert [row[:3] for row in rows(scan(path, LEXICON))] == [("1", 1, [1, 0]), ("b", 1, [0, 1])]


def test_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_bytes(b"\xef\xbb\xbf" + tsv(DOCUMENTS))
    with pytest.warns(EvenrankWarning, match="byte order mark"):
        assert rows(scan(path, LEXICON, terms=True)) == expected()


@pytest.mark.parametrize("numba", ["absent", "broken"])
def test_without_a_compiler_the_same_bytes_and_a_warning(
    numba: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So much that it is said that a compiler would count it faster."""
    path = tmp_path / "c.tsv"
    path.write_bytes(SOURCES["blank.tsv"] + b"long\t" + b"x" * 17_000_000)
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 2.2 or less.')")
    code = f"""
import sys, warnings
if {numba == "absent"}:
    sys.modules["numba"] = None
else:
    sys.path.insert(0, {str(tmp_path)!r})
from evenrank import EvenrankWarning
from evenrank.evidence.scan import scan_file
with warnings.catch_warnings(record=True) as caught:
    scan_file("c.tsv", "gender-en", "slow.parquet", terms=True, block_bytes=1 << 20)
(warning,) = caught
assert warning.category is EvenrankWarning and "numba" in str(warning.message)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    scan_file("c.tsv", "gender-en", "fast.parquet", terms=True, block_bytes=1 << 20)
    assert (tmp_path / "fast.parquet").read_bytes() == (tmp_path / "slow.parquet").read_bytes()


def test_threads_do_not_change_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_bytes(SOURCES["c.tsv"])
    made = set()
    for threads in (1, 2, 5):
        scan_file(path, LEXICON, tmp_path / "o.parquet", threads=threads, block_bytes=300)
        made.add((tmp_path / "o.parquet").read_bytes())
    assert len(made) == 1


BAD = {
    "no tab": (b"a\tx\n\nb x\n\tno id\n", ["c.tsv:3: no tab", "c.tsv:4: the id is empty"]),
    "carriage return": (b"a\tx\r\nb\r\n", ["c.tsv:2: no tab"]),
    "text": (b"a\tx\nb\the \xff\n", ["c.tsv:2: invalid UTF-8 in the text at byte 9"]),
    "cut": (b"a\tx\nb\the \xc3\nc\ty\n", ["c.tsv:2: invalid UTF-8 in the text at byte 9"]),
    "id": (b"a\tx\n\xff\the\n", ["c.tsv:2: invalid UTF-8 in the id at byte 4"]),
    "twice": (b"a\tx\nb\ty\na\tz\nc\t\nb\t\n", ["more than once: 'a', 'b'"]),
    "nothing": (b"\n\n", ["no documents"]),
    "empty": (b"", ["no documents"]),
}


@pytest.mark.parametrize("block_bytes", [3, 1 << 20])
@pytest.mark.parametrize("case", BAD)
def test_bad_tsv(case: str, block_bytes: int, tmp_path: Path) -> None:
    content, messages = BAD[case]
    path, output = tmp_path / "c.tsv", tmp_path / "counts.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        scan_file(path, LEXICON, output, block_bytes=block_bytes)
    assert messages[0] in str(caught.value)
    assert block_bytes == 3 or all(message in str(caught.value) for message in messages)
    assert not output.exists()
    with pytest.raises(DataError):
        scan(path, LEXICON)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": "a", "text": "x"}\n{"id": "b", "text": 7}\n', "c.jsonl:2: text 7 (int) is not text"),
        (b'{"id": "a", "text": "x"}\n\nnot json\n', "c.jsonl:3: not JSON"),
        (b"\n[1]\n", "c.jsonl:2: expected an object"),
        (b'{"id": "a", "text": "x"}\n{"id": "b",\n "text": "y"}\n', "c.jsonl:2: not JSON"),
        (b'{"id": "a", "text": "x"}\n{"id": "b"}\n', "c.jsonl:2: text is missing"),
        (b'{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n', "more than once: 'a'"),
        (b'{"name": "a", "text": "x"}\n', "no column for the id"),
        (b'{"id": "a", "text": "x"}\n{"id": "b", "text": "\xff"}\n', "UTF-8"),
    ],
)
def test_bad_jsonl(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(content)
    for block_bytes in (10, 1 << 20):
        with pytest.raises(DataError) as caught:
            scan_file(path, LEXICON, tmp_path / f"{block_bytes}.parquet", block_bytes=block_bytes)
        assert message in str(caught.value)


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match=r"got int"):
        scan(DOCUMENTS, 7)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="threads must be an integer >= 1, got 0"):
        scan(DOCUMENTS, LEXICON, threads=0)
    with pytest.raises(ParameterError, match="tokenizer must be one of"):
        scan(DOCUMENTS, LEXICON, tokenizer="words")
    with pytest.raises(DataError, match="no such folder"):
        scan(DOCUMENTS, LEXICON, tmp_path / "none/o.parquet")
    (tmp_path / "other.txt").touch()
    with pytest.raises(DataError, match="is a folder with something else in it"):
        scan(DOCUMENTS, LEXICON, tmp_path)
    clash = Lexicon.build("clash", {"length": ["a"], "b": ["b"]})
    with pytest.raises(ParameterError, match="a group cannot be called 'length'"):
        scan(DOCUMENTS, clash, tmp_path / "o.parquet")


ids = st.text("019aé", min_size=1, max_size=20) | st.sampled_from(["12345678", "12345678a", "12345678b"])


@given(st.lists(ids, min_size=1, max_size=8), st.booleans())
@example(["12345678", "12345679"], True)
@example(["9", "10", "11"], True)
@example(["ab", "b", "ab"], False)
def test_an_id_that_is_there_twice_is_found_in_any_order(names: list[str], order: bool) -> None:
    names = sorted(names, key=lambda name: (len(name.encode()), name.encode())) if order else names
    documents = [(name, "he") for name in names]
    twice = {name for name in names if names.count(name) > 1}
    if not twice:
        assert scan(documents, LEXICON).doc_ids.to_pylist() == names
        return
    with pytest.raises(DataError) as caught:
        scan(documents, LEXICON)
    assert all(repr(name) in str(caught.value) for name in twice)


@pytest.mark.parametrize(
    ("names", "twice"), [("12344", "4"), ("12234", "2"), ("21341", "1"), ("12134", "1"), ("12546", "")]
)
def test_an_id_in_two_pieces(names: str, twice: str, tmp_path: Path) -> None:
    """Whether ids ascend in all pieces, in some, or in none."""
    (tmp_path / "c.tsv").write_bytes(tsv([(name, "he") for name in names]))
    for block_bytes in (3, 8, 1 << 20):
        output = tmp_path / f"{block_bytes}.parquet"
        if twice:
            with pytest.raises(DataError, match=f"'{twice}'"):
                scan_file(tmp_path / "c.tsv", LEXICON, output, block_bytes=block_bytes)
        else:
            assert scan_file(tmp_path / "c.tsv", LEXICON, output, block_bytes=block_bytes).documents == 5


@pytest.mark.slow
def test_more_ids_than_are_kept(tmp_path: Path) -> None:
    """They are looked at again, a range at a time."""
    names = np.random.default_rng(0).permutation(2_200_000)
    (tmp_path / "c.tsv").write_text("".join(f"{name}\t\n" for name in names))
    assert scan_file(tmp_path / "c.tsv", LEXICON, tmp_path / "o.parquet").documents == 2_200_000
    with (tmp_path / "c.tsv").open("a") as file:
        file.write(f"{names[7]}\t\n")
    with pytest.raises(DataError, match=f"'{names[7]}'"):
        scan_file(tmp_path / "c.tsv", LEXICON, tmp_path / "o.parquet")


def test_a_file_is_used_only_with_what_it_was_counted_with(tmp_path: Path) -> None:
    path = tmp_path / "o.parquet"
    shares = Lexicon.build(
        "shares", LEXICON.to_dict(), targets={"left": 0.3, "right": 0.7}, partners={"he": "she", "she": "he"}
    )
    made = scan(DOCUMENTS, shares, path, tokenizer="whitespace", terms=True)
    back = read_counts(path, shares, "whitespace")
    assert back.fingerprint == made.fingerprint
    assert back.lexicon.targets == (0.3, 0.7)
    assert back.lexicon.partners == shares.partners
    with pytest.raises(DataError, match="was counted with another lexicon, <Lexicon 'shares'"):
        read_counts(path, LEXICON)
    with pytest.raises(DataError, match="with the tokeniser 'whitespace', not 'word'"):
        read_counts(path, tokenizer="word")
    pq.write_table(pa.table({"id": ["a"]}), path)
    with pytest.raises(DataError, match="is not a file of word counts"):
        read_counts(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="is not a sound Parquet file"):
        read_counts(path)


def test_small_control_characters_are_letters_of_a_line(tmp_path: Path) -> None:
    """In a text of TSV they are neither a tab nor the end of the line."""
    lines = ["d1\tmy \x01mother\x08 and\x02", "d2\tshe\x00\x01he", "d3\tnothing"]
    (tmp_path / "c.tsv").write_bytes("\n".join(lines).encode())
    pairs = [tuple(line.split("\t", 1)) for line in lines]
    found, plain = scan(tmp_path / "c.tsv", "gender-en"), scan(pairs, "gender-en")
    assert found.doc_ids.to_pylist() == ["d1", "d2", "d3"]
    assert (found.counts.tolist(), found.lengths.tolist()) == (plain.counts.tolist(), plain.lengths.tolist())
    (tmp_path / "c.tsv").write_bytes(b"d1\tshe\nd\x012\the\n")
    with pytest.raises(DataError, match=r"c\.tsv:2: .*0x01"):
        scan(tmp_path / "c.tsv", "gender-en")


def test_a_mark_that_is_read_twice_is_told_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.jsonl").write_bytes(b'\xef\xbb\xbf{"id":"a","text":"she"}\n{"id":"b","text":"he"}\n')
    command = ["scan", str(tmp_path / "c.jsonl"), "--lexicon", "gender-en", "-o", str(tmp_path / "c.parquet")]
    assert main(command) == 0
    assert capfd.readouterr().err.count("byte order mark") == 1
