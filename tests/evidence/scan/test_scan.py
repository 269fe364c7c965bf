"""Whatever a collection is kept in, the counts are the same, and bad input is named."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import Lexicon, WordCounts, read_counts, scan
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError
from evenrank.evidence.scan import counter as counters
from evenrank.evidence.scan import duplicates, scan_file
from evenrank.evidence.scan.phrases import Phrases
from evenrank.evidence.scan.simple import count
from evenrank.io.background import compile_now

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


def expected(tokenizer: str = "word", documents: list[tuple[str, str]] = DOCUMENTS) -> list[Any]:
    phrases = Phrases.of(LEXICON, tokenizer)
    return [(i, *count(text, phrases)) for i, text in documents]


def rows(counts: WordCounts) -> list[Any]:
    found = []
    for row, identifier in enumerate(counts.doc_ids.to_pylist()):
        terms = {}
        if counts.terms is not None:
            begin, end = counts.terms.offsets[row : row + 2]
            terms = dict(zip(counts.terms.places[begin:end], counts.terms.values[begin:end], strict=True))
        found.append((identifier, counts.lengths[row], counts.counts[row].tolist(), terms))
    return found


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
    path.write_bytes(tsv(DOCUMENTS))
    scan(path, LEXICON, terms=True)
    compile_now()  # wait for numba, which changes the warning filters of the process while it compiles
    path.write_bytes(b"\xef\xbb\xbf" + tsv(DOCUMENTS))
    with pytest.warns(EvenrankWarning, match="byte order mark"):
        assert rows(scan(path, LEXICON, terms=True)) == expected()


def test_plain_python_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.tsv"
    path.write_bytes(SOURCES["blank.tsv"])
    scan_file(path, LEXICON, tmp_path / "fast.parquet", terms=True, block_bytes=500)
    monkeypatch.setattr(counters, "find_spec", lambda name: None)
    with pytest.warns(EvenrankWarning, match="numba is not installed"):
        scan_file(path, LEXICON, tmp_path / "slow.parquet", terms=True, block_bytes=500)
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
    with pytest.raises(InputTypeError, match=r"a lexicon is read from .*; got int"):
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


def test_ids_in_many_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """More ids than are kept: they are hashed again, a range at a time, and the same ids are found."""
    monkeypatch.setattr(duplicates, "AT_ONCE", 10)
    monkeypatch.setattr(duplicates, "IN_A_PASS", 8)
    taken = []
    usual = duplicates.repeated_in
    monkeypatch.setattr(duplicates, "repeated_in", lambda hashes: taken.append(len(hashes)) or usual(hashes))
    assert len(scan(DOCUMENTS, LEXICON)) == len(DOCUMENTS) == sum(taken)
    assert len(taken) > 1
    with pytest.raises(DataError, match="more than once: 'n7'"):
        scan([*DOCUMENTS, ("n7", "")], LEXICON)


def test_equal_hashes_are_no_equal_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "hash_strings", lambda strings: np.zeros(len(strings), np.uint64))
    assert len(scan(DOCUMENTS, LEXICON)) == len(DOCUMENTS)
    with pytest.raises(DataError, match="more than once: 'd1'"):
        scan([*DOCUMENTS, ("d1", "")], LEXICON)


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


def test_neutrality_of_the_published_code(shared: Path) -> None:
    folder = shared / "data/msmarco_trecdl"
    groups: dict[str, list[str]] = {"f": [], "m": []}
    for line in (folder / "wordlist_gender_representative.txt").read_text(encoding="utf-8").split():
        word, _, group = line.partition(",")
        groups[group].append(word)
    counts = scan(folder / "passages.tsv", Lexicon.build("published", groups), tokenizer="whitespace")
    total = counts.counts.sum(axis=1)
    shares = counts.counts / np.maximum(total, 1)[:, None]  # (N, 2)
    neutrality = np.where(total <= 1, 1.0, 1 - np.abs(shares - 0.5).sum(axis=1))
    lines = (folder / "expected/neutrality_whitespace_cpjku_code.tsv").read_text(encoding="utf-8").split()
    published = dict(zip(lines[::2], map(float, lines[1::2]), strict=True))
    assert len(published) == len(counts) == 30_045
    ids = counts.doc_ids.to_pylist()
    assert max(abs(published[i] - value) for i, value in zip(ids, neutrality, strict=True)) < 1e-6
