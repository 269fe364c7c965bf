"""The file of finished pieces: whole frames are used, and nothing else is left behind."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from evenrank.io.journal import Journal


def add(path: Path, number: int, content: bytes) -> None:
    journal = Journal(path)
    journal.add(number, pa.py_buffer(content))
    journal.close()


def test_what_was_cut_short_leaves_nothing_behind_the_next_frame(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    add(path, 0, b"first")
    add(path, 1, b"long" * 1000)
    path.write_bytes(path.read_bytes()[:-1])  # as a kill leaves it
    add(path, 1, b"short")
    journal = Journal(path)
    assert not journal.damaged
    assert [journal.read(number).to_pybytes() for number in sorted(journal.frames)] == [b"first", b"short"]
    journal.clear()
    journal.close()
    assert path.stat().st_size == 0


def test_a_write_that_fails_takes_its_half_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal"
    add(path, 0, b"first")
    size = path.stat().st_size
    journal = Journal(path)
    usual = journal._file

    class Full:
        """Takes three bytes at a time, and of the frame ten."""

        room = 10

        def write(self, data: memoryview) -> int:
            self.room -= 3
            if self.room < 0:
                raise OSError("no room")
            return usual.write(data[:3])

        def __getattr__(self, name: str) -> object:
            return getattr(usual, name)

    monkeypatch.setattr(journal, "_file", Full())
    with pytest.raises(OSError, match="no room"):
        journal.add(1, pa.py_buffer(b"second"))
    assert path.stat().st_size == size
    monkeypatch.setattr(journal._file, "room", 10_000)
    journal.add(1, pa.py_buffer(b"second"))  # in many small writes
    journal.close()
    assert sorted(Journal(path).frames) == [0, 1]


@pytest.mark.parametrize("tail", [b"evr", b"evr2", b"x", b"evil" * 20])
def test_only_the_beginning_of_a_frame_is_no_damage(tail: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    add(path, 0, b"first")
    path.write_bytes(path.read_bytes() + tail)
    assert Journal(path).damaged == (not b"evr2".startswith(tail[:4]))
