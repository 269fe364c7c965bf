"""Large files in a store are cut like files here, and every byte of them is read once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from backwards import Backwards
from collections_in_formats import rows, write
from failing_store import failing_store
from object_store import Reading, local_gcs, local_s3

import evenrank as er
from evenrank import DataError, Lexicon
from evenrank.evidence.scan import scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 14, "partition_bytes": 1 << 16}
CUT = ["c.tsv", "c.jsonl", "c.parquet"]


def sizes_of_parts(folder: Path) -> list[int]:
    return [pq.read_metadata(path).num_rows for path in sorted(folder.glob("part-*"))]


def table(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def long_rows(documents: int) -> list[tuple[str, str]]:
    """Texts of 4 KB that cannot be packed."""
    generator = random.Random(0)
    words = [f"{generator.getrandbits(60):x}" for _ in range(20 * documents)]
    return [(f"d{number}", " ".join(["he", *generator.choices(words, k=250)])) for number in range(documents)]


@pytest.mark.parametrize("name", CUT)
def test_a_large_file_in_a_store_is_cut_as_here_and_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    source = write(tmp_path / name, long_rows(1500), group=100)
    sizes: Any = {"block_bytes": 1 << 19, "partition_bytes": 1 << 20}
    size = source.stat().st_size
    scan_file(source, LEXICON, tmp_path / "here.parquet", **sizes)
    scan_file(source, LEXICON, f"{tmp_path}/here/", **sizes)
    readings: list[Reading] = []
    with local_s3(monkeypatch, "large", {name: source.read_bytes()}, readings):
        for output, on in (("alone.parquet", None), ("spread.parquet", Backwards()), ("there/", Backwards())):
            readings.clear()
            scan_file(f"s3://large/{name}", LEXICON, f"{tmp_path}/{output}", on=on, **sizes)
            # beyond the file: with each block the end of its last line, with each part a head or a footer
            assert size <= sum(reading.size for reading in readings) < 1.4 * size, output
            assert max(reading.size for reading in readings) < size / 5
    for output in ("alone.parquet", "spread.parquet", "there"):
        assert table(tmp_path / output) == table(tmp_path / "here.parquet")
    there, here = (sizes_of_parts(tmp_path / folder) for folder in ("there", "here"))
    assert there == here
    assert len(there) > 4
    er.read_counts(tmp_path / "there", source=source)  # it says whether the hash is that of the file


def test_a_bad_line_of_a_file_in_a_store_has_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = write(tmp_path / "c.tsv", rows(3000)).read_bytes().split(b"\n")
    lines[3] = lines[2500] = b"no tab"
    with local_s3(monkeypatch, "bad", {"c.tsv": b"\n".join(lines)}):
        for on in (None, Backwards()):
            with pytest.raises(DataError, match=r"s3://bad/c.tsv:4: no tab.*\ns3://bad/c.tsv:2501: no tab"):
                scan_file("s3://bad/c.tsv", LEXICON, tmp_path / "out.parquet", on=on, **SIZES)


@pytest.mark.parametrize("on", [None, Backwards()])
def test_lines_before_bad_ones_are_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: Any
) -> None:
    lines = write(tmp_path / "c.tsv", long_rows(500)).read_bytes().split(b"\n")
    bad = range(20, 500, 25)
    for line in bad:
        lines[line] = lines[line].replace(b"\t", b" ")
    readings: list[Reading] = []
    content = b"\n".join(lines)
    with local_s3(monkeypatch, "many", {"c.tsv": content}, readings):
        with pytest.raises(DataError) as caught:
            scan_file(
                "s3://many/c.tsv", LEXICON, tmp_path / "out.parquet", on=on, threads=1, block_bytes=1 << 16,
                partition_bytes=1 << 24,
            )  # fmt: skip
        said = str(caught.value).split("\n")
        assert [one.partition(": ")[0] for one in said] == [f"s3://many/c.tsv:{line + 1}" for line in bad]
    assert sum(reading.size for reading in readings) < 3 * len(content)


def test_a_file_in_a_store_that_is_empty_is_an_error_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        local_s3(monkeypatch, "empty", {"c.tsv": b""}),
        pytest.raises(DataError, match=r"s3://empty/c\.tsv: no documents"),
    ):
        scan_file("s3://empty/c.tsv", LEXICON, tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_a_store_whose_name_does_not_tell_that_it_is_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "c.jsonl.gz", rows(500))
    scan_file(source, LEXICON, tmp_path / "here.parquet")
    with local_s3(monkeypatch, "packed", {"c.jsonl": source.read_bytes()}):
        scan_file("s3://packed/c.jsonl", LEXICON, tmp_path / "there.parquet", on=Backwards(), **SIZES)
    assert table(tmp_path / "there.parquet") == table(tmp_path / "here.parquet")


@pytest.mark.parametrize("on", [None, Backwards()])
@pytest.mark.parametrize("source", ["s3://replaced/d/c.tsv", "s3://replaced/d/", "s3://replaced/d/*.tsv"])
def test_a_file_in_a_store_that_is_replaced_meanwhile_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, on: Any
) -> None:
    content = write(tmp_path / "c.tsv", rows(3000)).read_bytes()
    store = failing_store(monkeypatch, "s3://replaced/d/c.tsv", content)
    with pytest.raises(DataError) as caught:
        scan_file(
            source, LEXICON, tmp_path / "out.parquet", on=on,
            progress=lambda *_: store.put("replaced/d/c.tsv", content + b"more\tshe\n"), **SIZES,
        )  # fmt: skip
    assert "s3://replaced/d/c.tsv" in str(caught.value)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CUT, "c.jsonl.gz"])
def test_a_file_in_googles_store_is_cut_as_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    source = write(tmp_path / name, rows(3000))
    scan_file(source, LEXICON, tmp_path / "here.parquet", **SIZES)
    with local_gcs(monkeypatch, "docs", {f"d/{name}": source.read_bytes(), "d/_SUCCESS": b""}):
        for output, on in (("alone.parquet", None), ("spread.parquet", Backwards()), ("there/", Backwards())):
            for address in ("gs://docs/d/", f"gs://docs/d/{name}", "gs://docs/*/c.*"):
                scan_file(address, LEXICON, f"{tmp_path}/{output}", on=on, **SIZES)
                assert table(tmp_path / output) == table(tmp_path / "here.parquet")
        assert name.endswith("gz") or len(sizes_of_parts(tmp_path / "there")) > 2
        with pytest.raises(DataError, match=r"^gs://docs/absent.tsv: no such file"):
            scan_file("gs://docs/absent.tsv", LEXICON, tmp_path / "out.parquet")
