from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import evenrank as er
from evenrank.errors import DataError, EvenrankError
from evenrank.io.counts_folder import (
    COMMIT,
    commit_counts_folder,
    describe_part,
    is_counts_folder,
    part_name,
    read_counts_folder,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(2):
        (tmp_path / part_name(number)).write_bytes(b"part %d" % number)
    return tmp_path


def committed(folder: Path) -> Path:
    parts = [describe_part(folder / part_name(number), rows=number + 1) for number in range(2)]
    commit_counts_folder(folder, parts, {"name": "c.tsv"})
    return folder


def test_a_folder_is_read_as_it_was_committed(folder: Path) -> None:
    found = read_counts_folder(committed(folder))
    assert (found.rows, found.layout, found.source) == (3, "in order", {"name": "c.tsv"})
    assert found.files == [folder / "part-00000.parquet", folder / "part-00001.parquet"]
    found.check()


def test_a_folder_without_its_commit_is_refused(folder: Path) -> None:
    assert not is_counts_folder(folder)  # other tools call their files so
    with pytest.raises(DataError, match="no finished folder of word counts"):
        read_counts_folder(folder)


def test_a_part_that_is_missing_cut_or_changed_is_found(folder: Path) -> None:
    found = read_counts_folder(committed(folder))
    (folder / part_name(1)).write_bytes(b"trap 1")
    with pytest.raises(DataError, match=r"part-00001.parquet: is not what the scan wrote"):
        found.check()
    (folder / part_name(1)).write_bytes(b"part")
    with pytest.raises(
        DataError, match=r"1 part is not what was written .part-00001.parquet has another size"
    ):
        read_counts_folder(folder)
    (folder / part_name(1)).unlink()
    with pytest.raises(DataError, match=r"part-00001.parquet is not there"):
        read_counts_folder(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 9}, "has format 9 of folders"),
        ({"kind": "swaps"}, "is damaged: it is about 'swaps'"),
        ({"layout": "heaps"}, "is damaged: its layout is 'heaps'"),
        ({"rows": 4}, "is damaged: its parts do not agree"),
        ({"parts": [{"name": "../part", "rows": 3, "bytes": 1, "digest": ""}]}, "do not agree"),
        ({"parts": 3}, "is damaged"),
    ],
)
def test_a_damaged_commit_is_refused(folder: Path, change: dict[str, object], message: str) -> None:
    about = json.loads((committed(folder) / COMMIT).read_text())
    (folder / COMMIT).write_text(json.dumps({**about, **change}))
    with pytest.raises(DataError, match="is damaged: its description is damaged: scan again"):
        read_counts_folder(folder)
    del about["check"]  # as before there was one
    (folder / COMMIT).write_text(json.dumps({**about, **change}))
    with pytest.raises(DataError, match=message):
        read_counts_folder(folder)


def test_what_is_not_there_cannot_be_committed(folder: Path) -> None:
    part = describe_part(folder / part_name(0), 1)
    with pytest.raises(DataError, match=r"part-00007.parquet is not there"):
        commit_counts_folder(folder, [part, part._replace(name=part_name(7))], {})
    assert not (folder / COMMIT).exists()


def test_nothing_of_the_user_is_deleted_with_counts(tmp_path: Path) -> None:
    """Files of another tool that are called like parts, and notes beside counts."""
    documents = tmp_path / "web" / part_name(0)
    documents.parent.mkdir()
    pa.parquet.write_table(pa.table({"id": ["a"], "text": ["she"]}), documents)
    source = [("d1", "she said"), ("d2", "he said")]
    with pytest.raises(DataError, match=r"something else in it .'part-00000.parquet'"):
        er.scan(source, "gender-en", f"{tmp_path}/web/")
    assert documents.is_file()
    assert er.scan(str(documents.parent), "gender-en").counts.sum() == 1  # they are a collection
    counts = f"{tmp_path}/counts/"
    (tmp_path / "d.tsv").write_text("d1\tshe said\nd2\the said\n")
    for _ in range(2):  # its own counts are replaced
        er.scan(str(tmp_path / "d.tsv"), "gender-en", counts)
    (tmp_path / "counts/notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"something else in it .'notes.txt'"):
        er.scan(str(tmp_path / "d.tsv"), "gender-en", counts)
    assert (tmp_path / "counts/notes.txt").is_file()
    assert len(er.read_counts(counts)) == 2
    (tmp_path / "counts/notes.txt").unlink()
    (tmp_path / "counts" / COMMIT).unlink()  # killed while it was replaced
    assert is_counts_folder(counts)
    er.scan(str(tmp_path / "d.tsv"), "gender-en", counts)


def test_an_executor_that_loses_partitions_is_no_success(tmp_path: Path) -> None:
    class Forgetful:
        name, link = "Forgetful", None

        def run(self, work: Any, tasks: Any) -> Any:
            for place, task in list(enumerate(tasks))[:-1]:
                yield place, work(task)

    for number in range(3):
        lines = "".join(f"{number}-{row}\tshe said\n" for row in range(20))
        (tmp_path / f"p{number}.tsv").write_text(lines)
    with pytest.raises(EvenrankError, match="Forgetful ended without 1 partition of "):
        er.scan(f"{tmp_path}/p*.tsv", "gender-en", f"{tmp_path}/out/", on=Forgetful())
    assert not (tmp_path / "out").exists()
