"""A collection of many files is the concatenation of the collections of its files."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from object_store import local_s3

import evenrank as er
from evenrank import Lexicon
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.scan import scan_file
from evenrank.io import read_documents

KIN = Lexicon.build("kin", {"f": ["mother", "aunt"], "m": ["father"]})
WORDS = ["mother", "father", "aunt", "nobody", "said"]


def documents(count: int = 60) -> list[tuple[str, str]]:
    return [
        (f"d{number}", " ".join(WORDS[(number * 7 + at) % 5] for at in range(number % 9 + 1)))
        for number in range(count)
    ]


def as_bytes(rows: list[tuple[str, str]], format: str) -> bytes:
    if format.startswith("tsv"):
        data = "".join(f"{name}\t{text}\n" for name, text in rows).encode()
    elif format.startswith("csv"):
        data = ("id,text\n" + "".join(f"{name},{text}\n" for name, text in rows)).encode()
    elif format.startswith("parquet"):
        out = io.BytesIO()
        table = pa.table({"id": [name for name, _ in rows], "text": [text for _, text in rows]})
        pa.parquet.write_table(table, out, row_group_size=7)
        data = out.getvalue()
    else:
        data = "".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in rows).encode()
    return gzip.compress(data, mtime=0) if format.endswith(".gz") else data


FORMATS = ["tsv", "jsonl", "parquet", "csv", "tsv.gz", "jsonl.gz"]


def shards(folder: Path, format: str, count: int = 4) -> list[tuple[str, str]]:
    rows = documents()
    step = len(rows) // count
    folder.mkdir(exist_ok=True)
    for number in range(count):
        part = rows[number * step : (number + 1) * step]
        (folder / f"part-{number * 5}.{format}").write_bytes(as_bytes(part, format))
    return rows


def table_of(path: Path) -> pa.Table:
    return pa.parquet.read_table(path)


@pytest.mark.parametrize("format", FORMATS)
def test_counts_are_those_of_all_files_in_order(tmp_path: Path, format: str) -> None:
    rows = shards(tmp_path / "shards", format)
    scan_file(str(tmp_path / "shards"), KIN, tmp_path / "many.parquet", block_bytes=64)
    scan_file(rows, KIN, tmp_path / "one.parquet")
    assert table_of(tmp_path / "many.parquet").equals(table_of(tmp_path / "one.parquet"))
    counts = er.scan(str(tmp_path / "shards" / f"*.{format}"), KIN)
    assert counts.doc_ids.to_pylist() == [name for name, _ in rows]
    read = [row for batch in read_documents(tmp_path / "shards") for row in batch.to_pylist()]
    assert [(row["id"], row["text"]) for row in read] == rows


@pytest.mark.parametrize("format", ["tsv", "jsonl.gz"])
def test_the_provenance_lists_the_files(tmp_path: Path, format: str) -> None:
    shards(tmp_path / "shards", format)
    scan_file(tmp_path / "shards", KIN, tmp_path / "counts.parquet")
    raw = pa.parquet.ParquetFile(tmp_path / "counts.parquet").metadata.metadata[b"evenrank.source"]
    files = json.loads(raw)["files"]
    assert [Path(file["name"]).name for file in files] == [f"part-{at}.{format}" for at in (0, 5, 10, 15)]
    assert all(file["hash"] and file["bytes"] for file in files)
    assert len({file["hash"] for file in files}) == 4


class Stopped(Exception):
    pass


def stop_after(pieces: int, source: Path, output: Path, **options: Any) -> None:
    """Scan, and stop when so many pieces are done, if there are more."""
    calls: Iterator[int] = iter(range(pieces))

    def progress(*_: object) -> None:
        if next(calls, None) is None:
            raise Stopped

    with suppress(Stopped):
        scan_file(source, KIN, output, threads=1, progress=progress, **options)


@pytest.mark.parametrize("format", ["tsv", "parquet", "csv", "jsonl.gz"])
def test_a_scan_that_was_stopped_goes_on(tmp_path: Path, format: str) -> None:
    shards(tmp_path / "shards", format)
    whole, again = tmp_path / "whole.parquet", tmp_path / "again.parquet"
    options: dict[str, Any] = {"block_bytes": 64, "partition_bytes": 64, "threads": 1}
    scan_file(tmp_path / "shards", KIN, whole, **options)
    stop_after(2, tmp_path / "shards", again, block_bytes=64, partition_bytes=64)
    summary = scan_file(tmp_path / "shards", KIN, again, **options)
    assert summary.found > 0  # what was finished is not read again
    assert summary.bytes_read < sum(path.stat().st_size for path in (tmp_path / "shards").iterdir())
    assert again.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("format", ["jsonl.gz", "tsv.gz", "csv"])
@pytest.mark.parametrize("stop", range(1, 8))
def test_a_scan_goes_on_where_some_packed_files_are_empty(tmp_path: Path, format: str, stop: int) -> None:
    shards(tmp_path / "shards", format)
    for number in (1, 2, 6, 99):
        (tmp_path / "shards" / f"part-{number}.{format}").write_bytes(as_bytes([], format) or b"\n")
    whole, again = tmp_path / "whole.parquet", tmp_path / "again.parquet"
    scan_file(tmp_path / "shards", KIN, whole, threads=1)
    stop_after(stop, tmp_path / "shards", again)
    scan_file(tmp_path / "shards", KIN, again, threads=1)
    assert again.read_bytes() == whole.read_bytes()


def test_a_plain_file_with_a_packed_name_is_gone_on_with(tmp_path: Path) -> None:
    shards(tmp_path / "shards", "tsv")
    for path in (tmp_path / "shards").iterdir():
        path.rename(f"{path}.gz")  # as a server does it that unpacks what it sends
    whole, again = tmp_path / "whole.parquet", tmp_path / "again.parquet"
    scan_file(tmp_path / "shards", KIN, whole, block_bytes=64, threads=1)
    stop_after(7, tmp_path / "shards", again, block_bytes=64)
    scan_file(tmp_path / "shards", KIN, again, block_bytes=64, threads=1)
    assert again.read_bytes() == whole.read_bytes()


def test_a_file_that_changed_since_starts_anew(tmp_path: Path) -> None:
    rows = shards(tmp_path / "shards", "jsonl.gz")
    output = tmp_path / "counts.parquet"
    options: dict[str, Any] = {"block_bytes": 64, "partition_bytes": 64}
    stop_after(20, tmp_path / "shards", output, **options)
    first = tmp_path / "shards" / "part-0.jsonl.gz"
    before = first.read_bytes()
    first.write_bytes(before[:4] + b"\x07" + before[5:])  # the time in the header: the size is the same
    assert scan_file(tmp_path / "shards", KIN, output, threads=1, **options).found == 0
    assert len(table_of(output)) == len(rows)


@pytest.mark.parametrize("format", ["tsv", "tsv.gz"])
def test_what_is_wrong_is_named_by_file_and_line_over_all_files(tmp_path: Path, format: str) -> None:
    shards(tmp_path / "shards", format)
    for number, bad in ((5, 2), (15, 14)):
        path = tmp_path / "shards" / f"part-{number}.{format}"
        lines = as_bytes(documents()[number * 3 : number * 3 + 15], "tsv").split(b"\n")
        lines[bad] = b"no tab here"
        data = b"\n".join(lines)
        path.write_bytes(gzip.compress(data) if format.endswith("gz") else data)
    with pytest.raises(DataError) as raised:
        scan_file(tmp_path / "shards", KIN, tmp_path / "counts.parquet", threads=1)
    folder = tmp_path / "shards"
    assert str(raised.value).split("\n") == [
        f"{folder}/part-5.{format}:3: no tab: a line is an id, a tab and the text",
        f"{folder}/part-15.{format}:15: no tab: a line is an id, a tab and the text",
    ]
    assert not (tmp_path / "counts.parquet").exists()


def test_twenty_problems_are_listed_over_all_files(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    for number in range(4):
        lines = (f"bad\nd{number}-{line}\ta sound one\n" for line in range(8))
        (tmp_path / "shards" / f"{number}.tsv").write_text("".join(lines))
    with pytest.raises(DataError) as raised:
        scan_file(tmp_path / "shards", KIN, tmp_path / "counts.parquet", threads=2)
    lines = str(raised.value).split("\n")
    assert len(lines) == 21
    assert lines[-1] == "only the first 20 problems are listed"


def test_ids_that_are_there_twice_are_named_with_both_files(tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    folder.mkdir()
    (folder / "a.tsv").write_text("d1\tx\nd2\ty\n")
    (folder / "b.tsv").write_text("d3\tx\n")
    (folder / "c.tsv").write_text("d2\ty\nd4\tz\nd4\tz\n")
    wanted = rf"'d2' \(in {folder}/a.tsv and in {folder}/c.tsv\), 'd4' \(in {folder}/c.tsv, twice\)"
    with pytest.raises(DataError, match=wanted):
        scan_file(folder, KIN, tmp_path / "counts.parquet")
    with pytest.raises(DataError, match=wanted):
        er.scan(folder, KIN)


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_without_documents_is_passed_over(tmp_path: Path, format: str) -> None:
    rows = shards(tmp_path / "shards", format)
    for number in (1, 99):
        (tmp_path / "shards" / f"part-{number}.{format}").write_bytes(as_bytes([], format) or b"\n")
    assert len(er.scan(tmp_path / "shards", KIN)) == len(rows)
    assert sum(map(len, read_documents(tmp_path / "shards"))) == len(rows)


def test_a_folder_without_any_document_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    for number in range(2):
        (tmp_path / "shards" / f"{number}.jsonl").write_bytes(b"\n\n")
    with pytest.raises(DataError, match="shards: no documents"):
        er.scan(tmp_path / "shards", KIN)
    with pytest.raises(DataError, match="shards: no documents"):
        list(read_documents(tmp_path / "shards"))


def test_shards_in_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = documents()
    files = {
        f"{format}/part-{number}.{format}": as_bytes(rows[number * 20 : number * 20 + 20], format)
        for format in ("jsonl", "jsonl.gz", "tsv", "parquet")
        for number in range(3)
    }
    scan_file(rows, KIN, tmp_path / "local.parquet")
    expected = table_of(tmp_path / "local.parquet")
    with local_s3(monkeypatch, "docs", files):
        for format in ("jsonl", "jsonl.gz", "tsv", "parquet"):
            output = tmp_path / f"{format}.parquet"
            scan_file(f"s3://docs/{format}", KIN, output, block_bytes=300)
            assert table_of(output).equals(expected)
        scan_file("s3://docs/jsonl/part-1.jsonl", KIN, tmp_path / "one.parquet")
        assert table_of(tmp_path / "one.parquet").equals(expected.slice(20, 20))
        source = json.loads(
            pa.parquet.ParquetFile(tmp_path / "jsonl.gz.parquet").metadata.metadata[b"evenrank.source"]
        )
        assert [file["name"] for file in source["files"]] == [
            f"s3://docs/jsonl.gz/part-{number}.jsonl.gz" for number in range(3)
        ]


@pytest.mark.parametrize("format", FORMATS)
def test_counts_know_the_files_that_they_were_made_of(tmp_path: Path, format: str) -> None:
    folder, output = tmp_path / "shards", tmp_path / "counts.parquet"
    shards(folder, format)
    scan_file(folder, KIN, output, block_bytes=100)
    er.read_counts(output, source=folder)
    er.read_counts(output, source=str(folder / f"*.{format}"))
    first = folder / f"part-0.{format}"
    before = first.read_bytes()
    rows = [(name, text.replace("mother", "father")) for name, text in documents()[:15]]
    first.write_bytes(as_bytes(rows, format))
    with pytest.raises(DataError, match=r"another source, .* or in one that has changed since"):
        er.read_counts(output, source=folder)
    first.write_bytes(before)
    (folder / f"part-20.{format}").write_bytes(before)
    with pytest.raises(DataError, match="another source"):
        er.read_counts(output, source=folder)


def test_an_output_inside_of_the_folder_is_refused(tmp_path: Path) -> None:
    shards(tmp_path / "shards", "tsv")
    with pytest.raises(ParameterError, match="lies in the folder that is read"):
        scan_file(tmp_path / "shards", KIN, tmp_path / "shards" / "counts.parquet")


def test_the_command_reads_a_pattern_and_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evenrank: Callable[..., tuple[int, str, str]]
) -> None:
    rows = shards(tmp_path / "shards", "jsonl.gz")
    wanted = f"{len(rows):,} documents"
    output = tmp_path / "counts.parquet"
    code, _, err = evenrank("scan", tmp_path / "shards/*.gz", "--lexicon", "gender-en", "-o", output)
    assert (code, wanted in err) == (0, True), err
    files = {path.name: path.read_bytes() for path in (tmp_path / "shards").iterdir()}
    with local_s3(monkeypatch, "commands", files):
        code, _, err = evenrank("scan", "s3://commands/", "--lexicon", "gender-en", "-o", output)
        assert (code, wanted in err) == (0, True), err
        code, _, err = evenrank("scan", "s3://nowhere/", "--lexicon", "gender-en", "-o", output)
        assert code != 0
        assert "s3://nowhere/" in err


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz", ".jsonl"])
def test_files_of_many_pieces_keep_their_documents_apart(tmp_path: Path, suffix: str) -> None:
    """A file is still being read when its first pieces are done."""
    (tmp_path / "c").mkdir()
    line = '{"id": "%s", "text": "my mother"}\n' if suffix == ".jsonl" else "%s\tmy mother\n"
    for number in range(4):
        names = [f"d{number}-{row}" for row in range(200)] if number != 1 else []  # one holds nothing
        names += ["d2-150"] if number == 2 else []
        content = ("".join(line % name for name in names) or "\n").encode()
        packed = gzip.compress(content, mtime=0) if suffix.endswith("gz") else content
        (tmp_path / "c" / f"{number}{suffix}").write_bytes(packed)
    told: list[tuple[int, int | None]] = []
    with pytest.raises(DataError, match=rf"'d2-150' \(in .*/2{suffix}, twice\)"):
        scan_file(
            tmp_path / "c", KIN, tmp_path / "o.parquet", threads=1, block_bytes=300,
            progress=lambda done, total, _: told.append((done, total)),
        )  # fmt: skip
    assert told == sorted(told)
    done, total = told[-1]
    assert total is not None
    assert done in (total, total - 1)  # the file of one byte has no piece
