"""A store that does not answer for a while: what is finished stays, and the next run goes on from there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from collections_in_formats import rows, write
from failing_store import FAILURE, FailingStore, failing_store

from evenrank import Lexicon
from evenrank.errors import RemoteError
from evenrank.evidence.scan import scan_file
from evenrank.io import read_documents

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 14}
ADDRESS = "s3://failing/c.tsv"
FROM_NOW_ON = sys.maxsize


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "c.tsv", rows(3000))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, source: Path) -> FailingStore:
    return failing_store(monkeypatch, ADDRESS, source.read_bytes())


def scanned(source: Any, output: Path | str, **options: Any) -> Any:
    return scan_file(source, LEXICON, output, **SIZES, **options)


def documents(source: object) -> list[dict[str, str]]:
    return [row for batch in read_documents(source) for row in batch.to_pylist()]


def test_what_is_finished_is_kept_when_a_store_fails(
    tmp_path: Path, source: Path, store: FailingStore
) -> None:
    scanned(source, tmp_path / "here.parquet", threads=1)
    store.failing = range(8, FROM_NOW_ON)
    with pytest.raises(RemoteError, match=rf"c.tsv: cannot be read: {FAILURE}.*what is finished was kept"):
        scanned(ADDRESS, tmp_path / "out.parquet", threads=1)
    assert not (tmp_path / "out.parquet").exists()
    store.answer_again()
    summary = scanned(ADDRESS, tmp_path / "out.parquet", threads=1)
    assert summary.found >= 3
    assert summary.pieces > summary.found
    assert store.asked < 2 * (summary.pieces - summary.found)  # a piece, and the beginning for each part
    assert pq.read_table(tmp_path / "out.parquet") == pq.read_table(tmp_path / "here.parquet")
    assert not (tmp_path / "out.parquet.parts").exists()


def test_nothing_is_left_where_nothing_was_finished(tmp_path: Path, store: FailingStore) -> None:
    store.failing = range(1, FROM_NOW_ON)
    with pytest.raises(RemoteError) as caught:
        scanned(ADDRESS, tmp_path / "out.parquet")
    assert "was kept" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv"]


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_a_request_that_fails_is_sent_again(
    tmp_path: Path, source: Path, store: FailingStore, output: str
) -> None:
    scanned(source, tmp_path / "here.parquet")
    store.failing = {5, 6, 9}
    scanned(ADDRESS, f"{tmp_path}/{output}", threads=1)
    assert store.failed == 3
    assert (
        pq.read_table(tmp_path / output).to_pylist() == pq.read_table(tmp_path / "here.parquet").to_pylist()
    )


def test_a_file_that_is_read_from_its_beginning_is_opened_again_where_it_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = "".join(f"d{number},{'he and she ' * 400}\n" for number in range(4000))
    store = failing_store(monkeypatch, "s3://failing/c.csv", b"id,text\n" + lines.encode())
    (tmp_path / "c.csv").write_bytes(b"id,text\n" + lines.encode())
    store.failing = {1, 3, 4}

    assert documents("s3://failing/c.csv") == documents(tmp_path / "c.csv")
    assert store.failed == 3
    assert store.asked > 7


def test_what_a_store_refuses_is_not_asked_for_again(tmp_path: Path, store: FailingStore) -> None:
    store.failing = range(1, FROM_NOW_ON)
    store.error = PermissionError("Forbidden")
    with pytest.raises(RemoteError, match="Forbidden"):
        scanned(ADDRESS, tmp_path / "out.parquet", threads=1)
    assert store.asked == 1


@pytest.fixture
def in_process() -> Any:
    """A cluster of Dask whose worker is a thread, and so sees the store of the test."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def attempts(store: FailingStore) -> int:
    """How often a request is sent that always fails."""
    store.failing = range(1, FROM_NOW_ON)
    with pytest.raises(RemoteError):
        documents(ADDRESS)
    made = store.failed
    store.answer_again()
    store.failed = 0
    return made


def test_a_task_whose_store_fails_is_done_again_by_dask(
    tmp_path: Path, source: Path, store: FailingStore, in_process: Any
) -> None:
    scanned(source, tmp_path / "here.parquet")
    made = attempts(store)
    store.failing = range(8, 8 + made)  # every attempt of one request, so that its task fails
    scanned(ADDRESS, tmp_path / "out.parquet", on=in_process)
    assert store.failed == made > 1
    assert pq.read_table(tmp_path / "out.parquet") == pq.read_table(tmp_path / "here.parquet")


def test_a_store_that_stays_away_ends_a_job_with_one_error_and_keeps_its_parts(
    tmp_path: Path, store: FailingStore, in_process: Any
) -> None:
    made = attempts(store)
    store.failing = range(10, FROM_NOW_ON)
    with pytest.raises(RemoteError, match=rf"c.tsv: cannot be read: {FAILURE}.*what is finished was kept"):
        scanned(ADDRESS, tmp_path / "out.parquet", on=in_process)
    assert store.failed > 2 * made  # the task was done again
    store.answer_again()
    summary = scanned(ADDRESS, tmp_path / "out.parquet", on=in_process)
    assert 0 < summary.found < summary.pieces


def test_documents_of_a_parquet_file_are_asked_for_again_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = write(tmp_path / "c.parquet", rows(3000))
    store = failing_store(monkeypatch, "s3://failing/c.parquet", path.read_bytes())

    store.failing = {1, 3}
    assert documents("s3://failing/c.parquet") == documents(path)
    assert store.failed == 2
    store.answer_again()
    store.failing = range(2, FROM_NOW_ON)
    with pytest.raises(RemoteError, match=rf"c.parquet: cannot be read: {FAILURE}"):
        documents("s3://failing/c.parquet")


def test_a_store_that_cannot_be_opened_at_once_is_asked_again(
    tmp_path: Path, store: FailingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Amazon's is asked for its region when it is opened."""
    from pyarrow import fs

    made = attempts(store)
    asked: list[str] = []

    def busy(bucket: str) -> str:
        asked.append(bucket)
        raise OSError(f"When resolving region for bucket {bucket!r}: 503")

    if not hasattr(fs, "S3FileSystem"):
        pytest.skip("this build of Arrow has no S3")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fs, "resolve_s3_region", busy)
    with pytest.raises(RemoteError, match=r"s3://busy/c.tsv: .*When resolving region"):
        documents("s3://busy/c.tsv")
    assert asked == ["busy"] * made
