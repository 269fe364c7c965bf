"""What the system says of a disk is not wrong data: a task is tried again, and what is finished is kept."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backwards import Backwards, InRounds
from collections_in_formats import rows, write
from full_disk import FullDisk

from evenrank import EvenrankError, Lexicon
from evenrank.errors import DiskError
from evenrank.evidence.scan import derive_groups, scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 14}


def scanned(source: Path, output: Path, on: Any) -> None:
    scan_file(source, LEXICON, output, on=on, **SIZES)


def scanned_to_a_folder(source: Path, output: Path, on: Any) -> None:
    scan_file(source, LEXICON, f"{output}/", on=on, **SIZES)


def derived(source: Path, output: Path, on: Any) -> None:
    derive_groups(source, output, LEXICON, on=on, **SIZES)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    return FullDisk(monkeypatch)


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
@pytest.mark.parametrize("work", [scanned, scanned_to_a_folder])
def test_finished_parts_are_kept_where_a_part_cannot_be_written(
    tmp_path: Path, disk: FullDisk, work: Any, number: int
) -> None:
    collection = write(tmp_path / "c.tsv", rows(3000))
    disk.name, disk.number, disk.times = "part-00001-", number, 99
    with pytest.raises(
        DiskError, match=rf"part-00001-\S+: .*{os.strerror(number)}; what is finished was kept"
    ):
        work(collection, tmp_path / "out.parquet", on=(first := Backwards()))
    disk.times = 0
    work(collection, tmp_path / "out.parquet", on=(again := Backwards()))
    assert len(first.done) > 3
    assert len(again.done) == 2  # the one that failed, and the one that was not reached


@pytest.mark.parametrize("work", [scanned, derived])
def test_a_part_that_cannot_be_written_is_tried_again_by_dask(
    tmp_path: Path, disk: FullDisk, in_process: Any, work: Any
) -> None:
    collection = write(tmp_path / "c.tsv", rows(3000))
    work(collection, tmp_path / "here.parquet", on=Backwards())
    disk.name, disk.times = r"/out\.parquet\.parts/\.?part-00001-", 2
    work(collection, tmp_path / "out.parquet", on=in_process)
    assert disk.refused == 2
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "here.parquet").read_bytes()


def test_parts_are_kept_where_what_is_made_of_them_cannot_be_written(tmp_path: Path, disk: FullDisk) -> None:
    collection = write(tmp_path / "c.tsv", rows(3000)[::-1])
    disk.name, disk.times = r"_evenrank\.json", 99
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

    class Worker(InRounds):
        def before(self, place: int) -> None:
            if place == 3:
                patch.setattr(Path, "open", refuse)

    with monkeypatch.context() as patch, pytest.raises(DiskError, match=r"Too many open files; .* was kept"):
        scanned(collection, tmp_path / "out.parquet", Worker())
    scanned(collection, tmp_path / "out.parquet", again := InRounds())
    scanned(collection, tmp_path / "whole.parquet", whole := InRounds())
    assert again.rounds == [whole.rounds[0] - 3]


def test_workers_whose_disk_is_full_end_a_job_with_one_error_about_their_file(
    tmp_path: Path, client: Any
) -> None:
    """It says nothing of the scheduler, and when there is room again the same command does the work."""
    collection, output = write(tmp_path / "c.tsv", rows(1000)), tmp_path / "out.parquet"

    def limit(size: int) -> int:
        import resource

        before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        return before

    limits = client.run(limit, 16)
    try:
        with pytest.raises(EvenrankError, match=r"out\.parquet\.parts/part-\S+") as caught:
            scanned(collection, output, client)
    finally:
        for worker, before in limits.items():
            client.run(limit, before, workers=[worker])
    assert "scheduler" not in str(caught.value)
    assert not output.exists()
    scanned(collection, output, client)
    scanned(collection, tmp_path / "here.parquet", Backwards())
    assert output.read_bytes() == (tmp_path / "here.parquet").read_bytes()
