"""Counts know the content that they were made from: every byte that was read, however it came."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import DataError, read_counts
from evenrank.evidence.scan import scan_file

PIECE = 1 << 23


def slow_hash(data: bytes) -> str:
    """The SHA-256 of the SHA-256 of each block."""
    pieces = (hashlib.sha256(data[begin : begin + PIECE]).digest() for begin in range(0, len(data), PIECE))
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def kept_hash(folder: Path) -> str:
    return str(json.loads((folder / "_evenrank.json").read_text())["source"]["hash"])


@pytest.mark.parametrize("size", [40, PIECE, PIECE + 7])
def test_the_kept_hash_is_that_of_the_definition(tmp_path: Path, size: int) -> None:
    """It lies in files of counts: another would make those of an earlier version look changed."""
    lines = b"".join(b"%d\tshe he %d\n" % (number, number) for number in range(size // 12))
    data = lines[: size - 20].rpartition(b"\n")[0].ljust(1, b"\n")
    data = (data + b"\nlast\t").ljust(size - 1, b"x") + b"\n"
    assert len(data) == size
    (tmp_path / "c.tsv").write_bytes(data)
    scan_file(tmp_path / "c.tsv", "gender-en", f"{tmp_path}/counts/")
    assert kept_hash(tmp_path / "counts") == slow_hash(data)


@pytest.fixture
def is_the_same(tmp_path: Path) -> Callable[[Path], bool]:
    def same(source: Path) -> bool:
        try:
            read_counts(tmp_path / "counts.parquet", source=source)
        except DataError:
            return False
        return True

    return same


def test_every_change_of_the_source_shows(tmp_path: Path, is_the_same: Callable[[Path], bool]) -> None:
    source = tmp_path / "c.tsv"
    data = b"".join(b"%05d\tshe said to him %07d\n" % (number, number) for number in range(1000))
    source.write_bytes(data)
    scan_file(source, "gender-en", tmp_path / "counts.parquet")
    assert is_the_same(source)
    for place in range(6, len(data), 1997):
        changed = bytearray(data)
        changed[place] ^= 1
        source.write_bytes(changed)
        assert not is_the_same(source), place
    for other in (data[:-1], data + b"\0", b""):
        source.write_bytes(other)
        assert not is_the_same(source)
    source.write_bytes(data)
    assert is_the_same(source)


def test_only_the_columns_that_are_read_count(tmp_path: Path, is_the_same: Callable[[Path], bool]) -> None:
    source = tmp_path / "c.parquet"
    table = pa.table({"id": ["a", "b"], "text": ["she", "he"], "more": ["1", "2"]})
    pq.write_table(table, source, row_group_size=1)
    scan_file(source, "gender-en", tmp_path / "counts.parquet")
    assert is_the_same(source)
    pq.write_table(table.set_column(2, "more", pa.array(["3", "4"])), source, row_group_size=1)
    assert is_the_same(source)
    pq.write_table(table.set_column(1, "text", pa.array(["she", "it"])), source, row_group_size=1)
    assert not is_the_same(source)
