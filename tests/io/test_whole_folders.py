"""A folder that is written is whole or not there, and what else lies there is kept.

Draws of a re-ranker go into a new folder; a trained ranker takes the place of an earlier one.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from extras import missing

from evenrank import DataError
from evenrank.cli import main

DRAW = ["rerank", "run.trec", "--with", "Random", "--repeat", "2", "-o", "draws"]


def names(folder: str | Path) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.trec").write_text("q Q0 a 1 2 r\nq Q0 b 2 1 r\n")
    return tmp_path


def before_the_end(patch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Do something once, while the files of the folder are being written."""
    usual, done = os.fsync, []

    def fsync(descriptor: int) -> None:
        if not done:
            done.append(descriptor)
            do()
        usual(descriptor)

    patch.setattr(os, "fsync", fsync)


def test_a_folder_that_somebody_made_meanwhile_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def make() -> None:
        assert not Path("draws").exists()
        Path("draws").mkdir()
        Path("draws/theirs").touch()

    before_the_end(monkeypatch, make)
    assert main(DRAW) == 1
    assert "draws" in capsys.readouterr().err
    assert (names("draws"), names(".")) == (["theirs"], ["draws", "run.trec"])


def test_an_empty_folder_gives_way_and_one_with_files_does_not() -> None:
    Path("draws").mkdir()
    assert main(DRAW) == 0
    assert names("draws") == ["1.trec", "2.trec"]
    before = Path("draws/1.trec").stat()
    assert main(DRAW) == 2
    assert Path("draws/1.trec").stat() == before
    assert names(".") == ["draws", "run.trec"]


def test_what_a_killed_process_left_is_not_in_the_way() -> None:
    process = os.fork()
    if not process:
        with pytest.MonkeyPatch.context() as patch:
            before_the_end(patch, lambda: os.kill(os.getpid(), signal.SIGKILL))
            main(DRAW)
        os._exit(1)
    os.waitpid(process, 0)
    (left,) = set(names(".")) - {"run.trec"}
    assert left.startswith(".draws.")
    assert main(DRAW) == 0
    assert names("draws") == ["1.trec", "2.trec"]


def test_a_link_in_the_way_is_left_alone() -> None:
    Path("mine").mkdir()
    Path("mine/notes.txt").touch()
    Path(".draws.evenrank-old").symlink_to(Path("mine").absolute())
    assert main(DRAW) == 0
    assert names("mine") == ["notes.txt"]
    assert names("draws") == ["1.trec", "2.trec"]


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> Any:
    if lack := missing("torch", "transformers"):
        pytest.skip(lack)
    import tiny_models

    from evenrank.neural import CrossEncoderRanker

    folder = tiny_models.encoder(tmp_path_factory.mktemp("models") / "tiny")
    return CrossEncoderRanker.start(str(folder), {"kin": ("neutral", "biased")}, max_length=32)


def test_a_ranker_that_is_saved_again_keeps_what_it_does_not_have(ranker: Any) -> None:
    ranker.save("base")
    first = names("base")
    Path("base/notes.txt").write_text("mine")
    Path("base/model.safetensors").write_text("old")
    ranker.save("base")
    assert names("base") == sorted([*first, "notes.txt"])
    assert Path("base/model.safetensors").read_bytes() != b"old"
    assert names(".") == ["base", "run.trec"]


def test_a_change_of_places_that_was_cut_short_loses_no_file(ranker: Any) -> None:
    """The old folder is aside, with or without the new one in its place."""
    ranker.save("whole")
    old = Path(".base.evenrank-old")
    for there in (False, True):
        old.mkdir()
        (old / "notes.txt").write_text("mine")
        (old / "model.safetensors").write_text("older")
        if there:
            Path("base/notes.txt").unlink()
        ranker.save("base")
        assert names("base") == sorted([*names("whole"), "notes.txt"])
        assert Path("base/notes.txt").read_text() == "mine"
        assert Path("base/model.safetensors").read_bytes() == Path("whole/model.safetensors").read_bytes()
        assert names(".") == ["base", "run.trec", "whole"]


def test_an_error_between_the_two_moves_brings_the_old_one_back(
    ranker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Path.rename

    def full(path: Path, target: Path) -> Path:
        if "evenrank-new" in path.name:
            assert not Path("base").exists()
            raise OSError("no room")
        return usual(path, target)

    Path("base").mkdir()
    Path("base/weights").write_text("old")
    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(DataError, match="base"):
        ranker.save("base")
    assert names(".") == ["base", "run.trec"]
    assert Path("base/weights").read_text() == "old"
