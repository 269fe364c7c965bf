"""Folders that are whole or not there."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from evenrank.errors import DataError, ParameterError
from evenrank.io import folders
from evenrank.io.folders import check_new_folder, recover_folder, whole_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_nothing_is_there_until_all_is(tmp_path: Path) -> None:
    target = tmp_path / "new" / "draws"
    with whole_folder(target) as folder:
        (folder / "1").touch()
        assert not target.exists()
    assert names(target) == ["1"]
    assert names(target.parent) == ["draws"]
    with pytest.raises(KeyError), whole_folder(tmp_path / "other") as folder:
        {}[(folder / "1").touch()]
    assert names(tmp_path) == ["new"]


def test_of_two_writers_one_gets_an_error(tmp_path: Path) -> None:
    target = tmp_path / "draws"
    with whole_folder(target) as folder:
        (folder / "1").touch()
        with (
            pytest.raises(DataError, match="draws: another process is writing it"),
            whole_folder(target),
        ):
            pytest.fail("both are writing")
    target.rename(tmp_path / "first")
    with (
        pytest.raises(DataError, match="draws: another process wrote this folder in the meantime"),
        whole_folder(target),
    ):
        (tmp_path / "first").rename(target)  # somebody else was quicker
    assert names(target) == ["1"]
    assert names(tmp_path) == ["draws"]


def test_a_folder_that_was_there_is_not_said_to_be_new(tmp_path: Path) -> None:
    check_new_folder(tmp_path / "draws")
    (tmp_path / "draws").mkdir()
    check_new_folder(tmp_path / "draws")
    (tmp_path / "draws/1").touch()
    for place in (tmp_path / "draws", tmp_path / "draws/1"):
        with pytest.raises(DataError, match=f"^{place}: exists already and is kept: choose another name"):
            check_new_folder(place)
        with pytest.raises(DataError, match=f"^{place}: exists already and is kept"), whole_folder(place):
            pass
    assert names(tmp_path) == ["draws"]
    assert names(tmp_path / "draws") == ["1"]


def test_an_empty_folder_gives_way(tmp_path: Path) -> None:
    (tmp_path / "draws").mkdir()
    with whole_folder(tmp_path / "draws") as folder:
        (folder / "1").touch()
    assert names(tmp_path / "draws") == ["1"]


def test_what_a_killed_process_left_is_cleaned_up(tmp_path: Path) -> None:
    process = os.fork()
    if not process:
        with whole_folder(tmp_path / "draws") as folder:
            (folder / "1").touch()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)
    assert names(tmp_path) == [".draws.evenrank-new"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").touch()
    (tmp_path / ".draws.evenrank-new/link").symlink_to(tmp_path / "mine")
    with whole_folder(tmp_path / "draws") as folder:
        assert names(folder) == []
        (folder / "2").touch()
    assert names(tmp_path) == ["draws", "mine"]
    assert names(tmp_path / "mine") == ["notes.txt"]
    assert names(tmp_path / "draws") == ["2"]


def test_replacing_keeps_what_the_new_one_does_not_have(tmp_path: Path) -> None:
    target = tmp_path / "base"
    target.mkdir()
    (target / "weights").write_text("old")
    (target / "notes.txt").write_text("mine")
    with whole_folder(target, replace=True) as folder:
        (folder / "weights").write_text("new")
    assert (target / "weights").read_text() == "new"
    assert (target / "notes.txt").read_text() == "mine"
    assert names(tmp_path) == ["base"]


def test_a_change_of_places_that_was_cut_short(tmp_path: Path) -> None:
    target, old = tmp_path / "base", tmp_path / ".base.evenrank-old"
    old.mkdir()
    (old / "weights").write_text("old")
    recover_folder(target)
    assert (target / "weights").read_text() == "old"
    old.mkdir()
    (old / "weights").write_text("older")
    (old / "notes.txt").write_text("mine")
    recover_folder(target)
    found = {name: (target / name).read_text() for name in names(target)}
    assert found == {"weights": "old", "notes.txt": "mine"}
    assert names(tmp_path) == ["base"]


def test_an_error_between_the_two_moves_brings_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        assert not (tmp_path / "base").exists()
        raise OSError("no room")

    (tmp_path / "base").mkdir()
    (tmp_path / "base/weights").write_text("old")
    monkeypatch.setattr(folders, "_renamed", full)
    with pytest.raises(OSError, match="no room"), whole_folder(tmp_path / "base", replace=True) as folder:
        (folder / "weights").write_text("new")
    assert names(tmp_path) == ["base"]
    assert (tmp_path / "base/weights").read_text() == "old"


def test_a_link_in_the_way_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").touch()
    (tmp_path / ".draws.evenrank-new").symlink_to(tmp_path / "mine")
    with pytest.raises(DataError, match="draws: cannot be written"), whole_folder(tmp_path / "draws"):
        pytest.fail("went through the link")
    assert names(tmp_path / "mine") == ["notes.txt"]
    (tmp_path / ".other.evenrank-old").symlink_to(tmp_path / "mine")
    recover_folder(tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with pytest.raises(ParameterError, match="standard output"), whole_folder("-"):
        pytest.fail("made a folder called -")
