"""The same swapped collection from a cluster as from this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from backwards import Backwards
from collections_in_formats import FORMATS, rows, write

from evenrank.counterfactuals.swap.files import swap_file
from evenrank.errors import DataError

SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 15, "tagger": "rules"}
OUTPUTS = ("o.tsv", "o.jsonl", "o.parquet")


@pytest.mark.parametrize(
    ("name", "output"),
    [("c.tsv", "o.tsv"), ("c.jsonl", "o.jsonl"), ("c.jsonl.gz", "o.jsonl"), ("c.parquet", "o.parquet")],
)
def test_partitions_joined_are_the_file_of_a_plain_swap(tmp_path: Path, name: str, output: str) -> None:
    source = write(tmp_path / name, rows(1500))
    plain = swap_file(source, tmp_path / output, "gender-en", threads=1, **SIZES)
    spread = swap_file(source, tmp_path / f"spread-{output}", "gender-en", on=Backwards(), **SIZES)
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
    plain = swap_file(str(shards), tmp_path / "o.jsonl", "gender-en", threads=1, **SIZES)
    spread = swap_file(str(shards), tmp_path / "spread.jsonl", "gender-en", on=Backwards(), **SIZES)
    assert (tmp_path / "o.jsonl").read_bytes() == (tmp_path / "spread.jsonl").read_bytes()
    assert plain.to_dict() == spread.to_dict()
    for number in (0, 2):
        with (shards / f"s{number}.tsv").open("ab") as file:
            file.write(b"no tab here\n")
    with pytest.raises(DataError, match=r"s0.tsv:501: no tab.*\n.*s2.tsv:501: no tab"):
        swap_file(str(shards), tmp_path / "spread.jsonl", "gender-en", on=Backwards(), **SIZES)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("name", FORMATS)
def test_clusters_swap_as_this_machine_does(
    tmp_path: Path, request: pytest.FixtureRequest, name: str, output: str, engine: str
) -> None:
    on = request.getfixturevalue(engine)
    source = write(tmp_path / name, rows(1500))
    plain = swap_file(source, tmp_path / output, "gender-en", threads=1, **SIZES)
    spread = swap_file(source, tmp_path / f"spread-{output}", "gender-en", on=on, **SIZES)
    assert (tmp_path / output).read_bytes() == (tmp_path / f"spread-{output}").read_bytes()
    assert plain.to_dict() == spread.to_dict()
