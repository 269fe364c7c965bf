"""The same counts from threads, parts and clusters, in a file and in a folder, of one file and of many."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from backwards import Backwards, InRounds, Stops
from collections_in_formats import FORMATS, rows, write

import evenrank as er
from evenrank import DataError, Lexicon, MissingExtraError, ParameterError
from evenrank.evidence.scan import scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 15}


def scan(source: Path, output: Path | str, on: Any = None, **options: Any) -> Any:
    return scan_file(source, LEXICON, output, on=on, **{**SIZES, "threads": 2, **options})


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(path.iterdir())
    return {"" if file == path else file.name: file.read_bytes() for file in files}


def write_shards(folder: Path, suffix: str, documents: list[tuple[str, str]]) -> Path:
    """Small ones that share a partition, and large ones that are cut."""
    folder.mkdir()
    edges = [0, 20, 40, 60, 1500, 1520, len(documents)]
    for number, (begin, end) in enumerate(pairwise(edges)):
        write(folder / f"shard-{number}{suffix}", documents[begin:end])
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_partitions_joined_are_the_file_of_a_plain_scan(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / name, rows(3000))
    plain = scan(source, tmp_path / "plain.parquet")
    spread = scan(source, tmp_path / "spread.parquet", Backwards())
    assert contents(tmp_path / "plain.parquet") == contents(tmp_path / "spread.parquet")
    for summary in (plain, spread):
        summary.seconds = 0.0
    assert plain == spread
    assert not list(tmp_path.glob("*.parts"))


@pytest.mark.parametrize("name", FORMATS)
def test_a_folder_is_the_same_whatever_the_executor(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / name, rows(3000))
    scan(source, f"{tmp_path}/here/")
    scan(source, f"{tmp_path}/there/", Backwards())
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    parts = list((tmp_path / "here").glob("part-*"))
    assert len(parts) == 1 if name.endswith(".gz") else len(parts) > 2
    scan(source, tmp_path / "plain.parquet")
    plain = pq.read_table(tmp_path / "plain.parquet")
    assert len(plain) == 3000
    assert pq.read_table(tmp_path / "here").to_pylist() == plain.to_pylist()
    found = er.read_counts(tmp_path / "here", source=source)  # it says whether the hash is that of the file
    assert found.counts.tolist() == er.read_counts(tmp_path / "plain.parquet").counts.tolist()


@pytest.mark.parametrize("name", FORMATS)
def test_a_folder_of_files_gives_the_file_of_a_plain_scan(tmp_path: Path, name: str) -> None:
    shards = write_shards(tmp_path / "shards", name.removeprefix("c"), rows(3000))
    scan(shards, tmp_path / "plain.parquet")
    scan(shards, f"{tmp_path}/counts/")
    scan(shards, tmp_path / "spread.parquet", Backwards())
    assert contents(tmp_path / "plain.parquet") == contents(tmp_path / "spread.parquet")
    plain = pq.read_table(tmp_path / "plain.parquet")
    assert plain.column("id").to_pylist() == [key for key, _ in rows(3000)]
    assert pq.read_table(tmp_path / "counts").to_pylist() == plain.to_pylist()


def test_an_earlier_folder_gives_way_and_another_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    (tmp_path / "out").mkdir()
    scan(source, tmp_path / "out")
    scan(write(source, rows(100)), tmp_path / "out")
    assert len(er.read_counts(tmp_path / "out")) == 100
    assert list(contents(tmp_path / "out")) == ["_evenrank.json", "part-00000.parquet"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(DataError, match=r"other: .*something else in it"):
        scan(source, tmp_path / "other")
    assert list(contents(tmp_path / "other")) == ["thesis.tex"]
    before = source.read_bytes()
    with pytest.raises(DataError, match="is a file"):
        scan(source, f"{source}/")
    assert source.read_bytes() == before


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_finished_partitions_are_not_counted_again(tmp_path: Path, output: str) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    scan(source, f"{tmp_path}/whole-{output}", whole := InRounds())
    with pytest.raises(Stops):
        scan(source, f"{tmp_path}/{output}", InRounds(0, after=2))
    assert not (tmp_path / output).exists()
    summary = scan(source, f"{tmp_path}/{output}", again := InRounds())
    assert summary.found > 0
    assert again.rounds == [whole.rounds[0] - 2]
    assert contents(tmp_path / f"whole-{output}") == contents(tmp_path / output)
    assert not list(tmp_path.glob("*.parts"))


def test_a_file_that_changed_since_is_counted_again(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    with pytest.raises(Stops):
        scan(source, tmp_path / "out.parquet", InRounds(0, after=2))
    source.write_bytes(b"X" + source.read_bytes()[1:])
    scan(source, tmp_path / "out.parquet", again := InRounds())
    scan(source, tmp_path / "plain.parquet", whole := InRounds())
    assert again.rounds == whole.rounds
    assert contents(tmp_path / "out.parquet") == contents(tmp_path / "plain.parquet")


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_problems_name_the_file_and_the_line_and_what_is_sound_is_counted_once(
    tmp_path: Path, output: str
) -> None:
    shards = write_shards(tmp_path / "shards", ".tsv", rows(3000))
    for name, line in (("shard-1.tsv", 3), ("shard-5.tsv", 900)):
        lines = (shards / name).read_bytes().split(b"\n")
        lines[line - 1] = b"no tab here"
        (shards / name).write_bytes(b"\n".join(lines))
    with pytest.raises(DataError) as caught:
        scan(shards, f"{tmp_path}/{output}", first := Backwards())
    assert [line.partition(": ")[0] for line in str(caught.value).split("\n")] == [
        f"{shards}/shard-1.tsv:3", f"{shards}/shard-5.tsv:900",
    ]  # fmt: skip
    assert not (tmp_path / output).exists()
    for number in (1, 5):
        raw = (shards / f"shard-{number}.tsv").read_bytes()
        mended = f"m{number}\tmended..".encode()
        (shards / f"shard-{number}.tsv").write_bytes(raw.replace(b"no tab here", mended))
    summary = scan(shards, f"{tmp_path}/{output}", again := Backwards())
    assert 0 < len(again.done) < len(first.done)
    assert summary.found > 0
    assert not list(tmp_path.glob("*.parts"))


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_an_id_in_two_partitions_is_an_error_that_names_it_and_its_files(tmp_path: Path, output: str) -> None:
    documents = rows(3000)
    documents[2900] = ("d7", "he")
    source = write(tmp_path / "c.tsv", documents)
    with pytest.raises(DataError, match=r"c\.tsv: .*'d7'$"):
        scan(source, f"{tmp_path}/{output}", Backwards())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv"]
    shards = write_shards(tmp_path / "shards", ".tsv", documents)
    with pytest.raises(DataError, match=r"'d7' \(in .*shard-0.tsv and in .*shard-5.tsv\)$"):
        scan(shards, f"{tmp_path}/{output}", Backwards())
    assert not (tmp_path / output).exists()


def test_what_is_no_file_and_no_cluster_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", rows(3))
    with pytest.raises(ParameterError, match=r"documents: .*only files can be cut"):
        scan_file([("a", "he")], LEXICON, tmp_path / "o.parquet", on=Backwards())
    with pytest.raises(ParameterError, match=r"<stdin>: .*only files can be cut"):
        scan_file("-", LEXICON, f"{tmp_path}/folder/")
    for on in ("hadoop", "dask://machine"):
        with pytest.raises(ParameterError, match=f"dask://HOST:PORT.*{on}"):
            scan(source, tmp_path / "o.parquet", on)


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
    assert contents(tmp_path / "plain.parquet") == contents(tmp_path / "dask.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
@pytest.mark.parametrize("name", FORMATS)
def test_clusters_give_the_same_file_and_folder(
    tmp_path: Path, request: pytest.FixtureRequest, name: str, engine: str
) -> None:
    on = request.getfixturevalue(engine)
    source = write(tmp_path / name, rows(3000))
    for output in ("o.parquet", "o/"):
        scan(source, f"{tmp_path}/plain-{output}")
        scan(source, f"{tmp_path}/{output}", on)
        assert contents(tmp_path / f"plain-{output}") == contents(tmp_path / output)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
def test_clusters_find_bad_lines_and_repeated_ids(
    tmp_path: Path, request: pytest.FixtureRequest, engine: str
) -> None:
    on = request.getfixturevalue(engine)
    documents = rows(3000)
    documents[2900] = ("d7", "he")
    source = write(tmp_path / "c.tsv", documents)
    with pytest.raises(DataError, match=r"'d7'$"):
        scan(source, f"{tmp_path}/out/", on)
    lines = source.read_bytes().split(b"\n")
    lines[3] = lines[2500] = b"no tab here"
    source.write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match=r"c.tsv:4: .*\n.*c.tsv:2501: "):
        scan(source, f"{tmp_path}/out/", on)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv"]
