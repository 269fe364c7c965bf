"""The folder beside the output: only what this package made is used, changed or removed."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from evenrank import Lexicon
from evenrank.counterfactuals.swap.files import swap_file
from evenrank.errors import DataError, EvenrankWarning
from evenrank.evidence.scan import scan_file
from evenrank.io import resumable
from evenrank.io.resumable import Resumable, Stamp

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})


def scanned(source: Path, output: Path, **options: Any) -> Any:
    return scan_file(source, LEXICON, output, block_bytes=64, threads=1, **options)


def swapped(source: Path, output: Path, **options: Any) -> Any:
    return swap_file(source, output, tagger="rules", block_bytes=64, threads=1, **options)


WORK = {"scan": (scanned, "o.parquet"), "swap": (swapped, "o.tsv")}


class Stop(Exception):
    """Something goes wrong in the middle."""


def stop(*_: object) -> None:
    raise Stop


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "c.tsv"
    path.write_text("".join(f"{number:03}\the and she {number:03}\n" for number in range(100)))
    return path


@pytest.fixture(params=["scan", "swap"])
def work(request: pytest.FixtureRequest, source: Path) -> tuple[Any, Path]:
    function, name = WORK[request.param]
    return function, source.with_name(name)


def interrupted(work: tuple[Any, Path], source: Path) -> Path:
    function, output = work
    with pytest.raises(Stop):
        function(source, output, progress=stop)
    return output.with_name(output.name + ".parts")


def test_a_folder_of_the_users_is_refused(work: tuple[Any, Path], source: Path) -> None:
    function, output = work
    folder = output.with_name(output.name + ".parts")
    for name in ("notes.txt", "journal", "settings.json", "lock", "output"):
        folder.mkdir()
        (folder / name).write_bytes(b"mine")
        with pytest.raises(DataError, match=r"parts: was not made by evenrank .*: move it away, or"):
            function(source, output)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: b"mine"}
        (folder / name).unlink()
        folder.rmdir()
    assert not output.exists()


def test_a_link_is_refused(work: tuple[Any, Path], source: Path, tmp_path: Path) -> None:
    function, output = work
    mine = tmp_path / "mine"
    mine.mkdir()
    folder = output.with_name(output.name + ".parts")
    folder.symlink_to(mine)
    with pytest.raises(DataError, match=r"\.parts: is a link"):
        function(source, output)
    (mine / "lock").write_bytes(b"evenrank scan\n")  # even if it looks like ours
    with pytest.raises(DataError, match=r"\.parts: is a link"):
        function(source, output)
    folder.unlink()
    folder.write_text("a file")
    with pytest.raises(DataError, match=r"\.parts: is in the way"):
        function(source, output)
    assert folder.read_text() == "a file"


@pytest.mark.parametrize("name", ["journal", "settings.json", "output"])
def test_a_link_inside_is_refused(name: str, work: tuple[Any, Path], source: Path, tmp_path: Path) -> None:
    folder = interrupted(work, source)
    (tmp_path / "mine").write_bytes(b"mine")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "mine")
    with pytest.raises(DataError, match=rf"parts/{name}: is not a plain file, .*: move it away"):
        work[0](source, work[1])
    assert (tmp_path / "mine").read_bytes() == b"mine"


def test_files_of_the_users_inside_survive(work: tuple[Any, Path], source: Path) -> None:
    function, output = work
    folder = interrupted(work, source)
    (folder / "notes.txt").write_bytes(b"mine")
    (folder / ".settings.json.evenrank-0.tmp").write_bytes(b"left by a process that was killed")
    for _ in range(2):  # the folder keeps its mark, so that the same command works again
        with pytest.warns(EvenrankWarning, match=r"was left where it is, because it holds 'notes.txt'"):
            assert function(source, output).documents == 100
        assert sorted(path.name for path in folder.iterdir()) == ["lock", "notes.txt"]
        assert (folder / "notes.txt").read_bytes() == b"mine"


def test_a_process_killed_in_its_first_moments_leaves_no_obstacle(
    work: tuple[Any, Path], source: Path
) -> None:
    function, output = work
    folder = output.with_name(output.name + ".parts")
    folder.mkdir()
    function(source, output)
    folder.mkdir()
    (folder / "lock").touch()
    function(source, output)
    assert not folder.exists()


@pytest.mark.parametrize("content", [None, b"", b"ewenrank"])
def test_a_damaged_lock_is_no_obstacle(content: bytes | None, work: tuple[Any, Path], source: Path) -> None:
    """The journal shows too who made the folder."""
    folder = interrupted(work, source)
    (folder / "lock").unlink()
    if content is not None:
        (folder / "lock").write_bytes(content)
    assert work[0](source, work[1]).found >= 1
    assert not folder.exists()


@pytest.mark.parametrize("restored", [False, True])
def test_a_source_that_changed_but_kept_its_size(
    restored: bool, work: tuple[Any, Path], source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One byte far from the sixteen samples; ``restored``: even the time of the file is what it was."""
    monkeypatch.setattr("evenrank.io.fingerprint._SAMPLE", 4)
    function, output = work
    interrupted(work, source)
    before = source.stat()
    content = bytearray(source.read_bytes())
    place = content.index(b"he and she 001")
    content[place : place + 2] = b"we"
    source.write_bytes(content)
    if restored:
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.warns(EvenrankWarning, match="starting anew, because the source has changed since"):
        assert function(source, output).found == 0
    whole = tmp_path / f"whole{output.suffix}"
    function(source, whole)
    assert output.read_bytes() == whole.read_bytes()


