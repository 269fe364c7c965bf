"""The script that draws charts is made once, and what others may have changed is not used."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
import vl_convert

from evenrank.report.page import chart_library

pytestmark = pytest.mark.needs("vl_convert")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often the script was put together; it is kept in a folder of the test."""
    calls: list[str] = []

    def bundle(snippet: str) -> str:
        calls.append(snippet)
        return f"script of {snippet}"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(chart_library, "library", chart_library.library.__wrapped__)
    return calls


def kept(folder: Path) -> Path:
    (path,) = (folder / "evenrank").glob("*.js")
    return path


def test_it_is_made_once(made: list[str], tmp_path: Path) -> None:
    first = chart_library.library()
    assert first.startswith("script of ")
    assert chart_library.library() == first
    assert len(made) == 1
    assert version("vl-convert-python") in kept(tmp_path).name


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: c + b" ", lambda c: b"", lambda c: b"\xff\n"])
def test_a_damaged_file_is_made_again(made: list[str], tmp_path: Path, change: object) -> None:
    first = chart_library.library()
    kept(tmp_path).write_bytes(change(kept(tmp_path).read_bytes()))  # type: ignore[operator]
    assert chart_library.library() == first
    assert chart_library.library() == first
    assert len(made) == 2


def test_a_file_that_others_can_write_to_is_not_used(made: list[str], tmp_path: Path) -> None:
    chart_library.library()
    kept(tmp_path).chmod(0o666)
    chart_library.library()
    assert len(made) == 2


def test_nothing_can_be_kept(made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert chart_library.library() == chart_library.library()
    assert len(made) == 2


def test_a_user_without_a_home(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert chart_library.library().startswith("script of ")
