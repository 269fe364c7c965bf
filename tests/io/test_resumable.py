"""Work that was interrupted goes on from its finished parts, and touches only what this package made.

The parts lie in a folder beside the output.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from evenrank import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan import scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})


class Stop(Exception):
    """Something goes wrong in the middle."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "c.tsv"
    path.write_text("".join(f"{number:03}\the and she {number:03}\n" for number in range(100)))
    return path


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "o.parquet"


def scanned(source: Path, output: Path, **options: Any) -> Any:
    """The summary: how many documents, and how many pieces were found finished."""
    return scan_file(source, LEXICON, output, threads=1, block_bytes=64, partition_bytes=64, **options)


def parts_of(output: Path) -> Path:
    return output.with_name(output.name + ".parts")


def interrupted(source: Path, output: Path) -> Path:
    """The folder of a scan that ended after its second part."""
    told: list[int] = []

    def stop(done: int, *_: object) -> None:
        told.append(done)
        if len(told) > 2:
            raise Stop

    with pytest.raises(Stop):
        scanned(source, output, progress=stop)
    return parts_of(output)


def check_whole(source: Path, output: Path) -> None:
    """As if it had never been interrupted, and nothing is left."""
    whole = output.with_name(f"whole-{output.name}")
    scanned(source, whole)
    assert output.read_bytes() == whole.read_bytes()
    assert not parts_of(output).exists()


def test_a_folder_of_the_users_is_refused(source: Path, output: Path) -> None:
    folder = parts_of(output)
    for name in ("notes.txt", "journal", "settings.json", "lock", "output"):
        folder.mkdir()
        (folder / name).write_bytes(b"mine")
        with pytest.raises(DataError, match=rf"\.parts: .*{name}"):
            scanned(source, output)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: b"mine"}
        (folder / name).unlink()
        folder.rmdir()
    assert not output.exists()


def test_a_link_or_a_file_in_its_place_is_refused(source: Path, output: Path, tmp_path: Path) -> None:
    mine, folder = tmp_path / "mine", parts_of(output)
    mine.mkdir()
    folder.symlink_to(mine)
    with pytest.raises(DataError, match=r"\.parts: is a link"):
        scanned(source, output)
    (mine / "lock").write_bytes(b"evenrank scan\n")  # even if it looks like ours
    with pytest.raises(DataError, match=r"\.parts: is a link"):
        scanned(source, output)
    folder.unlink()
    folder.write_text("a file")
    with pytest.raises(DataError, match=r"\.parts: "):
        scanned(source, output)
    assert folder.read_text() == "a file"


def test_a_link_inside_is_refused(source: Path, output: Path, tmp_path: Path) -> None:
    folder = interrupted(source, output)
    (tmp_path / "mine").write_bytes(b"mine")
    for part in sorted(folder.iterdir()):
        content = part.read_bytes()
        part.unlink()
        part.symlink_to(tmp_path / "mine")
        with pytest.raises(DataError) as caught:
            scanned(source, output)
        assert part.name in str(caught.value)
        assert (tmp_path / "mine").read_bytes() == b"mine"
        part.unlink()
        part.write_bytes(content)
    assert scanned(source, output).found == 2
    check_whole(source, output)


def test_a_file_of_the_users_inside_survives(source: Path, output: Path) -> None:
    folder = interrupted(source, output)
    (folder / "notes.txt").write_bytes(b"mine")
    with pytest.raises(DataError) as caught:
        scanned(source, output)
    assert "notes.txt" in str(caught.value)
    assert (folder / "notes.txt").read_bytes() == b"mine"
    (folder / "notes.txt").unlink()
    assert scanned(source, output).found == 2
    check_whole(source, output)


def test_what_a_killed_process_left_is_no_obstacle(source: Path, output: Path) -> None:
    folder = interrupted(source, output)
    for part in [*folder.iterdir()]:
        (folder / f".{part.name}.evenrank-0.tmp").write_bytes(b"half")
    (folder / "output-0a1b").write_bytes(b"half")
    assert scanned(source, output).found == 2
    check_whole(source, output)


def test_a_source_that_changed_begins_anew(source: Path, output: Path) -> None:
    interrupted(source, output)
    content = source.read_bytes()
    source.write_bytes(content.replace(b"he and she 090", b"we and she 090"))
    assert scanned(source, output).found == 0
    check_whole(source, output)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_source_that_changes_while_it_is_read(source: Path, output: Path, replaced: bool) -> None:
    """Written to, or replaced by another file of the same size and time."""
    before, changed = source.stat(), list[bool]()

    def change(*_: object) -> None:
        other = source.with_name("other")
        if replaced and not changed:  # a second one may get the first one's number from the file system
            changed.append(True)
            other.write_bytes(source.read_bytes())
            os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
            other.replace(source)
        elif not replaced:
            with source.open("r+b") as file:
                file.write(b"9")
            os.utime(source, ns=(1, 1))

    with pytest.raises(DataError, match=r"c\.tsv"):
        scanned(source, output, progress=change)
    assert not output.exists()
