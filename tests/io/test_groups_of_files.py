"""Groups in the fields of documents that lie in several files: a folder, a pattern."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import DataError, ParameterError, read_groups

SIZES = ["small", "large", "small", None, "medium", "large", "small", "medium", "small", "large", "", "small"]
ROWS: list[dict[str, Any]] = [
    {"id": f"d{number}", "text": f"text {number}", "stars": number % 3 + 1, "size": size}
    for number, size in enumerate(SIZES)
]


def as_bytes(rows: list[dict[str, Any]], suffix: str) -> bytes:
    if suffix.startswith(".jsonl"):
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        return gzip.compress(lines) if suffix.endswith(".gz") else lines
    if suffix == ".parquet":
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), buffer)
        return buffer.getvalue()
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter="," if suffix == ".csv" else "\t")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def write_parts(folder: Path, rows: list[dict[str, Any]], suffix: str, step: int = 1) -> None:
    """So many files that their natural order is not that of their names as text."""
    folder.mkdir(exist_ok=True)
    for number, begin in enumerate(range(0, len(rows), step)):
        (folder / f"part-{number}{suffix}").write_bytes(as_bytes(rows[begin : begin + step], suffix))


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet", ".csv", ".tsv"])
def test_many_files_give_what_one_file_gives(tmp_path: Path, suffix: str) -> None:
    whole, folder = tmp_path / f"docs{suffix}", tmp_path / "shards"
    whole.write_bytes(as_bytes(ROWS, suffix))
    write_parts(folder, ROWS, suffix)
    (folder / "_SUCCESS").touch()
    for column, options in (("size", {}), ("stars", {"ordinal": True})):
        one = read_groups(whole, column, column=column, **options)
        for source in (folder, f"{folder}/", f"{folder}/*{suffix}"):
            many = read_groups(source, column, column=column, **options)
            assert many.fingerprint == one.fingerprint
            assert many.attribute == one.attribute
            assert many.doc_ids.equals(one.doc_ids)
            assert many.source == str(source)


def test_a_file_may_lack_the_field_or_hold_no_documents(tmp_path: Path) -> None:
    write_parts(tmp_path, ROWS, ".jsonl", 4)
    (tmp_path / "part-7.jsonl.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "part-8.jsonl").write_text('{"id": "bare", "text": "no size"}\n')
    found = read_groups(tmp_path, "size", column="size")
    assert sorted(found.attribute.values) == ["large", "medium", "small"]
    assert "bare" not in found.doc_ids.to_pylist()
    (only := tmp_path / "none").mkdir()
    (only / "a.jsonl").write_text("\n")
    with pytest.raises(DataError, match=r"none: no groups \(no file has rows\)"):
        read_groups(only, "size", column="size")


def test_an_error_names_the_files_and_their_lines(tmp_path: Path) -> None:
    write_parts(tmp_path, ROWS, ".jsonl", 4)
    for number in (0, 2):
        with (tmp_path / f"part-{number}.jsonl").open("a") as file:
            file.write("\n" + json.dumps({"id": f"e{number}", "text": "x", "size": 0.5}) + "\n")
    with pytest.raises(DataError) as caught:
        read_groups(tmp_path, "size", column="size")
    what = "value 0.5 (float) is not a label: labels are text or whole numbers"
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/part-0.jsonl:6: document 'e0': {what}",
        f"{tmp_path}/part-2.jsonl:6: document 'e2': {what}",
    ]
    for number in (0, 1):
        (tmp_path / f"part-{number}.jsonl").write_text(json.dumps({"id": f"f{number}"}) + '\n{"id": \n')
    with pytest.raises(DataError) as caught:
        read_groups(tmp_path, "size", column="size")
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [
        f"{tmp_path}/part-0.jsonl:2",
        f"{tmp_path}/part-1.jsonl:2",
    ]


def test_what_is_found_wrong_later_is_told_by_file_and_line_too(tmp_path: Path) -> None:
    write_parts(tmp_path, ROWS, ".jsonl", 4)
    with pytest.raises(DataError) as caught:
        read_groups(tmp_path, "size", column="size", values=["small", "large"])
    told = [line.partition(" ")[0] for line in str(caught.value).splitlines()]
    assert told == [f"{tmp_path}/part-1.jsonl:1:", f"{tmp_path}/part-1.jsonl:4:"]


def test_a_document_may_be_in_two_files_with_one_label_and_not_with_two(tmp_path: Path) -> None:
    write_parts(tmp_path, ROWS, ".jsonl", 4)
    one = read_groups(tmp_path, "size", column="size")
    with (tmp_path / "part-2.jsonl").open("a") as file:
        file.write(json.dumps(ROWS[1]) + "\n")
    assert read_groups(tmp_path, "size", column="size").fingerprint == one.fingerprint
    with (tmp_path / "part-2.jsonl").open("a") as file:
        file.write(json.dumps(ROWS[1] | {"size": "small"}) + "\n")
    with pytest.raises(DataError, match=rf"{tmp_path}/part-2\.jsonl:6: .*'d1'.*'small'.*'large'"):
        read_groups(tmp_path, "size", column="size")


def test_a_field_that_is_not_there_and_files_without_fields(tmp_path: Path) -> None:
    write_parts(tmp_path / "a", ROWS, ".jsonl", 4)
    with pytest.raises(DataError, match=r"no column 'sise'.*found are 'id', 'text', 'stars', 'size'"):
        read_groups(tmp_path / "a", "sise", column="sise")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.trecweb").write_text("<DOC><DOCNO>1</DOCNO>x</DOC>\n")
    with pytest.raises(ParameterError, match=r"x\.trecweb: a trecweb file has no fields that may be groups"):
        read_groups(tmp_path / "b", "size", column="size")


def test_votes_and_groups_by_query_may_spread_over_files(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("document,rater,label\na,x,f\nb,x,m\n")
    (tmp_path / "2.csv").write_text("document,rater,label\na,y,m\n")
    found = read_groups(tmp_path, "gender", votes=True)
    assert found.sizes().tolist() == [0.5, 1.5]
