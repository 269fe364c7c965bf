"""A file that is written is whole or not there, whatever happens meanwhile, and nothing else is touched."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from evenrank import DataError, Run, read_run, write_run

OLD = Run.build(["q"], ["old"], [1.0])
NEW = Run.build(["q"], ["new"], [1.0])
LONG = Run.build(["q"] * 9999, [f"d{place}" for place in range(9999)], list(range(9999)))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def content(path: Path) -> list[str]:
    return read_run(path).documents("q")


def before_the_end(patch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Do something once, when all bytes of the next file are written and it has no name yet."""
    usual, done = os.fsync, []

    def fsync(descriptor: int) -> None:
        if not done:
            done.append(descriptor)
            do()
        usual(descriptor)

    patch.setattr(os, "fsync", fsync)


def test_an_error_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    write_run(OLD, tmp_path / "x.trec")
    before_the_end(monkeypatch, interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_run(NEW, tmp_path / "x.trec")
    assert content(tmp_path / "x.trec") == ["old"]
    assert names(tmp_path) == ["x.trec"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link, plain = tmp_path / "x", tmp_path / "link", tmp_path / "plain"
    plain.write_text("")
    write_run(OLD, path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o600)
    link.symlink_to(path)
    write_run(NEW, link)
    assert link.is_symlink()
    assert content(path) == ["new"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_bytes_reach_the_disk_before_the_name_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    replace, fsync = Path.replace, os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (steps.append("fsync"), fsync(descriptor))[1])
    monkeypatch.setattr(Path, "replace", lambda self, to: (steps.append("replace"), replace(self, to))[1])
    write_run(NEW, tmp_path / "x")
    assert steps == ["fsync", "replace"]


def test_what_is_no_regular_file_is_written_and_stays() -> None:
    write_run(NEW, "/dev/null")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_several_may_write_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one to end has the last word, and nobody's bytes mix."""
    before_the_end(monkeypatch, lambda: write_run(LONG, tmp_path / "x"))
    write_run(NEW, tmp_path / "x")
    assert content(tmp_path / "x") == ["new"]
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.ENAMETOOLONG])
def test_an_error_names_the_file_that_was_asked_for(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.trec"

    def refuse(name: str | os.PathLike[str], *_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number), os.fspath(name))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(DataError) as caught:
            write_run(NEW, path)
    assert str(caught.value).startswith(f"{path}: ")
    assert ".tmp" not in str(caught.value)
    with monkeypatch.context() as patch:
        before_the_end(patch, lambda: refuse(next(tmp_path.iterdir())))
        with pytest.raises(OSError, match=os.strerror(number)) as system:
            write_run(NEW, path)
    assert system.value.filename == str(path)
    with monkeypatch.context() as patch:
        before_the_end(patch, lambda: refuse("read meanwhile"))
        with pytest.raises(OSError, match=os.strerror(number)) as system:
            write_run(NEW, path)
    assert system.value.filename == "read meanwhile"
    assert names(tmp_path) == []
