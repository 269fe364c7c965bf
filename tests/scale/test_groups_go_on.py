"""Groups of documents by their words, killed, damaged and out of disk: nothing is lost or wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from backwards import InRounds, Stops
from collections_in_formats import rows, write
from full_disk import FullDisk

from evenrank import DataError, Lexicon, Membership, read_groups, scan
from evenrank.errors import DiskError
from evenrank.evidence.scan import derive_groups, scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]}, targets={"left": 0.25, "right": 0.75})


def derive(source: Path, output: Path | str, on: Any = None, **options: Any) -> Any:
    sizes: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 15, **options}
    return derive_groups(source, output, LEXICON, on=on, **sizes)


def is_that_of_the_words(output: Path, source: Path, minimum: int = 1) -> bool:
    expected = Membership.from_words(scan(source, LEXICON), "side", minimum=minimum)
    found = read_groups(output, "side")
    return found.fingerprint == expected.fingerprint and found.attribute.target == expected.attribute.target


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(path.iterdir())
    return {"" if file == path else file.name: file.read_bytes() for file in files}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "c.tsv", rows(2000))


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
def test_a_command_that_was_killed_goes_on(tmp_path: Path, source: Path, output: str) -> None:
    with pytest.raises(Stops):
        derive(source, f"{tmp_path}/{output}", InRounds(0, after=2))
    assert not (tmp_path / output).exists()
    derive(source, f"{tmp_path}/whole-{output}", whole := InRounds())
    derive(source, f"{tmp_path}/{output}", again := InRounds())
    assert again.rounds == [whole.rounds[0] - 2]
    assert contents(tmp_path / output) == contents(tmp_path / f"whole-{output}")
    assert names(tmp_path) == ["c.tsv", output.rstrip("/"), f"whole-{output.rstrip('/')}"]


def test_counts_of_a_file_that_changed_are_not_used(tmp_path: Path, source: Path) -> None:
    with pytest.raises(Stops):
        derive(source, tmp_path / "g.parquet", InRounds(0, after=1))
    write(source, rows(1500))
    derive(source, tmp_path / "g.parquet", InRounds())
    assert is_that_of_the_words(tmp_path / "g.parquet", source)
    assert names(tmp_path) == ["c.tsv", "g.parquet"]


def test_another_folder_is_not_replaced_and_a_damaged_one_not_read(tmp_path: Path, source: Path) -> None:
    scan_file(source, LEXICON, f"{tmp_path}/counts/")
    before = contents(tmp_path / "counts")
    with pytest.raises(DataError, match=r"counts: holds word counts, not groups"):
        derive(source, tmp_path / "counts")
    assert contents(tmp_path / "counts") == before
    derive(source, f"{tmp_path}/g/")
    derive(source, f"{tmp_path}/g/", minimum=2)
    assert is_that_of_the_words(tmp_path / "g", source, 2)
    (tmp_path / "g" / "part-00000.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"part-00000\.parquet"):
        read_groups(tmp_path / "g", "side")


def test_nothing_of_the_user_is_deleted_with_groups(tmp_path: Path, source: Path) -> None:
    derive(source, f"{tmp_path}/g/")
    (tmp_path / "g" / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"'notes.txt'"):
        derive(source, f"{tmp_path}/g/")
    assert (tmp_path / "g" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
def test_what_is_in_the_way_of_the_parts_is_named_and_kept(tmp_path: Path, source: Path, output: str) -> None:
    in_the_way = tmp_path / f"{output.rstrip('/')}.parts"
    in_the_way.write_text("mine")
    with pytest.raises(DataError, match=rf"^{in_the_way}: "):
        derive(source, f"{tmp_path}/{output}", InRounds())
    assert in_the_way.read_text() == "mine"
    in_the_way.unlink()
    derive(source, f"{tmp_path}/{output}", InRounds())
    assert is_that_of_the_words(tmp_path / output, source)


def test_what_is_finished_is_kept_where_the_disk_is_full(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "g.parquet"
    derive(source, tmp_path / "whole.parquet", whole := InRounds())
    with monkeypatch.context() as patch:
        disk = FullDisk(patch)
        disk.name, disk.times = r"/g\.parquet\.parts/\.?part-00001-", 99
        with pytest.raises(DiskError, match="No space left on device"):
            derive(source, output, InRounds())
    assert not output.exists()
    derive(source, output, again := InRounds())
    assert again.rounds == [whole.rounds[0] - 1]
