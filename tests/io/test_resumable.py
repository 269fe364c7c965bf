"""Work that was interrupted goes on from its finished pieces, and touches only what this package made.

The pieces lie in a folder beside the output.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import warnings
from pathlib import Path
from typing import Any

import pytest

from evenrank import Lexicon
from evenrank.errors import DataError, EvenrankWarning
from evenrank.evidence.scan import scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})


class Stop(Exception):
    """Something goes wrong in the middle."""


def stop(*_: object) -> None:
    raise Stop


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "c.tsv"
    path.write_text("".join(f"{number:03}\the and she {number:03}\n" for number in range(100)))
    return path


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "o.parquet"


def scanned(source: Path, output: Path, *, lexicon: Lexicon = LEXICON, **options: Any) -> Any:
    """The summary: how many documents, and how many pieces were found finished."""
    return scan_file(source, lexicon, output, threads=1, **{"block_bytes": 64, **options})


def quietly(source: Path, output: Path, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", EvenrankWarning)
        return scanned(source, output, **options)


def parts_of(output: Path) -> Path:
    return output.with_name(output.name + ".parts")


def interrupted(source: Path, output: Path, **options: Any) -> Path:
    """The folder of a scan that ended after its first piece."""
    with pytest.raises(Stop):
        scanned(source, output, progress=stop, **options)
    return parts_of(output)


def check_whole(source: Path, output: Path, **options: Any) -> None:
    """As if it had never been interrupted, and nothing is left."""
    whole = output.with_name(f"whole-{output.name}")
    scanned(source, whole, **options)
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
    for name in ("journal", "settings.json", "output"):
        folder = interrupted(source, output)
        (tmp_path / "mine").write_bytes(b"mine")
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(tmp_path / "mine")
        with pytest.raises(DataError, match=f"parts/{name}"):
            scanned(source, output)
        assert (tmp_path / "mine").read_bytes() == b"mine"
        (folder / name).unlink()


def test_files_of_the_users_inside_survive(source: Path, output: Path) -> None:
    folder = interrupted(source, output)
    (folder / "notes.txt").write_bytes(b"mine")
    (folder / ".settings.json.evenrank-0.tmp").write_bytes(b"left by a process that was killed")
    for _ in range(2):  # the folder keeps its mark, so that the same command works again
        with pytest.warns(EvenrankWarning, match=r"notes\.txt"):
            assert scanned(source, output).documents == 100
        assert sorted(path.name for path in folder.iterdir()) == ["lock", "notes.txt"]
        assert (folder / "notes.txt").read_bytes() == b"mine"


def test_a_process_killed_in_its_first_moments_leaves_no_obstacle(source: Path, output: Path) -> None:
    folder = parts_of(output)
    for lock in (False, True):
        folder.mkdir()
        if lock:
            (folder / "lock").touch()
        quietly(source, output)
        assert not folder.exists()


@pytest.mark.parametrize("content", [None, b"", b"ewenrank"])
def test_a_damaged_lock_is_no_obstacle(content: bytes | None, source: Path, output: Path) -> None:
    """The journal shows too who made the folder."""
    folder = interrupted(source, output)
    (folder / "lock").unlink()
    if content is not None:
        (folder / "lock").write_bytes(content)
    assert quietly(source, output).found >= 1
    assert not folder.exists()


@pytest.mark.parametrize("restored", [False, True])
def test_a_source_that_changed_in_one_byte(
    restored: bool, source: Path, output: Path, tmp_path: Path
) -> None:
    """Far from what samples of a file see; ``restored``: even the time of the file is what it was."""
    source.write_text("".join(f"{number:06}\the and she {number:06}\n" for number in range(80_000)))
    interrupted(source, output, block_bytes=1 << 18)
    before = source.stat()
    content = bytearray(source.read_bytes())
    place = content.index(b"he and she 003500")
    content[place : place + 2] = b"we"
    source.write_bytes(content)
    if restored:
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.warns(EvenrankWarning, match="source has changed"):
        assert scanned(source, output, block_bytes=1 << 18).found == 0
    check_whole(source, output, block_bytes=1 << 18)


def test_a_source_that_was_only_touched_is_gone_on_with(source: Path, output: Path) -> None:
    interrupted(source, output)
    os.utime(source, ns=(1, 1))
    kept = interrupted(source, output) / "settings.json"
    assert json.loads(kept.read_bytes())["stamp"][1] == 1  # or all would be looked at the next time, too
    assert quietly(source, output).found >= 1
    check_whole(source, output)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_source_that_changes_while_it_is_read(source: Path, output: Path, replaced: bool) -> None:
    """Written to, or replaced by another file of the same size and time."""
    before = source.stat()

    def change(*_: object) -> None:
        if replaced:
            other = source.with_name("other")
            other.write_bytes(source.read_bytes())
            os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
            other.replace(source)
        else:
            with source.open("r+b") as file:
                file.write(b"9")
            os.utime(source, ns=(1, 1))

    with pytest.raises(DataError, match=r"c\.tsv"):
        scanned(source, output, progress=change)
    assert not output.exists()


def test_two_cannot_write_the_same_output(source: Path, output: Path) -> None:
    refused = []

    def second(*_: object) -> None:
        if not refused:
            with pytest.raises(DataError, match=r"o\.parquet: another scan") as caught:
                scanned(source, output)
            refused.append(caught.value)

    assert scanned(source, output, progress=second).documents == 100
    assert len(refused) == 1
    check_whole(source, output)


def test_a_lock_that_was_removed_meanwhile_is_taken_anew(
    source: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder vanishes between the opening of its lock and the locking, as when another process ends."""
    usual, turns = fcntl.flock, []

    def vanish(descriptor: int, how: int) -> None:
        if not turns:
            turns.append(how)
            (parts_of(output) / "lock").unlink()
            parts_of(output).rmdir()
        usual(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", vanish)
    assert quietly(source, output).documents == 100
    assert turns
    monkeypatch.undo()
    check_whole(source, output)


def test_damaged_settings_start_anew(source: Path, output: Path) -> None:
    for content in (b"{", b"[]", b"\xff", b"[" * 100_000):
        (interrupted(source, output) / "settings.json").write_bytes(content)
        with pytest.warns(EvenrankWarning, match=r"settings\.json"):
            assert scanned(source, output).found == 0
        check_whole(source, output)


def test_other_settings_start_anew(source: Path, output: Path) -> None:
    kin = Lexicon.build("kin", {"left": ["and"], "right": ["she"]})
    interrupted(source, output)
    with pytest.warns(EvenrankWarning, match=r"o\.parquet"):
        assert scanned(source, output, lexicon=kin).found == 0
    check_whole(source, output, lexicon=kin)
    interrupted(source, output)
    assert quietly(source, output, resume=False).found == 0


def test_the_pieces_of_another_work_are_not_used(source: Path, tmp_path: Path) -> None:
    """Sound frames, but of other settings: they would be other counts."""
    kin = Lexicon.build("kin", {"left": ["and"], "right": ["she"]})
    one = interrupted(source, tmp_path / "a.parquet")
    other = interrupted(source, tmp_path / "b.parquet", lexicon=kin)
    (other / "journal").write_bytes((one / "journal").read_bytes())
    with pytest.warns(EvenrankWarning, match="journal"):
        assert scanned(source, tmp_path / "b.parquet", lexicon=kin).found == 0
    check_whole(source, tmp_path / "b.parquet", lexicon=kin)


def journal_of_many(source: Path, output: Path) -> Path:
    """The pieces of a scan that ended when half of them were finished."""
    pieces = []

    def late(*_: object) -> None:
        pieces.append(1)
        if len(pieces) > 10:
            raise Stop

    with pytest.raises(Stop):
        scanned(source, output, progress=late)
    return parts_of(output) / "journal"


def test_a_piece_that_was_cut_short_is_made_again_without_a_word(source: Path, output: Path) -> None:
    """As a kill leaves it: any part of the last one may be there."""
    journal = journal_of_many(source, output)
    content, settings = journal.read_bytes(), (journal.parent / "settings.json").read_bytes()
    size = len(content)
    everything = quietly(source, output).found
    for left in (size - 1, size - 40, size - 300, 5, 1, 0):
        interrupted(source, output)
        journal.write_bytes(content[:left])
        (journal.parent / "settings.json").write_bytes(settings)
        assert quietly(source, output).found < everything
        check_whole(source, output)


@pytest.mark.parametrize(("tail", "damaged"), [(b"evr", 0), (b"evr2", 0), (b"x", 1), (b"evil" * 20, 1)])
def test_damage_behind_sound_pieces_is_told_from_a_cut(
    tail: bytes, damaged: int, source: Path, output: Path
) -> None:
    journal = journal_of_many(source, output)
    journal.write_bytes(journal.read_bytes() + tail)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = scanned(source, output).found
    assert found >= 9
    assert [("journal" in str(one.message)) for one in said] == [True] * damaged
    check_whole(source, output)


def test_damage_within_a_piece_ends_what_is_used(source: Path, output: Path) -> None:
    journal = journal_of_many(source, output)
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 1
    journal.write_bytes(content)
    with pytest.warns(EvenrankWarning, match="journal"):
        assert 0 < scanned(source, output).found < 9
    check_whole(source, output)


def test_a_full_disk_loses_no_finished_piece(source: Path, output: Path) -> None:
    """A file may not grow beyond some pieces: the error is about the output, half a piece is taken away."""
    size = len(journal_of_many(source, output).read_bytes())
    process = os.fork()
    if not process:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, size + 100))
        try:
            scanned(source, output)
        except OSError as error:
            os._exit(7 if error.filename == str(output) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
    assert not output.exists()
    assert (parts_of(output) / "journal").stat().st_size == size
    assert quietly(source, output).found >= 9
    check_whole(source, output)