def test_a_source_that_was_only_touched_is_gone_on_with(work: tuple[Any, Path], source: Path) -> None:
    function, output = work
    interrupted(work, source)
    os.utime(source, ns=(1, 1))
    assert function(source, output).found >= 1


def test_a_source_that_changes_while_it_is_read(work: tuple[Any, Path], source: Path) -> None:
    function, output = work

    def change(done: int, total: int | None, unit: str) -> None:
        with source.open("r+b") as file:
            file.write(b"9")
        os.utime(source, ns=(1, 1))

    with pytest.raises(DataError, match=r"c\.tsv: was changed while it was read: give the same"):
        function(source, output, progress=change)
    assert not output.exists()


def test_who_writes_is_named(source: Path, tmp_path: Path) -> None:
    for work, other in (("swap", "scan"), ("scan", "swap")):
        function, name = WORK[other]
        holding = Resumable(tmp_path / name, work, {}, resume=False)
        with pytest.raises(DataError, match=rf"{name}: another {work} is writing it: wait for its end, or"):
            function(source, tmp_path / name)
        holding.remove()


def test_a_lock_that_was_removed_meanwhile_is_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder vanishes between the opening of its lock and the locking, as when another process ends."""
    real, turns = resumable._is_at, []

    def vanish(descriptor: int, path: Path) -> bool:
        if not turns:
            turns.append(path)
            path.unlink()
            path.parent.rmdir()
        return real(descriptor, path)

    monkeypatch.setattr(resumable, "_is_at", vanish)
    parts = Resumable(tmp_path / "o", "scan", {}, resume=False)
    assert (parts.folder / "lock").read_bytes() == b"evenrank scan\n"
    parts.remove()


def test_damaged_settings_start_anew(work: tuple[Any, Path], source: Path) -> None:
    function, output = work
    folder = interrupted(work, source)
    for content in (b"{", b"[]", b"\xff", b"[" * 100_000):
        (folder / "settings.json").write_bytes(content)
        with pytest.warns(EvenrankWarning, match=r"starting anew, because .*settings\.json is damaged"):
            function(source, output)
        interrupted(work, source)


def test_the_journal_of_another_work_is_not_used(source: Path, tmp_path: Path) -> None:
    """Sound frames, but of other settings: they would be other counts."""
    kin = Lexicon.build("kin", {"left": ["and"], "right": ["she"]})
    for name, lexicon in (("a.parquet", LEXICON), ("b.parquet", kin)):
        with pytest.raises(Stop):
            scan_file(source, lexicon, tmp_path / name, block_bytes=64, threads=1, progress=stop)
    journal = (tmp_path / "a.parquet.parts/journal").read_bytes()
    (tmp_path / "b.parquet.parts/journal").write_bytes(journal)
    with pytest.warns(EvenrankWarning, match=r"journal: is damaged: starting anew$"):
        assert scan_file(source, kin, tmp_path / "b.parquet", block_bytes=64, threads=1).found == 0


def test_what_is_kept_says_what_it_was_made_from(source: Path, tmp_path: Path) -> None:
    folder = interrupted((scanned, tmp_path / "o.parquet"), source)
    kept = json.loads((folder / "settings.json").read_bytes())
    status = source.stat()
    assert kept["stamp"][:3] == [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    assert kept["work"] == "scan"


def test_pieces_of_a_changed_source_that_cannot_be_checked_are_not_used(tmp_path: Path) -> None:
    batch = pa.record_batch({"x": [1]})
    first = Resumable(tmp_path / "o", "scan", {}, resume=True, stamp=Stamp(1, 1, 1, 1, 1))
    first.save(0, batch)
    first.close()
    again = Resumable(tmp_path / "o", "scan", {}, resume=True, stamp=Stamp(1, 1, 1, 1, 1))
    assert set(again.finished) == {0}
    again.close()
    with pytest.warns(EvenrankWarning, match="starting anew, because the source has changed"):
        other = Resumable(tmp_path / "o", "scan", {}, resume=True, stamp=Stamp(1, 2, 1, 1, 1))
    assert not other.finished
    kept = json.loads((other.folder / "settings.json").read_text())
    assert kept["stamp"] == [1, 2, 1, 1, 1]  # or everything would be checked again the next time
    other.remove()


def test_an_error_of_the_system_names_the_output_unless_it_is_about_another_file(tmp_path: Path) -> None:
    work = Resumable(tmp_path / "o", "scan", {}, resume=False)
    for name, said in (
        (None, f"{tmp_path / 'o'}"),
        (os.fspath(work.folder / "journal"), f"{tmp_path / 'o'}"),
        ("source.tsv", "source.tsv"),
    ):
        with pytest.raises(OSError, match="No space left") as caught, work.naming_the_output():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        assert caught.value.filename == said
        assert ("once there is room" in str(caught.value)) == (name != "source.tsv")
    work.remove()
