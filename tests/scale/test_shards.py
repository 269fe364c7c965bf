"""Many files as one collection: the same counts as without a cluster, and errors that name the file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from backwards import Backwards
from collections_in_formats import FORMATS, rows, write

from evenrank import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan import scan_file
from evenrank.io.counts_folder import read_counts_folder

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 15}


def write_shards(folder: Path, suffix: str, documents: list[tuple[str, str]]) -> Path:
    """Small ones that share a partition, and large ones that are cut."""
    folder.mkdir()
    edges = [0, 20, 40, 60, 1500, 1520, len(documents)]
    for number, (begin, end) in enumerate(pairwise(edges)):
        write(folder / f"shard-{number}{suffix}", documents[begin:end])
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_a_folder_of_files_gives_the_file_of_a_plain_scan(tmp_path: Path, name: str) -> None:
    suffix = name.removeprefix("c")
    shards = write_shards(tmp_path / "shards", suffix, rows(3000))
    scan_file(str(shards), LEXICON, tmp_path / "plain.parquet", **SIZES)
    with_threads = f"{tmp_path}/counts/"
    scan_file(str(shards), LEXICON, with_threads, threads=2, **SIZES)
    scan_file(str(shards), LEXICON, tmp_path / "spread.parquet", on=Backwards(), **SIZES)
    assert (tmp_path / "plain.parquet").read_bytes() == (tmp_path / "spread.parquet").read_bytes()
    folder = read_counts_folder(with_threads)
    assert folder.rows == 3000
    assert len(folder.source["files"]) == 6
    table = pq.read_table(with_threads)
    assert table.to_pylist() == pq.read_table(tmp_path / "plain.parquet").to_pylist()


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_problems_name_the_file_and_the_line(tmp_path: Path, output: str) -> None:
    shards = write_shards(tmp_path / "shards", ".tsv", rows(3000))
    for name, line in (("shard-1.tsv", 3), ("shard-5.tsv", 900)):
        lines = (shards / name).read_bytes().split(b"\n")
        lines[line - 1] = b"no tab here"
        (shards / name).write_bytes(b"\n".join(lines))
    with pytest.raises(DataError) as caught:
        scan_file(str(shards), LEXICON, f"{tmp_path}/{output}", on=Backwards(), **SIZES)
    assert [line.partition(": ")[0] for line in str(caught.value).split("\n")] == [
        f"{shards}/shard-1.tsv:3", f"{shards}/shard-5.tsv:900",
    ]  # fmt: skip
    assert not (tmp_path / output).exists()
    # what was counted of other files is not counted again when these are mended
    write_mended(shards)
    again = Backwards()
    summary = scan_file(str(shards), LEXICON, f"{tmp_path}/{output}", on=again, **SIZES)
    assert 0 < len(again.done) < 4
    assert summary.found > 0
    assert not list(tmp_path.glob("*.parts"))


def write_mended(shards: Path) -> None:
    for name in ("shard-1.tsv", "shard-5.tsv"):
        raw = (shards / name).read_bytes()
        mended = f"m{name[6]}\tmended..".encode()
        (shards / name).write_bytes(raw.replace(b"no tab here", mended))


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_an_id_in_two_files_is_said_to_be_in_both(tmp_path: Path, output: str) -> None:
    documents = rows(3000)
    documents[2900] = ("d7", "he")
    shards = write_shards(tmp_path / "shards", ".tsv", documents)
    with pytest.raises(DataError, match=r"'d7' \(in .*shard-0.tsv and in .*shard-5.tsv\)$"):
        scan_file(str(shards), LEXICON, f"{tmp_path}/{output}", on=Backwards(), **SIZES)
