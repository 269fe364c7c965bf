"""Lines that are read as a stream: out of packed files, and of what comes a little at a time."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evenrank import DataError, EvenrankWarning, Lexicon, read_counts, scan
from evenrank.evidence.scan import scan_file

KIN = Lexicon.build("kin", {"f": ["mother"], "m": ["father"]})


def test_counts_do_not_depend_on_how_the_bytes_come(tmp_path: Path) -> None:
    data = b"".join(b"%d\tmy mother %s\n" % (number, b"x" * (number % 23)) for number in range(2000))

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 1, 11))

    found = []
    for number, stream in enumerate((io.BytesIO(data), Slow(data), Slow(data[:-1]))):
        output = tmp_path / f"{number}.parquet"
        scan_file(stream, KIN, output, format="tsv", block_bytes=500)
        found.append(read_counts(output))
    assert found[0].doc_ids.to_pylist() == [str(number) for number in range(2000)]
    assert found[0].fingerprint == found[1].fingerprint == found[2].fingerprint


@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
def test_packed_and_plain_files_give_the_same_counts(tmp_path: Path, suffix: str) -> None:
    rows = [(f"d{number}", "my mother \u00fc " * (number % 5) + "x") for number in range(300)]
    row = '{{"_id": "{}", "text": "{}"}}\n' if suffix == "jsonl" else "{}\t{}\n"
    data = "".join(row.format(*one) for one in rows).encode()
    (tmp_path / f"c.{suffix}").write_bytes(data)
    (tmp_path / f"c.{suffix}.gz").write_bytes(gzip.compress(data[:500]) + gzip.compress(data[500:]))
    tables = []
    for name in (f"c.{suffix}", f"c.{suffix}.gz"):
        summary = scan_file(tmp_path / name, KIN, tmp_path / "counts.parquet", block_bytes=512)
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


def test_blank_lines_before_the_first_object_count(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress(b'\n \n{"id": "a", "text": "my mother"}\n'))
    assert scan(path, KIN).counts.tolist() == [[1, 0]]
    for wrong in (b"\n \n[1]\n", b'\n\n{"id": "a", "text": 7}\n'):
        path.write_bytes(gzip.compress(wrong))
        with pytest.raises(DataError, match=r"c\.jsonl\.gz:3: "):
            scan(path, KIN)
