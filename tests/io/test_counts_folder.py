"""Counts in folders: whole or refused, and nothing of the user is deleted with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import evenrank as er
from evenrank.errors import DamagedError, DataError, EvenrankError
from evenrank.evidence.scan import scan_file

COMMIT = "_evenrank.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Counts of a hundred documents in two parts or more."""
    source = tmp_path / "c.tsv"
    source.write_text("".join(f"d{number:03}\tshe said to him that he left\n" for number in range(100)))
    scan_file(source, "gender-en", f"{tmp_path}/counts/", block_bytes=256, partition_bytes=1024)
    assert (tmp_path / "counts/part-00001.parquet").is_file()
    return tmp_path / "counts"


def test_a_folder_is_read_as_it_was_written(folder: Path) -> None:
    found = er.read_counts(folder)
    assert found.doc_ids.to_pylist() == [f"d{number:03}" for number in range(100)]
    assert found.counts.sum(axis=0).tolist() == [100, 200]


def test_a_folder_without_its_commit_is_refused(folder: Path) -> None:
    (folder / COMMIT).unlink()
    with pytest.raises(DataError, match="counts"):
        er.read_counts(folder)


def test_a_part_that_is_missing_or_has_another_size_is_found(folder: Path) -> None:
    part = folder / "part-00001.parquet"
    content = part.read_bytes()
    for changed in (content[:-1], content + b"x", None):
        part.unlink()
        if changed is not None:
            part.write_bytes(changed)
        with pytest.raises(DamagedError, match=r"part-00001\.parquet"):
            er.read_counts(folder)
        part.write_bytes(content)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"format": 9}, "9"),
        ({"kind": "swaps"}, "swaps"),
        ({"rows": 4}, COMMIT),
        ({"parts": [{"name": "../part", "rows": 100, "bytes": 1, "digest": ""}]}, COMMIT),
        ({"parts": 3}, COMMIT),
    ],
)
def test_a_damaged_commit_is_refused(folder: Path, change: dict[str, object], word: str) -> None:
    about = json.loads((folder / COMMIT).read_text())
    (folder / COMMIT).write_text(json.dumps({**about, **change}))
    with pytest.raises(DamagedError, match=word):
        er.read_counts(folder)
    (folder / COMMIT).write_text("[" * 100_000)
    with pytest.raises(DamagedError, match=COMMIT):
        er.read_counts(folder)


def test_nothing_of_the_user_is_deleted_with_counts(tmp_path: Path) -> None:
    """Files of another tool that are called like parts, and notes beside counts."""
    documents = tmp_path / "web/part-00000.parquet"
    documents.parent.mkdir()
    pa.parquet.write_table(pa.table({"id": ["a"], "text": ["she"]}), documents)
    source = [("d1", "she said"), ("d2", "he said")]
    with pytest.raises(DataError, match=r"part-00000\.parquet"):
        er.scan(source, "gender-en", f"{tmp_path}/web/")
    assert documents.is_file()
    assert er.scan(str(documents.parent), "gender-en").counts.sum() == 1  # they are a collection
    counts = f"{tmp_path}/counts/"
    (tmp_path / "d.tsv").write_text("d1\tshe said\nd2\the said\n")
    for _ in range(2):  # its own counts are replaced
        er.scan(str(tmp_path / "d.tsv"), "gender-en", counts)
    (tmp_path / "counts/notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"notes\.txt"):
        er.scan(str(tmp_path / "d.tsv"), "gender-en", counts)
    assert (tmp_path / "counts/notes.txt").is_file()
    assert len(er.read_counts(counts)) == 2
    (tmp_path / "counts/notes.txt").unlink()
    (tmp_path / "counts" / COMMIT).write_text("{")
    er.scan(str(tmp_path / "d.tsv"), "gender-en", counts)
    assert len(er.read_counts(counts)) == 2


def test_an_executor_that_loses_partitions_is_no_success(tmp_path: Path) -> None:
    class Forgetful:
        name, link = "Forgetful", None

        def map(self, work: Any, tasks: Any) -> Any:
            yield from map(work, tasks[:-1])

    for number in range(3):
        lines = "".join(f"{number}-{row}\tshe said\n" for row in range(20))
        (tmp_path / f"p{number}.tsv").write_text(lines)
    with pytest.raises(EvenrankError, match="Forgetful"):
        er.scan(f"{tmp_path}/p*.tsv", "gender-en", f"{tmp_path}/out/", on=Forgetful())
    assert not (tmp_path / "out").exists()
