from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenrank.errors import DataError
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
    assert is_counts_folder(folder)
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
    with pytest.raises(DataError, match=message):
        read_counts_folder(folder)


def test_what_is_not_there_cannot_be_committed(folder: Path) -> None:
    part = describe_part(folder / part_name(0), 1)
    with pytest.raises(DataError, match=r"part-00007.parquet is not there"):
        commit_counts_folder(folder, [part, part._replace(name=part_name(7))], {})
    assert not (folder / COMMIT).exists()
