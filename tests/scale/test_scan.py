"""The same counts from threads, Dask and Spark, in a file and in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from backwards import Backwards
from collections_in_formats import FORMATS, rows, write

from evenrank import Lexicon
from evenrank.errors import DataError, EvenrankError, MissingExtraError, ParameterError
from evenrank.evidence.scan import ScanSummary, scan_file
from evenrank.evidence.scan.partitions import cut, partition_files
from evenrank.evidence.scan.sources import open_collection
from evenrank.io.counts_folder import read_counts_folder

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
BLOCK = 1 << 13
PARTITION = 1 << 15


def scan(source: Path, output: Path | str, on: Any = None, **options: Any) -> ScanSummary:
    options = {"block_bytes": BLOCK, "partition_bytes": PARTITION, "threads": 2, **options}
    return scan_file(source, LEXICON, output, on=on, **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", FORMATS)
def test_partitions_joined_are_the_file_of_a_plain_scan(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / name, rows(3000))
    plain = scan(source, tmp_path / "plain.parquet")
    spread = scan(source, tmp_path / "spread.parquet", Backwards())
    assert (tmp_path / "plain.parquet").read_bytes() == (tmp_path / "spread.parquet").read_bytes()
    for summary in (plain, spread):
        summary.seconds = 0.0
    assert plain == spread
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".parts")] == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_folder_is_the_same_whatever_the_executor(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / name, rows(3000))
    scan(source, f"{tmp_path}/here/")
    scan(source, f"{tmp_path}/there/", Backwards())
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    folder = read_counts_folder(tmp_path / "here")
    folder.check()
    assert len(folder.parts) == 1 if name.endswith(".gz") else len(folder.parts) > 2
    scan(source, tmp_path / "plain.parquet")
    plain = pq.read_table(tmp_path / "plain.parquet")
    assert pq.read_table(tmp_path / "here").to_pylist() == plain.to_pylist()
    assert folder.rows == len(plain) == 3000
    assert folder.source["name"] == str(source)


def test_an_earlier_folder_gives_way_and_another_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    (tmp_path / "out").mkdir()
    scan(source, tmp_path / "out")
    scan(write(source, rows(100)), tmp_path / "out")
    assert read_counts_folder(tmp_path / "out").rows == 100
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "_evenrank.json", "part-00000.parquet",
    ]  # fmt: skip
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(DataError, match="a folder with something else in it"):
        scan(source, tmp_path / "other")
    with pytest.raises(DataError, match="is a file"):
        scan(source, f"{source}/")


def test_partitions_cover_every_byte_once(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))

    def opened(file: Any) -> Any:
        return open_collection(file.source(), block_bytes=BLOCK)

    parts = cut(partition_files(source).files, opened, PARTITION)
    edges = [(own.pieces.first, own.pieces.last) for part in parts for own in part.stretches]
    assert [first for first, _ in edges[1:]] == [last for _, last in edges[:-1]]
    assert edges[0][0] == 0
    assert sum(part.bytes for part in parts) == source.stat().st_size
    assert cut(partition_files(source).files, opened, PARTITION) == parts


class Stops(Exception):
    pass


class Stopping(Backwards):
    """Like a driver that is killed after some partitions."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def run(self, work: Any, tasks: Any) -> Any:
        for place, task in enumerate(tasks):
            if place == self.after:
                raise Stops
            self.done.append(place)
            yield place, work(task)


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_finished_partitions_are_not_counted_again(tmp_path: Path, output: str) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    scan(source, f"{tmp_path}/whole-{output}")
    with pytest.raises(Stops):
        scan(source, f"{tmp_path}/{output}", Stopping(2))
    assert not (tmp_path / output).exists()
    again = Backwards()
    summary = scan(source, f"{tmp_path}/{output}", again)
    assert summary.found > 0
    total = len(
        cut(
            partition_files(source).files, lambda f: open_collection(f.source(), block_bytes=BLOCK), PARTITION
        )
    )
    assert len(again.done) == total - 2
    whole, resumed = tmp_path / f"whole-{output}", tmp_path / output
    if output.endswith("/"):
        assert contents(whole) == contents(resumed)
    else:
        assert whole.read_bytes() == resumed.read_bytes()


