from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from evenrank import Lexicon
from evenrank.errors import DataError, EvenrankWarning
from evenrank.evidence.scan import scan_file
from evenrank.evidence.scan.packed_lines import PackedLines
from evenrank.io.source import Source

KIN = Lexicon.build("kin", {"f": ["mother"], "m": ["father"]})


def blocks(data: bytes, size: int) -> list[bytes]:
    lines = PackedLines(Source("x", stream=io.BytesIO(data)), size)
    return [bytes(block.data[block.begin : block.end]) for block in lines.blocks()]


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_blocks_are_whole_lines_and_lose_nothing(size: int) -> None:
    data = b"".join(b"%d\t%s\n" % (number, b"x" * (number % 23)) for number in range(50))
    found = blocks(data, size)
    assert b"".join(found) == data
    assert all(block.endswith(b"\n") for block in found)
    assert all(len(block) >= size for block in found[:-1])
    assert blocks(data[:-1], size) == [*found[:-1], found[-1][:-1]]  # without a newline at the end


def test_blocks_do_not_depend_on_how_the_bytes_come() -> None:
    data = b"".join(b"%d\tsome text\n" % number for number in range(5000))

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 1, 11))

    slow = PackedLines(Source("x", stream=Slow(data)), 500)
    found = [bytes(block.data[block.begin : block.end]) for block in slow.blocks()]
    assert found == blocks(data, 500)


def test_the_first_line_that_is_not_blank() -> None:
    lines = PackedLines(Source("x", stream=io.BytesIO(b"\n \n{}\nrest")), 4)
    assert (lines.first_line(), lines.blank_lines()) == (b"{}\n", 2)
    assert b"".join(bytes(block.data[: block.end]) for block in lines.blocks()) == b"\n \n{}\nrest"


@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
def test_packed_and_plain_files_give_the_same_counts(tmp_path: Path, suffix: str) -> None:
    rows = [(f"d{number}", "my mother \u00fc " * (number % 5) + "x") for number in range(300)]
    row = '{{"_id": "{}", "text": "{}"}}\n' if suffix == "jsonl" else "{}\t{}\n"
    data = "".join(row.format(*one) for one in rows).encode()
    (tmp_path / f"c.{suffix}").write_bytes(data)
    (tmp_path / f"c.{suffix}.gz").write_bytes(gzip.compress(data[:500]) + gzip.compress(data[500:]))
    import pyarrow.parquet as pq

    tables = []
    for name in (f"c.{suffix}", f"c.{suffix}.gz"):
        summary = scan_file(tmp_path / name, KIN, tmp_path / "counts.parquet", block_bytes=512)
        assert summary.pieces > 5
        assert summary.bytes_read == (tmp_path / name).stat().st_size
        tables.append(pq.read_table(tmp_path / "counts.parquet"))
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize(
    ("suffix", "bad", "message"),
    [
        ("tsv", b"no tab", ":251: no tab"),
        ("tsv", b"d250\t\xff", ":251: invalid UTF-8 in the text"),
        ("jsonl", b"{", ":251: not JSON"),
        ("jsonl", b'{"_id": "x"}', ":251: text is missing"),
    ],
)
def test_lines_of_packed_files_are_named(tmp_path: Path, suffix: str, bad: bytes, message: str) -> None:
    row = b'{"_id": "d%d", "text": "a"}' if suffix == "jsonl" else b"d%d\ta"
    lines = [row % number for number in range(300)]
    lines[250] = bad
    (tmp_path / f"c.{suffix}.gz").write_bytes(gzip.compress(b"\n".join(lines)))
    with pytest.raises(DataError, match=f"c.{suffix}.gz{message}"):
        scan_file(tmp_path / f"c.{suffix}.gz", KIN, tmp_path / "counts.parquet", block_bytes=512)


def test_a_byte_order_mark_in_a_packed_file(tmp_path: Path) -> None:
    (tmp_path / "c.tsv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfd1\tmother\nbad\n"))
    with (
        pytest.warns(EvenrankWarning, match="byte order mark"),
        pytest.raises(DataError, match=r"c.tsv.gz:2: no tab"),
    ):
        scan_file(tmp_path / "c.tsv.gz", KIN, tmp_path / "counts.parquet")
