"""The same swapped collection from a cluster as from this machine, also where parts are lost or cannot be
written. A command never cuts a collection as small as these: only a function is told where to cut."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from backwards import Backwards, InRounds, Stops
from collections_in_formats import FORMATS, rows, write
from failing_store import failing_store
from full_disk import FullDisk

from evenrank import DataError
from evenrank.counterfactuals.swap.files import swap_file
from evenrank.errors import DiskError, RemoteError

SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 15, "tagger": "rules"}
OUTPUTS = ("o.tsv", "o.jsonl", "o.parquet")


def swap(source: object, output: Path, on: Any = None, **options: Any) -> Any:
    return swap_file(source, output, "gender-en", on=on, **{**SIZES, **options})


@pytest.mark.parametrize(
    ("name", "output"),
    [("c.tsv", "o.tsv"), ("c.jsonl", "o.jsonl"), ("c.jsonl.gz", "o.jsonl"), ("c.parquet", "o.parquet")],
)
def test_partitions_joined_are_the_file_of_a_plain_swap(tmp_path: Path, name: str, output: str) -> None:
    source = write(tmp_path / name, rows(1500))
    plain = swap(source, tmp_path / output, threads=1)
    spread = swap(source, tmp_path / f"spread-{output}", Backwards())
    assert (tmp_path / output).read_bytes() == (tmp_path / f"spread-{output}").read_bytes()
    assert plain.to_dict() == spread.to_dict()
    assert plain.bytes_read == spread.bytes_read
    assert plain.words > 1000
    assert not list(tmp_path.glob("*.parts"))


def test_many_files_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir()
    documents = rows(1500)
    for number in range(3):
        write(shards / f"s{number}.tsv", documents[500 * number : 500 * number + 500])
    plain = swap(shards, tmp_path / "o.jsonl", threads=1)
    spread = swap(shards, tmp_path / "spread.jsonl", Backwards())
    assert (tmp_path / "o.jsonl").read_bytes() == (tmp_path / "spread.jsonl").read_bytes()
    assert plain.to_dict() == spread.to_dict()
    for number in (0, 2):
        with (shards / f"s{number}.tsv").open("ab") as file:
            file.write(b"no tab here\n")
    for on in (None, Backwards()):
        with pytest.raises(DataError, match=r"s0.tsv:501: .*\n.*s2.tsv:501: "):
            swap(shards, tmp_path / "wrong.jsonl", on)
        assert not (tmp_path / "wrong.jsonl").exists()


def test_a_part_that_cannot_be_written_keeps_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, disk = write(tmp_path / "c.tsv", rows(3000)), FullDisk(monkeypatch)
    disk.name, disk.times = "part-00001-", 99
    with pytest.raises(DiskError, match=r"part-00001-\S+: .*what is finished was kept"):
        swap(source, tmp_path / "o.tsv", first := Backwards())
    disk.times = 0
    swap(source, tmp_path / "o.tsv", again := Backwards())
    assert len(first.done) > 3
    assert len(again.done) == 2  # the one that failed, and the one that was not reached


def test_what_is_finished_is_kept_when_a_store_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, address = write(tmp_path / "c.tsv", rows(3000)), "s3://swap/c.tsv"
    store = failing_store(monkeypatch, address, source.read_bytes())
    swap(source, tmp_path / "here.parquet", threads=1)
    store.failing = range(8, 1 << 60)
    with pytest.raises(RemoteError, match=r"c.tsv: .*what is finished was kept"):
        swap(address, tmp_path / "o.parquet", threads=1)
    assert not (tmp_path / "o.parquet").exists()
    store.answer_again()
    summary = swap(address, tmp_path / "o.parquet", threads=1)
    assert 3 <= summary.found < summary.pieces
    assert store.asked < 2 * (summary.pieces - summary.found)  # a piece, and the beginning for each part
    assert pq.read_table(tmp_path / "o.parquet") == pq.read_table(tmp_path / "here.parquet")


def test_a_part_whose_record_is_damaged_is_made_again(tmp_path: Path) -> None:
    source, output = write(tmp_path / "c.tsv", rows(3000)), tmp_path / "o.tsv"
    expected = swap(source, tmp_path / "whole.tsv", whole := InRounds())
    with pytest.raises(Stops):
        swap(source, output, InRounds(0, after=2))
    (record,) = (tmp_path / "o.tsv.parts").glob("part-00001-*.json")
    record.write_bytes(record.read_bytes()[:-9])
    found = swap(source, output, again := InRounds())
    assert output.read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert found.documents == expected.documents
    assert again.rounds == [whole.rounds[0] - 1]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".jsonl", ".tsv.gz"])
def test_a_cluster_lists_the_same_bad_lines(tmp_path: Path, client: Any, suffix: str) -> None:
    (tmp_path / "shards").mkdir()
    expected = []
    for number in range(3):
        lines = [json.dumps({"id": f"d{number}-{line}", "text": "he"}) for line in range(100)]
        if "tsv" in suffix:
            lines = [f"d{number}-{line}\the" for line in range(100)]
        lines[50 + number] = "neither JSON nor a tab"
        content = "\n".join(lines).encode()
        path = tmp_path / "shards" / f"s-{number}{suffix}"
        path.write_bytes(gzip.compress(content, mtime=0) if suffix.endswith("gz") else content)
        expected.append(f"{path}:{51 + number}")
    for on in (None, Backwards(), client):
        with pytest.raises(DataError) as caught:
            swap(tmp_path / "shards", tmp_path / "o.jsonl", on, block_bytes=300, partition_bytes=2000)
        assert [line.partition(": ")[0] for line in str(caught.value).split("\n")] == expected


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", FORMATS)
def test_clusters_swap_as_this_machine_does(
    tmp_path: Path, request: pytest.FixtureRequest, name: str, output: str, engine: str
) -> None:
    on = request.getfixturevalue(engine)
    source = write(tmp_path / name, rows(1500))
    plain = swap(source, tmp_path / output, threads=1)
    spread = swap(source, tmp_path / f"spread-{output}", on)
    assert (tmp_path / output).read_bytes() == (tmp_path / f"spread-{output}").read_bytes()
    assert plain.to_dict() == spread.to_dict()