def test_what_changed_since_is_counted_again(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    with pytest.raises(Stops):
        scan(source, tmp_path / "out.parquet", Stopping(2))
    raw = source.read_bytes()
    source.write_bytes(b"X" + raw[1:])  # in the first partition alone
    again = Backwards()
    scan(source, tmp_path / "out.parquet", again)
    scan(source, tmp_path / "plain.parquet")
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()
    with pytest.raises(Stops):
        scan(source, tmp_path / "out.parquet", Stopping(2))
    part = next((tmp_path / "out.parquet.parts").glob("part-00001-*.arrow"))
    part.write_bytes(part.read_bytes()[:-1] + b"?")
    more = Backwards()
    scan(source, tmp_path / "out.parquet", more)
    assert len(more.done) == len(again.done)  # of two finished parts one was sound, in both cases
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_bad_lines_of_all_partitions_are_listed(tmp_path: Path, output: str) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    lines = source.read_bytes().split(b"\n")
    for line in (4, 1700, 2990):
        lines[line - 1] = b"no tab here"
    source.write_bytes(b"\n".join(lines))
    with pytest.raises(DataError) as caught:
        scan(source, f"{tmp_path}/{output}", Backwards())
    assert [line.partition(": ")[0] for line in str(caught.value).split("\n")] == [
        f"{source}:4", f"{source}:1700", f"{source}:2990",
    ]  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv"]
    # neighbouring lines with one problem would be one line of the message
    source.write_bytes(b"".join(b"x\nd%d\the\n" % number for number in range(15000)))
    with pytest.raises(DataError, match="only the first 20 problems") as caught:
        scan(source, f"{tmp_path}/{output}", Backwards())
    assert str(caught.value).count("\n") == 20


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_ids_that_occur_in_two_partitions_are_found(tmp_path: Path, output: str) -> None:
    documents = rows(3000)
    documents[2900] = ("d7", "he")
    source = write(tmp_path / "c.tsv", documents)
    with pytest.raises(DataError, match=r"occur more than once: 'd7'$"):
        scan(source, f"{tmp_path}/{output}", Backwards())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv"]


def test_what_is_no_file_and_no_cluster_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", rows(3))
    with pytest.raises(ParameterError, match=r"documents: .*only files can be cut.* write to a file"):
        scan_file([("a", "he")], LEXICON, tmp_path / "o.parquet", on=Backwards())
    with pytest.raises(ParameterError, match=r"<stdin>: .*only files can be cut.* save it to a file first"):
        scan_file("-", LEXICON, f"{tmp_path}/folder/")
    with pytest.raises(ParameterError, match="on= is dask, dask://HOST:PORT or spark"):
        scan(source, tmp_path / "o.parquet", "hadoop")
    with pytest.raises(ParameterError, match="dask://HOST:PORT, got 'dask://machine'"):
        scan(source, tmp_path / "o.parquet", "dask://machine")


@pytest.mark.parametrize(("on", "package"), [("dask", "distributed"), ("spark", "pyspark.sql")])
def test_a_missing_package_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"\[{on}\]'"):
        scan(write(tmp_path / "c.tsv", rows(3)), tmp_path / "o.parquet", on)


def test_dask_gives_the_same_file(tmp_path: Path, client: Any) -> None:
    source = write(tmp_path / "c.tsv", rows(1000))
    scan(source, tmp_path / "plain.parquet")
    scan(source, tmp_path / "dask.parquet", client)
    assert (tmp_path / "plain.parquet").read_bytes() == (tmp_path / "dask.parquet").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
@pytest.mark.parametrize("name", FORMATS)
def test_clusters_give_the_same_file_and_folder(
    tmp_path: Path, request: pytest.FixtureRequest, name: str, engine: str
) -> None:
    on = request.getfixturevalue(engine)
    source = write(tmp_path / name, rows(3000))
    scan(source, tmp_path / "plain.parquet")
    scan(source, tmp_path / "spread.parquet", on)
    assert (tmp_path / "plain.parquet").read_bytes() == (tmp_path / "spread.parquet").read_bytes()
    scan(source, f"{tmp_path}/here/")
    scan(source, f"{tmp_path}/there/", on)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
def test_clusters_find_bad_lines_and_repeated_ids(
    tmp_path: Path, request: pytest.FixtureRequest, engine: str
) -> None:
    on = request.getfixturevalue(engine)
    documents = rows(3000)
    documents[2900] = ("d7", "he")
    source = write(tmp_path / "c.tsv", documents)
    with pytest.raises(DataError, match=r"occur more than once: 'd7'$"):
        scan(source, f"{tmp_path}/out/", on)
    lines = source.read_bytes().split(b"\n")
    lines[3] = lines[2500] = b"no tab here"
    source.write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match=r"c.tsv:4: no tab.*\n.*c.tsv:2501: no tab"):
        scan(source, f"{tmp_path}/out/", on)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv"]


def _full_disk(task: int) -> int:
    raise OSError(28, "No space left on device", "/shared/part")


def test_the_error_of_a_task_is_not_that_of_the_scheduler(client: Any) -> None:
    from evenrank.scale.dask import DaskExecutor

    with pytest.raises(EvenrankError, match=r"its task: .*No space left.*/shared/part"):
        list(DaskExecutor(client).run(_full_disk, [1, 2]))


def _too_late(task: int) -> int:
    raise TimeoutError("the store took too long")


def test_a_timeout_of_a_task_is_not_that_of_the_scheduler(client: Any) -> None:
    from evenrank.scale.dask import DaskExecutor

    with pytest.raises(EvenrankError, match=r"its task: the store took too long"):
        list(DaskExecutor(client).run(_too_late, [1]))


class Large:
    """A result that is sent when somebody has asked for it in vain."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        (self.folder / "sending").touch()
        while not (self.folder / "waited").exists():
            time.sleep(0.01)
        return str, ("sent",)


def test_a_result_that_takes_long_to_be_sent_is_waited_for(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenrank.scale import dask

    monkeypatch.setattr(dask, "LOOK", 0.2)

    def look() -> None:
        if (tmp_path / "sending").exists():
            (tmp_path / "waited").touch()

    assert list(dask.DaskExecutor(client, look).run(Large, [tmp_path])) == [(0, "sent")]


@pytest.mark.needs("distributed")
@pytest.mark.slow
def test_a_scheduler_that_is_lost_while_a_result_is_sent_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    from evenrank.scale import dask

    monkeypatch.setattr(dask, "LOOK", 0.2)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard",
         "--scheduler-file", str(tmp_path / "scheduler.json")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    worker: Any = None
    try:
        while not (tmp_path / "scheduler.json").exists():
            assert scheduler.poll() is None
            time.sleep(0.05)
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard", "--no-nanny",
             "--scheduler-file", str(tmp_path / "scheduler.json")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
        )  # fmt: skip

        def look() -> None:
            if (tmp_path / "sending").exists():
                scheduler.kill()

        with (
            distributed.Client(scheduler_file=str(tmp_path / "scheduler.json"), timeout=60) as client,
            pytest.raises(EvenrankError, match=r"Dask's scheduler was lost.* was kept"),
        ):
            list(dask.DaskExecutor(client, look).run(Large, [tmp_path]))
    finally:
        (tmp_path / "waited").touch()
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()
