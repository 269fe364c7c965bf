"""What the system says of a disk is not wrong data: a task is tried again, and what is finished is kept."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backwards import Backwards
from collections_in_formats import rows, write

from evenrank import Lexicon
from evenrank.counterfactuals.swap.files import swap_file
from evenrank.errors import DiskError
from evenrank.evidence.scan import derive_groups, scan_file
from evenrank.io import atomic

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 14}


def scanned(source: Path, output: Path, on: Any) -> None:
    scan_file(source, LEXICON, output, on=on, **SIZES)


def scanned_to_a_folder(source: Path, output: Path, on: Any) -> None:
    scan_file(source, LEXICON, f"{output}/", on=on, **SIZES)


def swapped(source: Path, output: Path, on: Any) -> None:
    swap_file(source, output, tagger="rules", on=on, **SIZES)


def derived(source: Path, output: Path, on: Any) -> None:
    derive_groups(source, output, LEXICON, on=on, **SIZES)


class Disk:
    """Refuses files whose paths match this, some number of times, and counts how often it did."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name, self.number, self.times, self.refused = "", errno.ENOSPC, 0, 0
        temporary = atomic._temporary

        def refusing(target: Path) -> Any:
            self.refuse(target)
            return temporary(target)

        monkeypatch.setattr(atomic, "_temporary", refusing)

    def refuse(self, target: Path) -> None:
        if self.refused < self.times and re.search(self.name, str(target)):
            self.refused += 1
            raise OSError(self.number, os.strerror(self.number), str(target))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture(scope="module")
def in_process() -> Iterator[Any]:
    """A cluster of Dask whose worker is a thread, and so sees the disk of the test."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ESTALE, errno.EMFILE])
@pytest.mark.parametrize("work", [scanned, scanned_to_a_folder, swapped])
def test_finished_parts_are_kept_where_a_part_cannot_be_written(
    tmp_path: Path, disk: Disk, work: Any, number: int
) -> None:
    collection = write(tmp_path / "c.tsv", rows(3000))
    disk.name, disk.number, disk.times = "part-00001-", number, 99
    said = rf"part-00001-\S+: cannot be written: {os.strerror(number)}; what is finished was kept"
    with pytest.raises(DiskError, match=said):
        work(collection, tmp_path / "out.parquet", on=(first := Backwards()))
    disk.times = 0
    work(collection, tmp_path / "out.parquet", on=(again := Backwards()))
    assert len(first.done) > 3
    assert len(again.done) == 2  # the one that failed, and the one that was not reached


@pytest.mark.parametrize("work", [scanned, swapped, derived])
def test_a_part_that_cannot_be_written_is_tried_again_by_dask(
    tmp_path: Path, disk: Disk, in_process: Any, work: Any
) -> None:
    collection = write(tmp_path / "c.tsv", rows(3000))
    work(collection, tmp_path / "here.parquet", on=Backwards())
    disk.name, disk.times = r"/out\.parquet\.parts/part-00001-", 2
    work(collection, tmp_path / "out.parquet", on=in_process)
    assert disk.refused == 2
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "here.parquet").read_bytes()


@pytest.mark.parametrize("name", [r"_evenrank\.json", r"part-.*\.hashes"])
def test_parts_are_kept_where_what_is_made_of_them_cannot_be_written(
    tmp_path: Path, disk: Disk, name: str
) -> None:
    # ids do not ascend: workers write their hashes
    collection = write(tmp_path / "c.tsv", rows(3000)[::-1])
    disk.name, disk.times = name, 99
    with pytest.raises(DiskError, match="No space left on device; what is finished was kept"):
        scanned_to_a_folder(collection, tmp_path / "out", Backwards())
    disk.times = 0
    scanned_to_a_folder(collection, tmp_path / "out", again := Backwards())
    assert again.done == []


def test_parts_are_kept_where_the_collection_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker with too many open files."""
    collection = write(tmp_path / "c.jsonl", rows(3000))
    opened = Path.open

    def refuse(self: Path, *arguments: Any, **options: Any) -> Any:
        if self == collection:
            raise OSError(errno.EMFILE, "Too many open files", str(self))
        return opened(self, *arguments, **options)

    class Worker(Backwards):
        def run(self, work: Any, tasks: Any) -> Any:
            for place, result in super().run(work, tasks):
                yield place, result
                if len(self.done) == 3:
                    patch.setattr(Path, "open", refuse)

    with monkeypatch.context() as patch, pytest.raises(DiskError, match=r"Too many open files; .* was kept"):
        scanned(collection, tmp_path / "out.parquet", Worker())
    assert len(list((tmp_path / "out.parquet.parts").glob("part-*.json"))) == 3
